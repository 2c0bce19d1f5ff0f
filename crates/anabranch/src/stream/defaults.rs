//! The defaults of the settings that a plan holds.

use anabranch_plan::{Executor, Node, Note, Passes, Plan, Role};

use super::attached::Attached;

/// Passes, and the function that applies them to a plan on this machine. A program that is linked statically has the code of
/// the passes only if it asks for them, because nothing else refers to the function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chooser {
    pub(crate) passes: Passes,
    pub(crate) apply: fn(&Passes, &mut Plan) -> Vec<Note>,
}

/// The settings that are filled in when the plan is complete.
#[derive(Debug, Clone)]
pub(crate) struct Unset {
    /// Whether the number of workers was not set.
    pub(crate) workers: bool,
    /// Whether the window was not set.
    pub(crate) window: bool,
    /// The window of the domains behind the first one, if it differs from that of the first.
    pub(crate) window_behind: Option<usize>,
    /// The domains whose items are blocks of the stream's items, and the domains in which each block is divided into a number
    /// of parts.
    pub(crate) blocks: Vec<Blocks>,
    /// The plan from which costs are taken.
    pub(crate) costs: Option<Box<Plan>>,
    /// The passes that choose settings which were not set.
    pub(crate) passes: Option<Chooser>,
}

impl Default for Unset {
    fn default() -> Self {
        Self {
            workers: true,
            window: true,
            window_behind: None,
            blocks: Vec::new(),
            costs: None,
            passes: None,
        }
    }
}

/// A domain whose items are blocks of the stream's items, and a domain in which each block is divided into parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blocks {
    pub(crate) whole: usize,
    pub(crate) divided: usize,
    /// The number of parts of a block.
    pub(crate) parts: usize,
}

/// The operator of an end that is not known yet.
pub(crate) const ANY_END: &str = "end";

/// The number of items in a block, if the window has room for several such blocks for each worker.
const BLOCK_ITEMS: usize = 4_096;
/// How many blocks there are for each worker, if the window has as many items.
const BLOCKS_A_WORKER: usize = 2;

/// The largest default window, in items.
pub(crate) const WINDOW_ITEMS: usize = 4_096;
/// The largest size of the slots of a default window, in bytes.
const WINDOW_BYTES: usize = 64 << 10;
/// The smallest default window, in items for each worker. It comes before the other two limits.
const WINDOW_ITEMS_A_WORKER: usize = 16;
/// More workers than this do not make the default window larger, because no machine runs as many.
const WINDOW_WORKERS: usize = 1 << 14;

/// How many times larger the first two limits are if the items travel in blocks.
const BLOCKS_TIMES: usize = 4;
/// How many times larger they are besides if stages gather items in blocks and divide these, as windows by key do: a block is
/// handed over in parts, and each part must be worth it.
const PARTS_TIMES: usize = 4;

/// The default window, in items, for items of at most `size` bytes.
fn default_window(workers: usize, size: usize, in_blocks: bool, divided: bool) -> usize {
    let times = if in_blocks { BLOCKS_TIMES } else { 1 } * if divided { PARTS_TIMES } else { 1 };
    let least = WINDOW_ITEMS_A_WORKER * workers.min(WINDOW_WORKERS);
    (times * WINDOW_ITEMS).min(times * WINDOW_BYTES / size.max(1)).max(least)
}

impl Unset {
    /// Fills in the settings of `plan` that were not set: workers, windows, and costs of an earlier run.
    pub(crate) fn fill_in(&self, plan: &mut Plan, attached: &Attached<'_>) {
        if let Some(handle) = &attached.handle {
            plan.settings.workers = handle.get();
        } else if self.workers {
            let default = attached.pool.as_ref().map_or_else(default_workers, |pool| pool.threads());
            plan.settings.workers = default.max(plan.most_replicas());
        }
        let has_pool = attached.pool.is_some();
        if has_pool && plan.settings.executor == Executor::Threads {
            plan.settings.executor = Executor::Pool;
        }
        let keeps_order = !plan.nodes.iter().any(Node::gives_arrivals);
        let in_blocks = plan.nodes[0].in_blocks
            && keeps_order
            && plan.settings.window_bytes.is_none()
            && !attached.is_counted();
        plan.nodes[0].in_blocks = in_blocks;
        if self.window {
            plan.settings.window = default_window(
                plan.settings.workers,
                plan.largest_item(),
                in_blocks,
                !self.blocks.is_empty(),
            );
        }
        plan.set_window(plan.settings.window);
        if let Some(window) = self.window_behind {
            plan.domains[1..].iter_mut().for_each(|domain| domain.window = window);
        }
        for &Blocks { whole, divided, parts } in &self.blocks {
            let window = plan.settings.window;
            let least = BLOCKS_A_WORKER.saturating_mul(plan.settings.workers);
            let blocks = (window / BLOCK_ITEMS).max(least).min(window);
            plan.domains[whole].window = blocks;
            plan.domains[divided].window = blocks.max(parts);
        }
        if self.window_behind.is_some() || !self.blocks.is_empty() {
            plan.fit_lanes();
        }
        for (node, other) in plan.nodes.iter_mut().zip(self.costs.iter().flat_map(|costs| &costs.nodes)) {
            if node.operator == other.operator || (node.role == Role::Sink && other.operator == ANY_END) {
                (node.cost, node.waits, node.rate) = (other.cost, other.waits, other.rate);
            }
        }
    }
}

/// The default number of workers of a run. It is the value of the environment variable `ANABRANCH_WORKERS` if
/// that is a number of 1 or more. Otherwise it is the number of processors that this process may use, which
/// depends on its affinity and, on Linux, on the quota of its control group.
pub fn default_workers() -> usize {
    std::env::var("ANABRANCH_WORKERS")
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .filter(|&workers| workers > 0)
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

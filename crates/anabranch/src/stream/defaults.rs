//! Settings that a plan cannot hold, and the defaults of those that it can.

use std::sync::Arc as StdArc;

use super::inner::{Account, Inner};
use super::run::Finish;
use crate::control::waiter::Waiter;
use crate::control::{CancelToken, MonitorThread, PoolShare, Watch, Watcher, Workers};
use crate::engine::progress::{Bytes, Callback};
use crate::engine::{Feed, Supply};
#[cfg(feature = "futures")]
use crate::outside::Runtime;
use anabranch_plan::{Executor, Node, Note, Passes, Plan, Role};

/// The settings that are not plain data, which a plan cannot hold.
#[derive(Default)]
pub(crate) struct Attached<'env> {
    pub(crate) pool: Option<PoolShare<'env>>,
    pub(crate) handle: Option<Workers>,
    /// Present if a thread watches the run.
    pub(crate) watch: Option<MonitorThread<'env>>,
    /// Whether the report is to have the events of the run.
    pub(crate) traces: bool,
    pub(crate) tokens: Vec<CancelToken>,
    /// The tokens of the streams around this one. These count what became of the items.
    pub(crate) outer_tokens: Vec<CancelToken>,
    /// The streams inside of this one.
    pub(crate) inner: Vec<Inner<'env>>,
    /// Present if this stream is inside of another one, which counts its items.
    pub(crate) account: Option<StdArc<Account>>,
    /// Present if the run is reported.
    pub(crate) finish: Option<Finish>,
    pub(crate) progress: Option<Callback<'env>>,
    pub(crate) bytes: Bytes,
    /// Whether a stage passes on no item at all. Then the source is not asked.
    pub(crate) takes_none: bool,
    /// Present if the items of the source come from outside. Workers do not wait in such a source.
    pub(crate) feed: Option<StdArc<dyn Feed>>,
    /// Present if the items of the source were accepted before it gives them.
    pub(crate) supply: Option<StdArc<Supply>>,
    /// Present if the source waits for items from outside on a thread of its own.
    pub(crate) outside: Option<Outside<'env>>,
    /// The largest number of items that the source gives, if it is known.
    pub(crate) most: Option<usize>,
    /// The user's functions that change the plan before it runs.
    pub(crate) changes: Vec<Change<'env>>,
    /// The runtime in which futures are polled.
    #[cfg(feature = "futures")]
    pub(crate) runtime: Runtime,
    /// Make texts for the report.
    pub(crate) remarks: Vec<Remark<'env>>,
    /// Hand errors over from each place where the type of the stream's error changes, once the run is over.
    pub(crate) handovers: Vec<Handover<'env>>,
}

/// A source that waits for items from outside.
pub(crate) struct Outside<'env> {
    /// The waiter at which the source's own thread waits.
    pub(crate) waiter: Waiter,
    /// What tells a detached run whether the source has items. `None` if the source needs a thread.
    pub(crate) feed: Option<StdArc<dyn Feed + 'env>>,
}

/// Hands the error of one part of a stream over to the next, once the run is over.
pub(crate) type Handover<'env> = Box<dyn FnOnce() + Send + 'env>;

/// Makes a text for the report, once the run is over.
pub(crate) type Remark<'env> = Box<dyn FnOnce() -> String + Send + 'env>;

/// The user's function that changes a plan before it runs.
pub(crate) type Change<'env> = Box<dyn Fn(&mut Plan) + Send + 'env>;

impl<'env> Attached<'env> {
    /// Lets `watch` look at the run, besides those who look at it already.
    pub(crate) fn watch_by(&mut self, watch: Watch<'env>) {
        match watch.0 {
            Watcher::End(callback) => self.progress = Some(callback),
            Watcher::Line(thread) => {
                self.watch = Some(match self.watch.take() {
                    Some(before) => before.and(thread),
                    None => thread,
                });
            }
        }
    }

    /// Whether somebody is told how many items have gone how far. Items then travel one by one.
    pub(crate) fn is_counted(&self) -> bool {
        self.is_watched()
            || self.progress.is_some()
            || !self.tokens.is_empty()
            || !self.outer_tokens.is_empty()
    }

    /// Tells those who send items from outside that the stream is about to run in this process.
    pub(crate) fn begin(&self) {
        if let Some(outside) = &self.outside {
            outside.waiter.begin();
        }
    }

    /// Whether a thread watches the run: for a monitor, or for stalls.
    pub(crate) fn is_watched(&self) -> bool {
        self.watch.is_some()
    }
}

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
    /// The name of the end.
    pub(crate) end_name: Option<String>,
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
            end_name: None,
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

//! Settings that a plan cannot hold, and the defaults of those that it can.

use std::sync::Arc as StdArc;
use std::time::Duration;

use anabranch_plan::{Executor, Passes, Plan};
use anabranch_record::EventCount;
use anabranch_record::sync::Arc;

use crate::cancel::CancelToken;
use crate::engine::{Feed, Supply};
use crate::monitor::{Monitor, OnStall};
use crate::pool::Pool;
use crate::progress::{Bytes, Callback};
use crate::workers::Workers;

/// The parts of a run that are not plain data, so that a plan cannot hold them.
#[derive(Default)]
pub(crate) struct Attached<'env> {
    pub(crate) pool: Option<&'env Pool>,
    pub(crate) handle: Option<Workers>,
    pub(crate) monitor: Option<Monitor>,
    pub(crate) stall: Option<(Duration, OnStall<'env>)>,
    /// A report has the events of the run.
    pub(crate) traces: bool,
    pub(crate) tokens: Vec<CancelToken>,
    pub(crate) progress: Option<Callback<'env>>,
    pub(crate) bytes: Bytes,
    /// A stage lets no item through: the source need not be asked.
    pub(crate) takes_none: bool,
    /// Present if the items of the source come from outside. Workers do not wait in such a source.
    pub(crate) feed: Option<StdArc<dyn Feed>>,
    /// Present if the items of the source were accepted before it gives them.
    pub(crate) supply: Option<StdArc<Supply>>,
    /// Where the source's own thread waits for what comes from outside.
    pub(crate) outside: Option<Arc<EventCount>>,
    /// The most items that the source gives, if it knows: a short stream needs no long window.
    pub(crate) most: Option<usize>,
    /// The user's functions that change the plan before it runs.
    pub(crate) changes: Vec<Change<'env>>,
    /// Hand errors over from each place where the type of the stream's error changes, once the run is over.
    pub(crate) handovers: Vec<Handover<'env>>,
}

/// Hands the error of one part of a stream over to the next, once the run is over.
pub(crate) type Handover<'env> = Box<dyn FnOnce() + Send + 'env>;

/// The user's function that changes a plan before it runs.
pub(crate) type Change<'env> = Box<dyn Fn(&mut Plan) + Send + 'env>;

impl Attached<'_> {
    /// Whether somebody may look into the run while it goes on.
    pub(crate) fn is_watched(&self) -> bool {
        self.monitor.is_some() || self.stall.is_some()
    }
}

/// Which settings of a plan were left to be filled in, and from what.
#[derive(Debug, Clone)]
pub(crate) struct Unset {
    pub(crate) workers: bool,
    pub(crate) window: bool,
    /// The window of the domains behind the first, if it is not that of the first.
    pub(crate) window_behind: Option<usize>,
    /// The name of the end, and its cost in nanoseconds.
    pub(crate) end_name: Option<String>,
    pub(crate) end_cost: Option<u64>,
    /// A plan whose costs are to be taken over.
    pub(crate) costs: Option<Box<Plan>>,
    /// The passes that may choose in the user's place.
    pub(crate) passes: Option<Passes>,
}

impl Default for Unset {
    fn default() -> Self {
        Self {
            workers: true,
            window: true,
            window_behind: None,
            end_name: None,
            end_cost: None,
            costs: None,
            passes: None,
        }
    }
}

/// By default a window has at most this many items...
pub(crate) const WINDOW_ITEMS: usize = 4_096;
/// ... whose slots have at most this many bytes...
const WINDOW_BYTES: usize = 64 << 10;
/// ... but at least this many items for each worker.
const WINDOW_ITEMS_A_WORKER: usize = 16;

/// The window, in items, for items of at most `size` bytes.
fn default_window(workers: usize, size: usize) -> usize {
    WINDOW_ITEMS.min(WINDOW_BYTES / size.max(1)).max(WINDOW_ITEMS_A_WORKER * workers)
}

impl Unset {
    /// Fills in what was left open in `plan`: workers, windows, and costs of an earlier run.
    pub(crate) fn fill_in(&self, plan: &mut Plan, attached: &Attached<'_>) {
        if let Some(handle) = &attached.handle {
            plan.settings.workers = handle.get();
        } else if self.workers {
            let default = attached.pool.map_or_else(default_workers, Pool::threads);
            plan.settings.workers = default.max(plan.most_replicas());
        }
        let has_pool = attached.pool.is_some();
        if has_pool && plan.settings.executor == Executor::Threads {
            plan.settings.executor = Executor::Pool;
        }
        if self.window {
            plan.settings.window = default_window(plan.settings.workers, plan.largest_item());
        }
        plan.set_window(plan.settings.window);
        if let Some(window) = self.window_behind {
            plan.domains[1..].iter_mut().for_each(|domain| domain.window = window);
            plan.fit_lanes();
        }
        for (node, other) in plan.nodes.iter_mut().zip(self.costs.iter().flat_map(|costs| &costs.nodes)) {
            if node.operator == other.operator {
                (node.cost, node.waits, node.rate) = (other.cost, other.waits, other.rate);
            }
        }
    }
}

/// How many workers a run has if nobody says: `ANABRANCH_WORKERS` if it is set to a number of 1 or more, else
/// the processors that this process may use (its affinity and, on Linux, the quota of its control group).
pub fn default_workers() -> usize {
    std::env::var("ANABRANCH_WORKERS")
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .filter(|&workers| workers > 0)
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

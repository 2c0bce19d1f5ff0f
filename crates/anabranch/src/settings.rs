//! The settings of a stream and what they are by default.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use anabranch_plan::{Burst, Executor, Passes, Plan, Wait};

use crate::cancel::CancelToken;
use crate::engine::Feed;
use crate::monitor::{Monitor, OnStall};
use crate::pool::Pool;
use crate::progress::{Bytes, Callback};
use crate::workers::Workers;

/// What a stream was told before its end.
#[derive(Default)]
pub(crate) struct Settings<'env> {
    pub(crate) title: Option<String>,
    /// The name of the end, and its cost in nanoseconds.
    pub(crate) end: Option<String>,
    pub(crate) end_cost: Option<u64>,
    pub(crate) workers: Option<usize>,
    pub(crate) window: Option<usize>,
    /// How many indices the domains behind the first have, if not as many.
    pub(crate) window_behind: Option<usize>,
    /// The bound by weight, for the plan; the source has it.
    pub(crate) window_bytes: Option<u64>,
    pub(crate) burst: Option<usize>,
    pub(crate) spin: bool,
    pub(crate) inline: bool,
    /// The most replicas that a stage asked for: workers, where they were not set.
    pub(crate) replicas: usize,
    /// The first stage behind which order is given up.
    pub(crate) unordered_from: Option<usize>,
    pub(crate) pool: Option<&'env Pool>,
    pub(crate) handle: Option<Workers>,
    pub(crate) affinity: bool,
    pub(crate) monitor: Option<Monitor>,
    pub(crate) stall: Option<(Duration, OnStall<'env>)>,
    /// What may be chosen for the user.
    pub(crate) passes: Option<Passes>,
    /// A plan with costs to be taken over.
    pub(crate) costs: Option<Plan>,
    /// A report has the events of the run.
    pub(crate) traces: bool,
    pub(crate) tokens: Vec<CancelToken>,
    pub(crate) progress: Option<Callback<'env>>,
    pub(crate) bytes: Bytes,
    /// A stage lets no item through: the source need not be asked.
    pub(crate) takes_none: bool,
    /// What the source gives comes from outside.
    pub(crate) feed: Option<Arc<dyn Feed>>,
}

impl fmt::Debug for Settings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("title", &self.title)
            .field("workers", &self.workers)
            .field("window", &self.window)
            .field("burst", &self.burst)
            .field("inline", &self.inline)
            .finish_non_exhaustive()
    }
}

/// Items have at most so many slots, by default...
pub(crate) const SLOTS: usize = 4_096;
/// ... and their slots at most so many bytes...
const BYTES: usize = 64 << 10;
/// ... but a worker has at least so many.
const SLOTS_A_WORKER: usize = 16;

impl Settings<'_> {
    pub(crate) fn workers(&self) -> usize {
        if let Some(handle) = &self.handle {
            return handle.get();
        }
        let default = || self.pool.map_or_else(default_workers, Pool::threads);
        self.workers.unwrap_or_else(|| default().max(self.replicas))
    }

    /// The window for items of at most `size` bytes.
    pub(crate) fn window(&self, workers: usize, size: usize) -> usize {
        self.window.unwrap_or_else(|| SLOTS.min(BYTES / size.max(1)).max(SLOTS_A_WORKER * workers))
    }

    pub(crate) fn plan(&self, workers: usize, window: usize) -> anabranch_plan::Settings {
        let mut plan = if self.inline {
            anabranch_plan::Settings::inline(window)
        } else {
            anabranch_plan::Settings::new(workers, window)
        };
        if self.pool.is_some() && !self.inline {
            plan.executor = Executor::Pool;
        }
        plan.window_bytes = self.window_bytes;
        if let Some(burst) = self.burst {
            plan.burst = Burst::Fixed(burst);
        }
        if self.spin {
            plan.wait = Wait::Spin;
        }
        plan
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

//! The settings of a whole run.

/// The settings of a whole run. A node, an edge or a domain may have settings of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Settings {
    /// How many threads run the plan, including the calling thread. At least 1. The threads of
    /// [`Placement::Dedicated`](crate::Placement::Dedicated) nodes do not count.
    pub workers: usize,
    /// How many items may be between the source and the sink of a domain. At least 1.
    /// [`Plan::new`](crate::Plan::new) gives this window to the first domain.
    pub window: usize,
    /// While the items between source and sink weigh at least this many bytes, the source is not asked.
    /// `None` if they are not weighed.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub window_bytes: Option<u64>,
    /// How many items one synchronisation hands over.
    pub burst: Burst,
    /// Whether a worker without work parks or spins.
    pub wait: Wait,
    /// The executor of the plan.
    pub executor: Executor,
    /// Whether the run pins each of its own threads to a processor, on systems that support it.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub pinned: bool,
}

impl Settings {
    /// The defaults of every front end: threads of the run's own, adaptive bursts, and parking.
    pub fn new(workers: usize, window: usize) -> Self {
        Settings {
            workers,
            window,
            window_bytes: None,
            burst: Burst::Adaptive,
            wait: Wait::Park,
            executor: Executor::Threads,
            pinned: false,
        }
    }

    /// One worker, which is the calling thread, and the reference executor.
    pub fn inline(window: usize) -> Self {
        Settings { executor: Executor::Inline, ..Settings::new(1, window) }
    }
}

/// How many items one synchronisation hands over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Burst {
    /// The executor chooses while it runs, from the measured cost of the items.
    #[default]
    Adaptive,
    /// At most this many items. At least 1.
    Fixed(usize),
}

/// Whether a worker without work parks or spins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Wait {
    /// Polls for a short time if this has paid lately, then sleeps until it is woken. An idle run costs
    /// nothing.
    #[default]
    Park,
    /// One idle worker polls until there is work, and the others park. A run starts again faster, but it keeps one core busy
    /// while it is idle.
    Spin,
}

/// The executor of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Executor {
    /// The calling thread alone, item by item. This is the reference, and every other executor must give the
    /// same results.
    Inline,
    /// Threads that the run starts and ends.
    #[default]
    Threads,
    /// Threads of a pool that the caller has created.
    Pool,
}

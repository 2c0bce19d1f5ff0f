//! The policies that hold for a whole run.

/// What holds for a whole run unless a node, an edge or a domain says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Settings {
    /// How many threads walk the plan, the calling thread included. At least 1. Threads of
    /// [`Placement::Dedicated`](crate::Placement::Dedicated) nodes are not counted.
    pub workers: usize,
    /// How many items may be between the source and the sink of a domain. At least 1.
    /// [`Plan::new`](crate::Plan::new) gives it to the first domain.
    pub window: usize,
    /// Above how many bytes of items between them the source is not asked; `None` if they are not weighed.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub window_bytes: Option<u64>,
    /// How many items one synchronisation hands over.
    pub burst: Burst,
    /// What a worker does that finds nothing to do.
    pub wait: Wait,
    /// What runs the plan.
    pub executor: Executor,
    /// Whether the run's own threads are pinned to processors, one each, where the system can.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub pinned: bool,
}

impl Settings {
    /// Threads of the pipeline's own, adaptive bursts, parking: the defaults of every front end.
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

    /// One worker, the calling thread, and the reference executor.
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
    /// Always at most this many. At least 1.
    Fixed(usize),
}

/// What a worker does that finds nothing to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Wait {
    /// Spins briefly while that has paid lately, then sleeps until it is woken: idle is free.
    #[default]
    Park,
    /// Never sleeps: quicker to start again, and a whole core busy while idle.
    Spin,
}

/// What runs a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Executor {
    /// The calling thread alone, item by item: the reference that every other executor must equal.
    Inline,
    /// Threads that the run starts and ends.
    #[default]
    Threads,
    /// Threads of a pool that the caller made.
    Pool,
}

//! The prediction for a plan, or the reason why there is none.

use crate::quantity::{rate, span, times};
use crate::{NodeId, PlanError};
use std::fmt;

/// The limit that keeps a plan from being faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Limit {
    /// A serial unit is busy all the time.
    Serial,
    /// A parallel unit runs all the time in as many calls as it may have.
    Replicas,
    /// Claims are so large that a window has fewer claims than there are workers.
    Burst,
    /// The window is full: its items are in the stream, and the source waits for room.
    Window,
    /// Every core is busy.
    Cores,
    /// Every worker is busy or waits inside a stage.
    Workers,
}

/// The predicted throughput and latency of a plan with a number of workers. Its [`Display`](fmt::Display)
/// prints a line of numbers, and [`advice`](Prediction::advice) says what limits the plan and what to do
/// about it.
///
/// With the feature `json`, it implements `serde::Serialize`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Prediction {
    /// The number of workers.
    pub workers: usize,
    /// The time between two items of the source, in nanoseconds.
    pub per_item: f64,
    /// Items of the source per second.
    pub throughput: f64,
    /// The time from asking the source for an item until the sink has finished it, in nanoseconds.
    ///
    /// It holds while the stream runs at this throughput and the source always has an item, so it includes
    /// waiting before the bottleneck. It is an estimate, because how far the source runs ahead is decided
    /// while the stream runs.
    pub latency: f64,
    /// The same for an item that never waits for another item, in nanoseconds.
    pub shortest_latency: f64,
    /// How many times as fast as the sequential loop, which is what one worker runs. It is below 1 if handing
    /// items over costs more than sharing the work saves.
    pub speedup: f64,
    /// The limit that keeps the plan from being faster.
    pub limit: Limit,
    /// The node that limits: the one that costs most in the limiting unit or domain, or of all nodes if the
    /// workers or cores limit.
    pub bottleneck: NodeId,
    /// The smallest number of workers that reaches the greatest throughput, if [`MEETING`](super::MEETING) is ignored.
    /// `None` if every additional worker helps.
    pub enough_workers: Option<usize>,
    /// Nodes without a known cost, which counted as 0.
    pub unknown: Vec<NodeId>,
    /// One or two sentences: what limits, and what to do about it.
    pub advice: String,
}

impl fmt::Display for Prediction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let workers = crate::quantity::count(self.workers, "worker");
        write!(
            f,
            "{}, {} an item with {workers}: {} the sequential loop; an item is under way for {}",
            rate(self.throughput),
            span(self.per_item),
            match times(self.speedup) {
                one if one == "1" => "as fast as".to_owned(),
                times => format!("{times} times as fast as"),
            },
            span(self.latency),
        )
    }
}

/// Predictions of one plan for several numbers of workers. With the feature `json`, `serde` can write it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Curve {
    /// The name of the plan.
    pub name: Option<String>,
    /// The names of its nodes.
    pub nodes: Vec<String>,
    /// A prediction for each number of workers, in the order of the numbers. At least one.
    pub points: Vec<Prediction>,
}

/// The reason why a plan cannot be predicted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PredictError {
    /// No node has a cost above 0.
    #[error("no node of the plan has a cost; set costs, or measure a run")]
    NoCosts,
    /// The number of workers is 0.
    #[error("a prediction is for 1 worker or more, not 0")]
    NoWorkers,
    /// No number of workers was given.
    #[error("a curve needs at least 1 number of workers")]
    NoPoints,
    /// The machine has 0 cores.
    #[error("a prediction is for 1 core or more, not 0")]
    NoCores,
    /// The plan is not valid.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

//! Predictions: the throughput, the latency, the bottleneck and the speed-up of a plan, for a number of
//! workers.

mod advice;
mod bounds;
mod demand;

use bounds::Bound;
pub(crate) use bounds::Bounds;
pub(crate) use demand::{Demands, UnitDemand};

use crate::quantity::{rate, span, times};
use crate::{NodeId, Plan, PlanError};
use std::fmt;

/// The cost of a lane for an item, in nanoseconds of thread time, for both threads together: writing and
/// reading the slot and its stamp, and moving cache lines from core to core.
///
/// It was fitted to measurements of the executor on two cores (`bench/README.md`: ordered pipelines of two
/// and of four lanes, with items of 55 ns to 100 µs).
pub const LANE_NS: f64 = 12.0;

/// The share of its time that a thread loses because others run at the same time. It comes from the same
/// measurements: at 10 µs an item they reach 98 % of two plain threads.
pub const SHARING: f64 = 0.02;

/// How long a thread that waits for an item still uses a processor, to fall asleep and to be woken, in
/// nanoseconds.
///
/// It was measured on a virtual machine, where this is expensive: a plain loop that sleeps 1,000 times a
/// second uses 3.0 to 3.9 % of a core.
pub const WAKE_NS: f64 = 35_000.0;

/// The share by which the time between two items is longer if a serial unit and the workers limit about
/// equally, because one sometimes waits for the other. It was measured with a serial stage of 10 µs between
/// parallel stages of 5 µs, with two workers (`bench/README.md`).
pub const MEETING: f64 = 0.055;

/// The additional share if there are more workers than cores, because the thread that holds up the serial
/// unit may have no core. It comes from the same measurement, with four workers on two cores.
pub const CROWDING: f64 = 0.3;

/// The costs of passing items. If the measured costs of the nodes include them, use [`Overhead::NONE`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overhead {
    /// The thread time for an item and a lane in nanoseconds. Half of it belongs to the giving and half to
    /// the taking unit.
    pub lane: f64,
    /// The share of their time, from 0 to 1, that threads lose because others run at the same time.
    pub sharing: f64,
    /// The processor time for each item that a node waits for, in nanoseconds. At most as long as the node
    /// waits.
    pub wake: f64,
    /// The share of the time, from 0 to 1, that is lost if a serial unit and the workers limit about equally.
    pub meeting: f64,
    /// The share that is lost in addition if there are many more workers than cores.
    pub crowding: f64,
    /// The time of a firing in a network beside that of its kernel, in nanoseconds.
    pub firing: f64,
    /// The time of a turn of a rule in a network beside its firings, in nanoseconds.
    pub turn: f64,
}

impl Overhead {
    /// The measured overhead of the executor: [`LANE_NS`], [`SHARING`], [`WAKE_NS`], [`MEETING`] and
    /// [`CROWDING`], and for networks [`FIRING_NS`](crate::network::FIRING_NS) and
    /// [`TURN_NS`](crate::network::TURN_NS).
    pub const MEASURED: Overhead = Overhead {
        lane: LANE_NS,
        sharing: SHARING,
        wake: WAKE_NS,
        meeting: MEETING,
        crowding: CROWDING,
        firing: crate::network::FIRING_NS,
        turn: crate::network::TURN_NS,
    };
    /// No overhead: passing items and waiting cost nothing.
    pub const NONE: Overhead =
        Overhead { lane: 0.0, sharing: 0.0, wake: 0.0, meeting: 0.0, crowding: 0.0, firing: 0.0, turn: 0.0 };
}

/// The machine for which a plan is predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// How many processors the threads may use. At least 1.
    pub cores: usize,
    /// The costs of passing items on this machine.
    pub overhead: Overhead,
}

impl Machine {
    /// A machine with `cores` processors and the measured overhead.
    pub const fn new(cores: usize) -> Self {
        Machine { cores, overhead: Overhead::MEASURED }
    }

    /// A machine with a processor for each thread, however many there are, and the measured overhead.
    pub const fn ample() -> Self {
        Machine::new(usize::MAX)
    }

    /// The same machine with another overhead.
    pub const fn overhead(self, overhead: Overhead) -> Self {
        Machine { overhead, ..self }
    }
}

/// The [ample](Machine::ample) one.
impl Default for Machine {
    fn default() -> Self {
        Machine::ample()
    }
}

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
    /// The smallest number of workers that reaches the most that workers can achieve, apart from the
    /// [`MEETING`] share. `None` if every additional worker helps.
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

/// Why a plan cannot be predicted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PredictError {
    /// No node has a cost above 0.
    #[error("no node of the plan has a cost; give them, or measure a run")]
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
    /// The plan is a network, which has predictions of its own.
    #[error("the plan is a network of firing rules: use `predict_network`")]
    Network,
    /// The plan is not valid.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl Plan {
    /// Predicts the plan for `workers` workers, with a core for each thread. [`predict_on`](Plan::predict_on)
    /// describes the model.
    ///
    /// ```
    /// use anabranch_plan::{ItemType, Limit, Node, Plan, Settings};
    ///
    /// let mut plan = Plan::new(Settings::new(8, 256));
    /// plan.push(Node::source("read").cost(1_000));
    /// plan.then(ItemType::of::<Vec<u8>>(), Node::parallel("encode").cost(30_000));
    /// let write = plan.then(ItemType::of::<Vec<u8>>(), Node::sink("write").cost(5_000));
    ///
    /// let four = plan.predict(4)?;
    /// assert_eq!(four.limit, Limit::Workers);
    /// assert!((3.8..4.0).contains(&four.speedup));
    /// let sixteen = plan.predict(16)?;
    /// assert_eq!((sixteen.limit, sixteen.bottleneck), (Limit::Serial, write));
    /// assert!((7.1..7.2).contains(&sixteen.speedup)); // 36 µs in all, 5 of them serial
    /// # Ok::<(), anabranch_plan::PredictError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The same as for [`predict_on`](Plan::predict_on).
    pub fn predict(&self, workers: usize) -> Result<Prediction, PredictError> {
        self.predict_on(&Machine::ample(), workers)
    }

    /// Predicts the plan for `workers` workers on a machine.
    ///
    /// # The model
    ///
    /// The model uses the asymptotic bounds of operational analysis (P. J. Denning and J. P. Buzen, "The
    /// Operational Analysis of Queueing Network Models", ACM Computing Surveys 10(3), 1978). It applies them
    /// to the stages of a pipeline, some of which are replicated (a pipeline of farms in FastFlow, Rust-SSP
    /// and SPar).
    ///
    /// All times are for an item of the source. Node *k* sees *v* items for each item of the source (the
    /// product of the rates before it) and takes *c* ns for each, so its demand is *D* = *v c*. The demand of
    /// a unit is the sum of the demands of its nodes, plus half of the [overhead](Overhead) of each lane that
    /// it touches. The time between two items is the greatest of these bounds:
    ///
    /// | bound | value | reason |
    /// |---|---|---|
    /// | [`Serial`](Limit::Serial) | *D* of each serial unit | the bottleneck law: at most one call at a time |
    /// | [`Replicas`](Limit::Replicas) | *D* / replicas of each parallel unit | at most this many calls at a time |
    /// | [`Burst`](Limit::Burst) | *D* / (window / burst) of each parallel unit | the items of a claim run one after another |
    /// | [`Window`](Limit::Window) | sum of *D* in a domain / its window | Little's law: at most this many items in flight |
    /// | [`Cores`](Limit::Cores) | sum of *D* without waiting / cores | a core does one thing at a time |
    /// | [`Workers`](Limit::Workers) | sum of *D* without dedicated nodes / workers | a worker does one thing at a time, even if it waits |
    ///
    /// The last two are raised by the share that threads lose by running at the same time. If the bound of a
    /// serial unit and that of the workers or cores are close to each other, the time is longer than both: by
    /// [`MEETING`] (and [`CROWDING`], with more workers than cores) times the eighth power of their ratio.
    /// One worker without dedicated nodes runs the plain loop, whose time is the sum of the demands without
    /// overhead. The executor of the plan does not matter: the prediction is for `workers` workers.
    ///
    /// The latency of a running stream follows from Little's law: the number of items before the bottleneck
    /// times the time between two items. These items fill the windows before the bottleneck. If the workers
    /// or cores limit, they are what one pull of the source gives (at most 20 µs or 2,048 items) and one item
    /// for each worker.
    ///
    /// # What the model leaves out
    ///
    /// - Costs are means. If one item in 16 costs eight times the mean, a simulation took up to 14 % longer
    ///   (`tests/integration/simulation.rs`), and even longer with a narrow window, where such items wait for
    ///   each other.
    /// - Items without any work pass faster than [`LANE_NS`] says: with two workers 8.6 ns an item were
    ///   measured, where 13 ns are predicted.
    /// - A window by weight, more threads than cores, memory bandwidth, and the start and the end of a run
    ///   are not in the model.
    /// - A node with several inputs is assumed to need one item of each.
    ///
    /// ```
    /// use anabranch_plan::{ItemType, Limit, Machine, Node, Plan, Settings};
    ///
    /// // Each page is waited for 2 ms: 64 workers keep two cores less than half busy.
    /// let mut plan = Plan::new(Settings::new(64, 1_024));
    /// plan.push(Node::source("urls").cost(500));
    /// plan.then(ItemType::of::<String>(), Node::parallel("fetch").cost(2_000_000).waits(1_990_000));
    /// plan.then(ItemType::of::<Vec<u8>>(), Node::sink("store").cost(900));
    ///
    /// let prediction = plan.predict_on(&Machine::new(2), 64)?;
    /// assert_eq!(prediction.limit, Limit::Workers);
    /// assert!(prediction.speedup > 60.0);
    /// # Ok::<(), anabranch_plan::PredictError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`PredictError`] if there are no workers or no cores, if no node has a cost, or if the plan is not
    /// [valid](Plan::validate).
    pub fn predict_on(&self, machine: &Machine, workers: usize) -> Result<Prediction, PredictError> {
        let demands = Demands::of(self, machine)?;
        predict(self, &demands, machine, workers)
    }

    /// Predicts the plan with [`predict`](Plan::predict) for several numbers of workers.
    ///
    /// ```
    /// use anabranch_plan::{ItemType, Node, Plan, Settings};
    ///
    /// let mut plan = Plan::new(Settings::new(8, 256));
    /// plan.push(Node::source("read").cost(1_000));
    /// plan.then(ItemType::of::<Vec<u8>>(), Node::parallel("encode").cost(30_000));
    /// plan.then(ItemType::of::<Vec<u8>>(), Node::sink("write").cost(5_000));
    ///
    /// let curve = plan.predict_range(1..=64)?;
    /// assert_eq!(curve.points.len(), 64);
    /// assert_eq!(curve.points[0].enough_workers, Some(8));
    /// # Ok::<(), anabranch_plan::PredictError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The same as for [`predict_on`](Plan::predict_on), or if `workers` is empty.
    pub fn predict_range(&self, workers: impl IntoIterator<Item = usize>) -> Result<Curve, PredictError> {
        self.predict_range_on(&Machine::ample(), workers)
    }

    /// Predicts the plan with [`predict_on`](Plan::predict_on) for several numbers of workers.
    ///
    /// ```
    /// use anabranch_plan::{ItemType, Limit, Machine, Node, Plan, Settings};
    ///
    /// let mut plan = Plan::new(Settings::new(8, 256));
    /// plan.push(Node::source("read").cost(1_000));
    /// plan.then(ItemType::of::<Vec<u8>>(), Node::parallel("encode").cost(30_000));
    /// plan.then(ItemType::of::<Vec<u8>>(), Node::sink("write").cost(5_000));
    ///
    /// let curve = plan.predict_range_on(&Machine::new(4), [1, 2, 4, 8])?;
    /// let limits: Vec<Limit> = curve.points.iter().map(|point| point.limit).collect();
    /// assert_eq!(limits, [Limit::Workers, Limit::Workers, Limit::Cores, Limit::Cores]);
    /// # Ok::<(), anabranch_plan::PredictError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The same as for [`predict_on`](Plan::predict_on), or if `workers` is empty.
    pub fn predict_range_on(
        &self,
        machine: &Machine,
        workers: impl IntoIterator<Item = usize>,
    ) -> Result<Curve, PredictError> {
        let demands = Demands::of(self, machine)?;
        let points: Result<Vec<Prediction>, PredictError> =
            workers.into_iter().map(|workers| predict(self, &demands, machine, workers)).collect();
        let points = points?;
        if points.is_empty() {
            return Err(PredictError::NoPoints);
        }
        let nodes = self.nodes.iter().map(|node| node.name.clone().into_owned()).collect();
        Ok(Curve { name: self.name.clone(), nodes, points })
    }
}

fn predict(
    plan: &Plan,
    demands: &Demands,
    machine: &Machine,
    workers: usize,
) -> Result<Prediction, PredictError> {
    if workers == 0 {
        return Err(PredictError::NoWorkers);
    }
    let bounds = Bounds::new(plan, demands, machine);
    let bound = bounds.tightest(workers);
    let time = bound.time * bounds.contention(&bound, workers);
    let mut prediction = Prediction {
        workers,
        per_item: time,
        throughput: 1e9 / time,
        latency: bounds.latency(&Bound { time, ..bound }, workers),
        shortest_latency: demands.alone,
        speedup: demands.sequential / time,
        limit: bound.limit,
        bottleneck: bound.node,
        enough_workers: bounds.enough_workers(),
        unknown: demands.unknown.clone(),
        advice: String::new(),
    };
    prediction.advice = advice::advice(&bounds, &bound, &prediction);
    Ok(prediction)
}

//! What a plan should cost: throughput, latency, the bottleneck and the speed-up on so many workers.

mod advice;
mod bounds;
mod demand;

use bounds::Bound;
pub(crate) use bounds::Bounds;
pub(crate) use demand::{Demands, UnitDemand};

use crate::quantity::{rate, span, times};
use crate::{NodeId, Plan, PlanError};
use std::fmt;

/// What a lane costs the threads for an item: writing and reading the slot, its stamp, and the lines of memory
/// that go from core to core. In nanoseconds of a thread, for the giver and the taker together.
///
/// Fitted to the executor's measurements on two cores (`bench/README.md`: ordered pipelines of two and of four
/// lanes, with items of 55 ns to 100 µs); the first prototype took 8 (`research/batons.md`, "recommended").
pub const LANE_NS: f64 = 12.0;

/// The share of its time that a thread loses when others run beside it. From the same measurements: 98 % of two
/// plain threads at 10 µs an item.
pub const SHARING: f64 = 0.02;

/// How long a thread that waits for an item keeps a processor after all, to fall asleep and to be woken, in
/// nanoseconds. Measured on a virtual machine, where it is dear: a plain loop that sleeps 1,000 times a second
/// takes 3.0 to 3.9 % of a core (`research/batons.md`, "Other shapes").
pub const WAKE_NS: f64 = 35_000.0;

/// The share by which the time between two items is longer where a serial unit and the workers limit alike: now and then
/// the one waits for the other. Measured with a serial stage of 10 µs between parallel ones of 5 µs, on two workers
/// (`bench/README.md`).
pub const MEETING: f64 = 0.055;

/// The same for threads that share a core with as many others as there are: who holds up the serial unit may be without
/// one. From the same measurement on four workers and two cores.
pub const CROWDING: f64 = 0.3;

/// What passing items costs. Where costs were measured with the passing in them, use [`Overhead::NONE`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overhead {
    /// Nanoseconds of threads' time for an item and a lane, half with the giver and half with the taker.
    pub lane: f64,
    /// The share of their time, 0 to 1, that threads lose by running beside each other.
    pub sharing: f64,
    /// Nanoseconds of a processor for each item that a node waits for, but not more than it waits.
    pub wake: f64,
    /// The share of the time, 0 to 1, that is lost where a serial unit and the workers limit alike...
    pub meeting: f64,
    /// ... and where, besides, there are many more workers than cores.
    pub crowding: f64,
}

impl Overhead {
    /// What was measured of the executor: [`LANE_NS`], [`SHARING`], [`WAKE_NS`], [`MEETING`] and [`CROWDING`].
    pub const MEASURED: Overhead =
        Overhead { lane: LANE_NS, sharing: SHARING, wake: WAKE_NS, meeting: MEETING, crowding: CROWDING };
    /// Passing items is free, and so is waiting.
    pub const NONE: Overhead = Overhead { lane: 0.0, sharing: 0.0, wake: 0.0, meeting: 0.0, crowding: 0.0 };
}

/// What a plan is predicted for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// How many processors the threads have. At least 1.
    pub cores: usize,
    /// What passing items costs on it.
    pub overhead: Overhead,
}

impl Machine {
    /// A machine of so many processors, with the measured overhead.
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

/// What keeps a plan from being quicker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Limit {
    /// A serial unit is busy all the time.
    Serial,
    /// A parallel unit is busy in as many calls as it may have.
    Replicas,
    /// Claims of so many items leave a window with fewer claims than there are workers.
    Burst,
    /// The window is full: its items are on their way, and the source waits for room.
    Window,
    /// Every core is busy.
    Cores,
    /// Every worker is busy or waits inside a stage.
    Workers,
}

/// What a plan should do on so many workers. Its [`Display`](fmt::Display) is a line of numbers;
/// [`advice`](Prediction::advice) says why and what to do about it.
///
/// With the feature `json` it can be written with `serde`, its fields by their names.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Prediction {
    /// How many workers it is for.
    pub workers: usize,
    /// Nanoseconds between one item of the source and the next.
    pub per_item: f64,
    /// Items of the source in a second.
    pub throughput: f64,
    /// Nanoseconds from asking the source for an item until the sink is done with it, while the stream runs
    /// at this throughput and the source always has an item: with the items that queue before the bottleneck.
    /// An estimate: how far the source runs ahead is decided while the stream runs.
    pub latency: f64,
    /// The same for an item that meets no other on its way.
    pub shortest_latency: f64,
    /// How many times as fast as the sequential loop, which is what one worker runs. Below 1 where handing the
    /// items over costs more than sharing their work saves.
    pub speedup: f64,
    /// What keeps it from being quicker.
    pub limit: Limit,
    /// The node where that is: the dearest of a unit or a domain that limits, or of all where the workers or
    /// cores do.
    pub bottleneck: NodeId,
    /// The fewest workers that reach the most that more workers can bring, but for the [`MEETING`] share; `None` if each
    /// one helps.
    pub enough_workers: Option<usize>,
    /// Nodes whose cost nobody gave, and which were counted as 0.
    pub unknown: Vec<NodeId>,
    /// A sentence or two: what limits, and what to do about it.
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

/// Predictions of one plan for several numbers of workers. With the feature `json` they can be written with `serde` as well.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Curve {
    /// The name of the plan.
    pub name: Option<String>,
    /// The names of its nodes.
    pub nodes: Vec<String>,
    /// One for each number of workers that was asked for, in that order. At least one.
    pub points: Vec<Prediction>,
}

/// Why nothing can be said of a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PredictError {
    /// No node has a cost above 0.
    #[error("no node of the plan has a cost; give them, or measure a run")]
    NoCosts,
    /// Nobody would run it.
    #[error("a prediction is for 1 worker or more, not 0")]
    NoWorkers,
    /// A curve has points.
    #[error("a curve needs 1 number of workers or more")]
    NoPoints,
    /// It would run nowhere.
    #[error("a prediction is for 1 core or more, not 0")]
    NoCores,
    /// The plan could not run.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl Plan {
    /// What the plan should do on `workers` workers, with a core for each thread.
    /// [`predict_on`](Plan::predict_on) has the model.
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
    /// As [`predict_on`](Plan::predict_on).
    pub fn predict(&self, workers: usize) -> Result<Prediction, PredictError> {
        self.predict_on(&Machine::ample(), workers)
    }

    /// What the plan should do on `workers` workers of a machine.
    ///
    /// # The model
    ///
    /// The asymptotic bounds of operational analysis (P. J. Denning and J. P. Buzen, "The Operational Analysis of
    /// Queueing Network Models", ACM Computing Surveys 10(3), 1978) over the stages of a pipeline, of which
    /// some are replicated (a pipeline of farms in FastFlow, Rust-SSP and SPar). An item is one of the source.
    /// Node *k* sees *v* items for each of them (the product of the rates before it) and takes *c* ns for each,
    /// so its demand is *D* = *v c*; a unit's demand is the sum of its nodes' and half of the
    /// [overhead](Overhead) of each lane that it touches. The time between two items is the greatest of
    ///
    /// | bound | is | because |
    /// |---|---|---|
    /// | [`Serial`](Limit::Serial) | *D* of each serial unit | the bottleneck law: at most one call at a time |
    /// | [`Replicas`](Limit::Replicas) | *D* / replicas of each parallel unit | at most so many calls at a time |
    /// | [`Burst`](Limit::Burst) | *D* / (window / burst) of each parallel unit | items of a claim run one after the other |
    /// | [`Window`](Limit::Window) | sum of *D* in a domain / its window | Little's law: so many items in flight |
    /// | [`Cores`](Limit::Cores) | sum of *D* without waiting / cores | a core does one thing at a time |
    /// | [`Workers`](Limit::Workers) | sum of *D*, but of dedicated nodes / workers | so does a worker, waiting or not |
    ///
    /// and the last two are lengthened by the share that threads lose by running beside each other. Where the greatest
    /// is a serial unit's and that of the workers or cores is near it, or the other way round, the time is longer than
    /// both, by [`MEETING`] (and [`CROWDING`], with more workers than cores) times the eighth power of their ratio. One worker
    /// without dedicated nodes runs the plain loop: the sum of the demands, with no overhead. Whether the
    /// plan's own executor is the inline one makes no difference: it is asked what `workers` workers would do.
    ///
    /// The latency of a running stream follows from Little's law too: the items of the full windows before the
    /// bottleneck (at a limit of workers or cores: what one pull of the source gives, at most 20 µs or 2,048
    /// items, and one an each worker) times the time between two.
    ///
    /// # What it leaves out
    ///
    /// Costs are means: where one item in 16 costs eight times the mean, a simulation took
    /// up to 14 % longer (`tests/integration/simulation.rs`), and more in a narrow window, where such items wait for each other.
    /// Items without any work pass quicker than [`LANE_NS`] has it: 8.6 ns each were measured with two workers where
    /// 13 are predicted.
    /// A window by weight, more threads than cores, memory bandwidth, and starting and ending are not in it. A node
    /// with several inputs is taken to need one item of each.
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
    /// [`PredictError`] if there are no workers or cores, no node has a cost, or the plan is not
    /// [valid](Plan::validate).
    pub fn predict_on(&self, machine: &Machine, workers: usize) -> Result<Prediction, PredictError> {
        let demands = Demands::of(self, machine)?;
        predict(self, &demands, machine, workers)
    }

    /// The curve of [`predict`](Plan::predict) over several numbers of workers.
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
    /// As [`predict_on`](Plan::predict_on), or if `workers` gives no number.
    pub fn predict_range(&self, workers: impl IntoIterator<Item = usize>) -> Result<Curve, PredictError> {
        self.predict_range_on(&Machine::ample(), workers)
    }

    /// The curve of [`predict_on`](Plan::predict_on) over several numbers of workers.
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
    /// As [`predict_on`](Plan::predict_on), or if `workers` gives no number.
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

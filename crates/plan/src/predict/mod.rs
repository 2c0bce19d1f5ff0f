//! Predictions: the throughput, the latency, the bottleneck and the speed-up of a plan, for a number of
//! workers.

mod advice;
mod bounds;
mod demand;
mod machine;
mod prediction;

use bounds::Bound;
pub(crate) use bounds::Bounds;
pub(crate) use demand::{Demands, UnitDemand};
pub use machine::{CROWDING, FIRING_NS, LANE_NS, MEETING, Machine, Overhead, SHARING, TURN_NS, WAKE_NS};
pub use prediction::{Curve, Limit, PredictError, Prediction};

use crate::Plan;

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
    /// - The time of items without any work depends on the distance of the two cores. With near cores 12.4 ns an item were
    ///   measured, where 13 ns are predicted, and with far cores about three times as much.
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

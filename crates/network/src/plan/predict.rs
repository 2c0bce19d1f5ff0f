//! Predictions for networks: the throughput, the load of each rule and record, and what limits them.

use std::collections::BTreeMap;
use std::fmt;

use super::simulate::simulate;
use crate::plan::{Machine, NodeId, Plan, PredictError};
use anabranch_plan::quantity::{percent, rate, span, times};

/// From this share of the time on, a rule or the workers count as always busy.
const BUSY: f64 = 0.9;

/// A prediction for a network, made by [`Plan::predict_network`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct NetworkPrediction {
    /// The number of workers.
    pub workers: usize,
    /// The time of an [iteration](Plan::repetitions), in nanoseconds.
    pub iteration: f64,
    /// How many iterations run in a second.
    pub throughput: f64,
    /// How many times as fast as with one worker.
    pub speedup: f64,
    /// The limit of the throughput.
    pub bottleneck: Bottleneck,
    /// The load of each rule.
    pub nodes: Vec<NodeLoad>,
    /// The load of each record.
    pub edges: Vec<EdgeLoad>,
    /// The name of the rule that limits, or that the limiting record leads to.
    name: String,
}

/// The limit of a network's throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Bottleneck {
    /// Every worker is busy.
    Workers,
    /// This rule is busy all the time.
    Rule(NodeId),
    /// Rules wait for one another: in a cycle, or because the record before this rule is often full.
    Waiting(NodeId),
}

/// The predicted load of a rule.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct NodeLoad {
    /// How many times it fires in a second.
    pub firings: f64,
    /// The share of the time in which it is fired, from 0 to 1. With several copies, 1 means all of them.
    pub utilization: f64,
}

/// The predicted load of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct EdgeLoad {
    /// How many items it may hold.
    pub horizon: usize,
    /// The mean number of items in it.
    pub occupancy: f64,
    /// The share of the time in which it has no room for a firing of its writer, from 0 to 1.
    pub full: f64,
}

impl Plan {
    /// Predicts a network for a number of workers, from the costs of its rules.
    ///
    /// A simulation fires 24,000 times: workers take rules that are ready from a queue, a rule fires up to
    /// [`Node::firings`](crate::plan::Node::firings) times in a row, and a firing takes the cost of its rule. The costs of a firing
    /// and a turn beside that are the machine's [`firing`](anabranch_plan::Overhead::firing) and
    /// [`turn`](anabranch_plan::Overhead::turn). The start and the end of a run are left out, and so are caches. If an iteration
    /// has more firings than the simulation, the prediction is for a part of an iteration. At most as many workers are
    /// simulated as the machine has cores. If one worker is faster than several, the prediction is that of one worker,
    /// because in a run a worker keeps the rules that it wakes as long as their firings are short.
    ///
    /// ```
    /// use anabranch_network::plan::Bottleneck;
    /// use anabranch_network::plan::{Flow, ItemType, Machine, Node, Plan};
    ///
    /// let mut plan = Plan::network(2);
    /// let source = plan.rule(Node::rule("source").cost(1_000));
    /// let filter = plan.rule(Node::rule("filter").cost(8_000));
    /// let sink = plan.rule(Node::rule("sink").cost(500));
    /// plan.record(source, filter, ItemType::of::<f32>(), Flow::of(1, 2));
    /// plan.record(filter, sink, ItemType::of::<f32>(), Flow::of(1, 1));
    ///
    /// let prediction = plan.predict_network(&Machine::new(4), 1)?;
    /// assert_eq!(prediction.bottleneck, Bottleneck::Workers);
    /// assert!((10_500.0..10_800.0).contains(&prediction.iteration)); // 2 times `source`, `filter` and `sink`
    /// # Ok::<(), anabranch_network::plan::PredictError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there are no workers or no cores, no rule has a cost, the plan is not a valid network, or the network stands still.
    pub fn predict_network(
        &self,
        machine: &Machine,
        workers: usize,
    ) -> Result<NetworkPrediction, PredictError> {
        if workers == 0 {
            return Err(PredictError::NoWorkers);
        }
        if machine.cores == 0 {
            return Err(PredictError::NoCores);
        }
        self.validate()?;
        if self.nodes.iter().all(|node| node.cost.is_none()) {
            return Err(PredictError::NoCosts);
        }
        let (firings, horizons) = (self.repetitions()?, self.horizons()?);
        let costs: Vec<f64> = self.nodes.iter().map(|node| node.cost.unwrap_or(0) as f64).collect();
        let run = |workers| {
            simulate(self, &firings, &costs, &horizons, workers, machine.overhead)
                .ok_or(PredictError::StandsStill)
        };
        // One worker at a time is in a unit, and in a copy of a rule.
        let inside: BTreeMap<usize, usize> =
            self.nodes.iter().map(|node| (node.unit, node.replicas.unwrap_or(1).max(1))).collect();
        let useful = inside.values().fold(0, |sum: usize, copies| sum.saturating_add(*copies));
        let mut threads = workers.min(machine.cores).min(useful).max(1);
        let mut run_of = run(threads)?;
        let mut alone = run_of.iteration;
        if threads > 1 {
            let run_alone = run(1)?;
            alone = run_alone.iteration;
            if alone < run_of.iteration {
                (threads, run_of) = (1, run_alone);
            }
        }
        let load = |(at, busy): (usize, &f64)| NodeLoad {
            firings: firings[at] as f64 * 1e9 / run_of.iteration,
            utilization: (busy / self.nodes[at].replicas.unwrap_or(1).max(1) as f64).min(1.0),
        };
        let nodes: Vec<NodeLoad> = run_of.busy.iter().enumerate().map(load).collect();
        let edges = horizons.iter().enumerate().map(|(at, &horizon)| EdgeLoad {
            horizon,
            occupancy: run_of.items[at],
            full: run_of.full[at].min(1.0),
        });
        let edges: Vec<EdgeLoad> = edges.collect();
        // The rules of a unit share its time.
        let unit_load = |node: usize| -> f64 {
            let unit = self.nodes[node].unit;
            nodes
                .iter()
                .zip(&self.nodes)
                .filter(|(_, other)| other.unit == unit)
                .map(|(load, _)| load.utilization)
                .sum()
        };
        let busiest = (0..nodes.len()).max_by(|a, b| {
            let of = |node: &usize| (unit_load(*node), nodes[*node].utilization);
            let ((a, at), (b, bt)) = (of(a), of(b));
            a.total_cmp(&b).then(at.total_cmp(&bt))
        });
        let busiest = busiest.unwrap_or(0);
        let fullest = (0..edges.len()).max_by(|a, b| edges[*a].full.total_cmp(&edges[*b].full));
        let bottleneck = if run_of.workers >= BUSY && threads == workers.min(machine.cores) {
            Bottleneck::Workers
        } else if unit_load(busiest) >= BUSY {
            Bottleneck::Rule(NodeId(busiest))
        } else {
            Bottleneck::Waiting(fullest.map_or(NodeId(busiest), |edge| self.edges[edge].to))
        };
        let node = match bottleneck {
            Bottleneck::Workers => busiest,
            Bottleneck::Rule(node) | Bottleneck::Waiting(node) => node.0,
        };
        Ok(NetworkPrediction {
            workers,
            iteration: run_of.iteration,
            throughput: 1e9 / run_of.iteration,
            speedup: alone / run_of.iteration,
            bottleneck,
            name: anabranch_plan::drawing::plain(&self.nodes[node].name),
            nodes,
            edges,
        })
    }
}

impl fmt::Display for NetworkPrediction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workers, iteration, speedup, name, .. } = self;
        let rate = rate(self.throughput).replace("items/s", "iterations/s");
        let workers = anabranch_plan::quantity::count(*workers, "worker");
        write!(
            f,
            "{rate}, {} an iteration with {workers}: {} times as fast as with one. ",
            span(*iteration),
            times(*speedup)
        )?;
        match self.bottleneck {
            Bottleneck::Workers => write!(f, "Every worker is busy, most of the time with `{name}`."),
            Bottleneck::Rule(node) => {
                write!(f, "`{name}` is busy for {} of the time.", percent(self.nodes[node.0].utilization))
            }
            Bottleneck::Waiting(_) => write!(f, "Rules wait for one another, most of all for `{name}`."),
        }
    }
}

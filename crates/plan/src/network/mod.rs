//! Networks of firing rules as plans: synchronous data flow.
//!
//! A plan whose nodes are [rules](crate::Node::rule) is a network. Each rule names a kernel (its `operator`),
//! and each edge is a record between two rules with fixed [rates](crate::Flow). The edges into a node are the
//! inputs of its kernel, in the order in which they are in the plan; the edges out of it are its outputs.
//! `anabranch_network::Kernels` makes a network that runs of such a plan.
//!
//! Because the rates are fixed, much is known before the run (E. Lee and D. Messerschmitt, *Static Scheduling
//! of Synchronous Data Flow Programs for Digital Signal Processing*, 1987):
//!
//! - [`Plan::repetitions`]: how often each rule fires until every record holds as many items as before;
//! - [`Plan::least_horizons`]: how many items each record must hold so that the network does not stand still;
//! - [`Plan::predict_network`]: how fast it runs on a number of workers, and what limits it;
//! - [`Passes`](crate::Passes): rewrites of the plan that change nothing but the time of its run.
//!
//! ```
//! use anabranch_plan::{Flow, ItemType, Node, Plan};
//!
//! let mut plan = Plan::network(2).named("average");
//! let signal = plan.rule(Node::rule("signal").cost(100));
//! let average = plan.rule(Node::rule("average").cost(400));
//! let print = plan.rule(Node::rule("print").cost(1_000));
//! plan.record(signal, average, ItemType::of::<f32>(), Flow::of(1, 4).peeks(16));
//! plan.record(average, print, ItemType::of::<f32>(), Flow::of(1, 8));
//! plan.validate()?;
//! assert_eq!(plan.repetitions()?, [32, 8, 1]);
//! assert_eq!(plan.least_horizons()?, [16, 8]);
//! # Ok::<(), anabranch_plan::PlanError>(())
//! ```

mod check;
mod cores;
pub(crate) mod passes;
mod predict;
mod rates;
mod room;
mod schedule;
mod simulate;
mod tasks;
mod text;

pub use check::{MOST_ITEMS, MOST_REPLICAS};
pub use cores::Cores;
pub use predict::{Bottleneck, EdgeLoad, NetworkPrediction, NodeLoad};
pub use room::FIRINGS;
pub use tasks::{TaskError, Tasks};
pub(crate) use text::{abouts, flow_text, text};

pub use crate::predict::{FIRING_NS, TURN_NS};
use crate::{Edge, EdgeKind, Flow, ItemType, Node, NodeId, Plan, Settings};

impl Plan {
    /// Creates a network without rules, which runs on this number of workers.
    pub fn network(workers: usize) -> Self {
        Plan { settings: Settings::new(workers, 1), ..Plan::empty() }
    }

    /// Whether the plan is a network: whether it has a firing rule, a process or a record as a node.
    pub fn is_network(&self) -> bool {
        self.nodes.iter().any(|node| node.role.is_of_network())
    }

    /// Adds a firing rule, or another node of a network, in a unit of its own.
    pub fn rule(&mut self, node: Node) -> NodeId {
        let unit = self.nodes.iter().map(|node| node.unit.saturating_add(1)).max().unwrap_or(0);
        let id = NodeId(self.nodes.len());
        self.nodes.push(Node { id, unit, domain: 0, ..node });
        id
    }

    /// Adds a record between two rules, or joins a rule to a record that is a node. It is the next output of `from` and
    /// the next input of `to`.
    pub fn record(&mut self, from: NodeId, to: NodeId, item: ItemType, flow: Flow) {
        self.edges.push(Edge { from, to, item, kind: EdgeKind::Record(flow), name: None });
    }

    /// The rates of the edges, in their order. To be called for valid networks: an edge that is no record has
    /// the rates of one.
    pub(crate) fn flows(&self) -> Vec<Flow> {
        let flow = |edge: &Edge| match edge.kind {
            EdgeKind::Record(flow) => flow,
            EdgeKind::Call | EdgeKind::Back { .. } | EdgeKind::Lane { .. } => Flow::of(1, 1),
        };
        self.edges.iter().map(flow).collect()
    }
}

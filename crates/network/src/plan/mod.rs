//! Networks of firing rules as plans: synchronous data flow.
//!
//! A plan whose nodes are [rules](crate::plan::Node::rule) is a network. Each rule names a kernel (its `operator`),
//! and each edge is a record between two rules with fixed [rates](Flow). The edges into a node are the
//! inputs of its kernel, in the order in which they are in the plan; the edges out of it are its outputs.
//! [`Kernels`](crate::Kernels) makes a network that runs of such a plan.
//!
//! Because the rates are fixed, much is known before the run (E. Lee and D. Messerschmitt, *Static Scheduling
//! of Synchronous Data Flow Programs for Digital Signal Processing*, 1987):
//!
//! - [`Plan::repetitions`]: how often each rule fires until every record holds as many items as before;
//! - [`Plan::least_horizons`]: how many items each record must hold so that the network does not stand still;
//! - [`Plan::predict_network`]: how fast it runs on a number of workers, and what limits it;
//! - [`Passes`]: rewrites of the plan that change nothing but the time of its run.
//!
//! ```
//! use anabranch_network::plan::{Flow, ItemType, Node, Plan};
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
//! # Ok::<(), anabranch_network::plan::PlanError>(())
//! ```

mod check;
mod cores;
mod dot;
mod draw;
mod edge;
mod error;
#[cfg(feature = "json")]
mod json;
mod node;
mod passes;
mod predict;
mod rates;
mod room;
mod schedule;
mod simulate;
mod tasks;
mod text;

pub use anabranch_plan::{FIRING_NS, ItemType, Machine, NodeId, NodeName, State, TURN_NS};
pub use check::{MOST_ITEMS, MOST_REPLICAS};
pub use cores::Cores;
pub use edge::{Edge, Flow};
pub use error::{EdgeName, PlanError, PredictError};
pub use node::{Node, Placement, Record, Role, Views};
pub use passes::{Note, Pass, Passes};
pub use predict::{Bottleneck, EdgeLoad, NetworkPrediction, NodeLoad};
pub use room::FIRINGS;
pub use tasks::{TaskError, Tasks};

/// A network as plain data: its nodes, and the records between them.
///
/// [`rule`](Plan::rule) adds a node, and [`record`](Plan::record) a record. The fields are public: a pass changes them to
/// rewrite a plan, and [`validate`](Plan::validate) checks the result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Plan {
    /// The name that the user gave to the network.
    pub name: Option<String>,
    /// How many workers fire its rules. At least 1.
    pub workers: usize,
    /// The nodes. The `id` of a node is its index here.
    pub nodes: Vec<Node>,
    /// The records between two rules, and the ways of rules to records that are nodes.
    pub edges: Vec<Edge>,
}

impl AsRef<Plan> for Plan {
    fn as_ref(&self) -> &Plan {
        self
    }
}

impl Plan {
    /// Creates a network without rules, which runs on this number of workers.
    pub fn network(workers: usize) -> Self {
        Plan { name: None, workers, nodes: Vec::new(), edges: Vec::new() }
    }

    /// Sets the name that people see.
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Adds a firing rule, or another node of a network, in a unit of its own.
    pub fn rule(&mut self, node: Node) -> NodeId {
        let unit = self.nodes.iter().map(|node| node.unit.saturating_add(1)).max().unwrap_or(0);
        let id = NodeId(self.nodes.len());
        self.nodes.push(Node { id, unit, ..node });
        id
    }

    /// Adds a record between two rules, or joins a rule to a record that is a node. It is the next output of `from` and
    /// the next input of `to`.
    pub fn record(&mut self, from: NodeId, to: NodeId, item: ItemType, flow: Flow) {
        self.edges.push(Edge { from, to, item, flow, name: None });
    }

    /// The rates of the edges, in their order.
    fn flows(&self) -> Vec<Flow> {
        self.edges.iter().map(|edge| edge.flow).collect()
    }

    /// The node with this id.
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0)
    }

    /// The edges into a node.
    pub fn inputs(&self, id: NodeId) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |edge| edge.to == id)
    }

    /// The edges out of a node.
    pub fn outputs(&self, id: NodeId) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |edge| edge.from == id)
    }
}

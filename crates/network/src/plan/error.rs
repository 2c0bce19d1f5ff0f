//! Faults of a network, in messages that name its nodes.

use std::fmt;

use anabranch_plan::NodeName;
use anabranch_plan::drawing::plain;

use super::{Edge, Node, NodeId, Plan};

/// A record in an error message: ``"the edge from `a` (#0) to `b` (#1)"``, or with the name of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeName {
    /// The record's own name, if it has one.
    pub name: Option<String>,
    /// The node that gives the items.
    pub from: NodeName,
    /// The node that takes the items.
    pub to: NodeName,
}

impl fmt::Display for EdgeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, from, to } = self;
        write!(f, "{} from {from} to {to}", name.as_deref().map_or("the edge".to_owned(), plain))
    }
}

/// The reason why a network cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum PlanError {
    /// There is nothing to run.
    #[error("the network has no nodes")]
    Empty,
    /// There is no worker to run it.
    #[error("the network has 0 workers; at least 1 is needed")]
    NoWorkers,
    /// Nodes are known by their id.
    #[error("node {node} stands at index {index}; a node's id is its index")]
    IdOutOfOrder { node: NodeName, index: usize },
    /// The rule could never fire.
    #[error("node {node} has 0 replicas; at least 1 is needed")]
    NoReplicas { node: NodeName },
    /// The node that gives the items does not exist.
    #[error("an edge goes from {from}, which is not in the plan, to {to}")]
    EdgeFromUnknown { from: NodeId, to: NodeId },
    /// The node that takes the items does not exist.
    #[error("an edge goes from {from} to {to}, which is not in the plan")]
    EdgeToUnknown { from: NodeName, to: NodeId },
    /// Conclusions from rates need all rates of the network.
    #[error("the rates of {node} are not known before the run: it is no firing rule")]
    UnknownRates { node: NodeName },
    /// A rule that writes or reads nothing on an edge could fire for ever.
    #[error("{node} {verb} 0 items on {edge}; at least 1 is needed")]
    NoRate { node: NodeName, verb: &'static str, edge: Box<EdgeName> },
    /// No record can be so large.
    #[error("{edge} asks for {items} items at once; a record has at most 2^32")]
    RateTooLarge { edge: Box<EdgeName>, items: usize },
    /// A firing would never have its items or its room.
    #[error("{edge} has a horizon of {horizon}, but {what} needs {needed} or more")]
    HorizonTooNarrow { edge: Box<EdgeName>, horizon: usize, what: String, needed: usize },
    /// A firing has items of one range.
    #[error(
        "{node} has {rate} items of {edge} in each firing and sees {sees}, but they are dealt in ranges of {range}: the rate must \
         divide {range}, and the rule sees no more than that"
    )]
    UnevenRange { node: NodeName, edge: Box<EdgeName>, rate: usize, sees: usize, range: usize },
    /// A record without writers stays empty, and one without readers stays full.
    #[error("{record} has no {side}: it was dropped before the run, so nothing will be {what}; move the {side} into the process \
             that is to use it{}", if others.is_empty() { String::new() } else { format!(". It is {verb} by {}", list(others)) })]
    NoView {
        record: String,
        side: &'static str,
        what: &'static str,
        verb: &'static str,
        others: Vec<NodeName>,
    },
    /// No numbers of firings balance the rates.
    #[error(
        "the rates are inconsistent at {edge}: {rates} in each firing, but by the other edges there are not as many firings as \
         that takes, so that items would pile up or run out; change one of the rates"
    )]
    InconsistentRates { edge: Box<EdgeName>, rates: String },
    /// The numbers do not fit.
    #[error("the rates up to {node} are too large: one iteration has more than 2^63 of its firings")]
    TooManyFirings { node: NodeName },
    /// Each rule of the cycle waits for the next one.
    #[error(
        "the network stands still: {} wait for one another; give an edge between them a delay of {items} or more",
        list(nodes)
    )]
    NetworkDeadlock { nodes: Vec<NodeName>, items: usize },
    /// With larger horizons, the network would go on.
    #[error(
        "the network stands still because a horizon is too small: {} wait for one another; give {edge} a horizon of {horizon} or \
         more, or none",
        list(nodes)
    )]
    HorizonDeadlock { nodes: Vec<NodeName>, edge: Box<EdgeName>, horizon: usize },
    /// Copies of a rule would share its state.
    #[error("the rule {node} has {replicas} replicas, but keeps a state from one firing to the next")]
    ReplicatedState { node: NodeName, replicas: usize },
    /// Copies of a rule get separate items.
    #[error("the rule {node} has replicas, so on the edge from {from} it must see no more than it consumes")]
    ReplicatedPeek { node: NodeName, from: NodeName },
    /// A copy of a rule would have to wait for itself.
    #[error("the rule {node} has replicas, but an edge from it to itself")]
    ReplicatedLoop { node: NodeName },
    /// Copies get items that come later, so there is none to begin with.
    #[error("the rule {node} has replicas, so {edge} must have no delay")]
    ReplicatedDelay { node: NodeName, edge: Box<EdgeName> },
    /// The rules of a unit run by turns on one thread.
    #[error("the rule {node} has replicas, but shares unit {unit} with others")]
    ReplicatedUnit { node: NodeName, unit: usize },
    /// A copy for each of many threads would only cost memory.
    #[error("the rule {node} has {replicas} replicas; at most {most} are possible")]
    TooManyReplicas { node: NodeName, replicas: usize, most: usize },
    /// Each core that has rules needs a worker.
    #[error("the rules are placed on {cores} cores, but the network has {workers} workers")]
    TooManyCores { cores: usize, workers: usize },
    /// The rule would never fire.
    #[error("the rule {node} may fire 0 times in a row; at least 1 is needed")]
    NoFirings { node: NodeName },
}

/// `` `a` (#0), `b` (#1) and `c` (#2) ``, and at most 12 of them.
fn list(nodes: &[NodeName]) -> String {
    let shown: Vec<String> = nodes.iter().take(12).map(NodeName::to_string).collect();
    match shown.split_last() {
        _ if nodes.len() > shown.len() => {
            format!("{} and {} others", shown.join(", "), nodes.len() - shown.len())
        }
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => shown.concat(),
    }
}

/// The reason why a network cannot be predicted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PredictError {
    /// No rule has a cost above 0.
    #[error("no node of the plan has a cost; set costs, or measure a run")]
    NoCosts,
    /// The number of workers is 0.
    #[error("a prediction is for 1 worker or more, not 0")]
    NoWorkers,
    /// The machine has 0 cores.
    #[error("a prediction is for 1 core or more, not 0")]
    NoCores,
    /// The network stands still in the simulation: no rule can fire.
    #[error("the network stands still: no rule has the records and the room that its next firing needs")]
    StandsStill,
    /// The plan is not valid.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl Plan {
    /// The name of an edge between nodes of the plan.
    pub(super) fn edge_name(&self, edge: &Edge) -> Box<EdgeName> {
        let end = |id: NodeId| named(&self.nodes[id.0]);
        Box::new(EdgeName { name: edge.name.clone(), from: end(edge.from), to: end(edge.to) })
    }
}

pub(super) fn named(node: &Node) -> NodeName {
    NodeName { id: node.id, name: node.name.clone().into_owned() }
}

//! Checks whether a plan makes sense: every rule that an executor relies on.

use crate::{Burst, Edge, EdgeKind, Node, NodeId, Placement, Plan, Rate, Role, State};
use std::collections::HashSet;
use std::fmt;

/// A node in an error message: ``"`encode` (#2)"``.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeName {
    /// Its index in the plan.
    pub id: NodeId,
    /// The name that people see.
    pub name: String,
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({})", crate::wording::plain(&self.name), self.id)
    }
}

/// The reason why a plan cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum PlanError {
    /// There is nothing to run.
    #[error("the plan has no nodes")]
    Empty,
    /// There is no worker to run it.
    #[error("the plan has 0 workers; at least 1 is needed")]
    NoWorkers,
    /// No item could be in flight.
    #[error("the plan's window is 0; at least 1 is needed")]
    NoWindow,
    /// A burst would hand over nothing.
    #[error("the plan's bursts are of 0 items; at least 1 is needed")]
    NoBurst,
    /// No item could be in flight in this domain.
    #[error("domain {domain} has a window of 0; at least 1 is needed")]
    NoDomainWindow { domain: usize },
    /// The plan has domains after that of its last node.
    #[error("domain {domain} has no nodes")]
    EmptyDomain { domain: usize },
    /// Closures are kept by id, so an id must be the index.
    #[error("node {node} stands at index {index}; a node's id is its index")]
    IdOutOfOrder { node: NodeName, index: usize },
    /// No node would give items.
    #[error("the plan begins with {node}, which is not a source")]
    FirstIsNotSource { node: NodeName },
    /// No node would consume the items.
    #[error("the plan ends with {node}, which is not a sink")]
    LastIsNotSink { node: NodeName },
    /// A plan has one source.
    #[error("the source {node} is not the first node")]
    SourceInside { node: NodeName },
    /// A plan has one sink.
    #[error("the sink {node} is not the last node")]
    SinkInside { node: NodeName },
    /// Only a source gives blocks.
    #[error("node {node} is to give its items in blocks, which only a source does")]
    BlocksInside { node: NodeName },
    /// The items of a block stay together until the end, so their order cannot be given up.
    #[error("the source {node} is to give its items in blocks, but a stage gives up their order")]
    BlocksOutOfOrder { node: NodeName },
    /// The node could never be called.
    #[error("node {node} has 0 replicas; at least 1 is needed")]
    NoReplicas { node: NodeName },
    /// A rate is a ratio, so its second number must not be 0.
    #[error("node {node} gives {given} items for 0 taken; a rate is for 1 item or more")]
    RateOfNothing { node: NodeName, given: u64 },
    /// A serial node runs for one item at a time.
    #[error("node {node} has {replicas} replicas, but only a parallel node may have more than 1")]
    SerialReplicated { node: NodeName, replicas: usize },
    /// Simultaneous calls would be a data race.
    #[error("the parallel node {node} has serial state, which its simultaneous calls would share")]
    SharedState { node: NodeName },
    /// A thread of its own would make the node serial.
    #[error("the parallel node {node} has a thread of its own; only a source, a serial stage or a sink may")]
    DedicatedParallel { node: NodeName },
    /// The results of the branches are joined by their indices.
    #[error(
        "the parallel node {node} in a branch or a loop gives up order, but branches are joined, and items go round again, in the \
         order of the items"
    )]
    ArrivalsInside { node: NodeName },
    /// Results that arrive in any order have no place in the order of the domain before.
    #[error(
        "{from} gives its results in the order in which they are done, so {to} must begin a domain (`give_order_up`)"
    )]
    ArrivalsInsideDomain { from: NodeName, to: NodeName },
    /// The code was made for a plan with another number of nodes.
    #[error("the plan has {found} nodes, but the code that runs was made for {expected}")]
    OtherNodes { expected: usize, found: usize },
    /// The code was made for another operator, role, state, schedule, number of shards, unit, order or
    /// domain.
    #[error("the {what} of node {node} cannot be changed: the code that runs was made for the old one")]
    OtherCode { node: NodeName, what: &'static str },
    /// The edges join other nodes than in the plan for which the code was made.
    #[error("the edges of the plan cannot be changed: the code that runs was made for the old ones")]
    OtherEdges,
    /// The node would have no index and no window.
    #[error("node {node} is in domain {domain}, which the plan does not have")]
    UnknownDomain { node: NodeName, domain: usize },
    /// A domain is one stretch. It does not come back, and none is left out.
    #[error("node {node} is in domain {found}; expected domain {expected}, or {expected} + 1 to open one")]
    DomainOutOfOrder { node: NodeName, expected: usize, found: usize },
    /// A unit is one stretch. It does not come back, and none is left out.
    #[error("node {node} is in unit {found}; expected unit {expected}, or {expected} + 1 to begin one")]
    UnitOutOfOrder { node: NodeName, expected: usize, found: usize },
    /// A unit runs as one piece of code, so all of it is serial or all of it is parallel.
    #[error("unit {unit} has both {before} and {node}, of which only one is parallel")]
    UnitMixesSerialAndParallel { unit: usize, before: NodeName, node: NodeName },
    /// A unit runs for one index, so it has one domain.
    #[error("unit {unit} has both {before} and {node}, which are in different domains")]
    UnitSpansDomains { unit: usize, before: NodeName, node: NodeName },
    /// Order that was given up cannot come back.
    #[error("node {node} is ordered, but {before} before it in the same domain is not")]
    OrderedAfterUnordered { node: NodeName, before: NodeName },
    /// The domain's index is the order of arrival.
    #[error("node {node} is ordered, but its domain {domain} is not")]
    OrderedInUnorderedDomain { node: NodeName, domain: usize },
    /// The node that gives the items does not exist.
    #[error("an edge goes from {from}, which is not in the plan, to {to}")]
    EdgeFromUnknown { from: NodeId, to: NodeId },
    /// The node that takes the items does not exist.
    #[error("an edge goes from {from} to {to}, which is not in the plan")]
    EdgeToUnknown { from: NodeName, to: NodeId },
    /// Items go forward along the plan, except those that go round again.
    #[error("an edge goes from {from} back to {to}")]
    EdgeBackwards { from: NodeName, to: NodeName },
    /// Items that go round again go back, to the node that gives them their index.
    #[error("items are to go round again from {from} to {to}, which is not before it in its domain")]
    BackForwards { from: NodeName, to: NodeName },
    /// An item would enter before it has left.
    #[error("items go round again from {from} to {to} 0 places later; at least 1 is needed")]
    NoPlaces { from: NodeName, to: NodeName },
    /// One edge carries everything that passes between two nodes.
    #[error("two edges go from {from} to {to}")]
    EdgeTwice { from: NodeName, to: NodeName },
    /// Between units, items are stored in slots.
    #[error("the edge from {from} to {to} is a plain call, but they are in different units")]
    CallBetweenUnits { from: NodeName, to: NodeName },
    /// Inside a unit, items are not stored.
    #[error("the edge from {from} to {to} is a lane, but they are in one unit")]
    LaneInsideUnit { from: NodeName, to: NodeName },
    /// The lane could hold no item.
    #[error("the lane from {from} to {to} has a window of 0; at least 1 is needed")]
    NoLaneWindow { from: NodeName, to: NodeName },
    /// Only the source waits for room, so a lane with fewer slots would overwrite items in flight.
    #[error(
        "the lane from {from} to {to} has a window of {window}, but {needed} of its domain may be in flight"
    )]
    LaneTooNarrow { from: NodeName, to: NodeName, window: usize, needed: usize },
    /// A burst would hand over nothing.
    #[error("the lane from {from} to {to} has bursts of 0 items; at least 1 is needed")]
    NoLaneBurst { from: NodeName, to: NodeName },
    /// The node would never be called.
    #[error("no edge goes to {node}")]
    NoInput { node: NodeName },
    /// The items that the node gives would be lost.
    #[error("no edge goes from {node}")]
    NoOutput { node: NodeName },
}

impl Plan {
    /// Checks every rule that an executor relies on.
    ///
    /// ```
    /// use anabranch_plan::{Plan, Node, PlanError, Settings};
    ///
    /// let mut plan = Plan::new(Settings::new(2, 64));
    /// plan.push(Node::source("from_iter"));
    /// let error = plan.validate().unwrap_err();
    /// assert_eq!(error.to_string(), "the plan ends with `from_iter` (#0), which is not a sink");
    /// ```
    ///
    /// # Errors
    ///
    /// The first rule that is broken: first those of the settings, then those of the nodes along the plan,
    /// then those of the edges.
    pub fn validate(&self) -> Result<(), PlanError> {
        self.check_settings()?;
        self.check_nodes()?;
        self.check_neighbours()?;
        self.check_edges()
    }

    /// Checks that this plan, which was made by changing `built`, can be run by the code that was written for
    /// `built`.
    ///
    /// Windows, bursts, replicas, placement, names, costs and settings may differ. Order may be given up, and
    /// serial neighbours may be fused.
    ///
    /// # Errors
    ///
    /// The errors of [`validate`](Self::validate), and an error for a change that the code does not allow.
    pub fn check_against(&self, built: &Plan) -> Result<(), PlanError> {
        self.validate()?;
        if self.nodes.len() != built.nodes.len() {
            return Err(PlanError::OtherNodes { expected: built.nodes.len(), found: self.nodes.len() });
        }
        for (node, before) in self.nodes.iter().zip(&built.nodes) {
            let other = |what| Err(PlanError::OtherCode { node: named(node), what });
            if node.operator != before.operator {
                return other("operator");
            }
            if node.role != before.role {
                return other("role");
            }
            if node.state != before.state {
                return other("state");
            }
            if node.schedule != before.schedule {
                return other("schedule");
            }
            if (node.branch, node.in_loop) != (before.branch, before.in_loop) {
                return other("branch or loop");
            }
            if node.in_blocks && !before.in_blocks {
                return other("blocks");
            }
            if node.state == State::PerReplica && node.replicas != before.replicas {
                return other("number of shards");
            }
        }
        let same = |a: &Edge, b: &Edge| (a.from, a.to, &a.item) == (b.from, b.to, &b.item);
        if self.edges.len() != built.edges.len()
            || !self.edges.iter().zip(&built.edges).all(|(a, b)| same(a, b))
        {
            return Err(PlanError::OtherEdges);
        }
        for edge in &self.edges {
            let (from, to) = (edge.from.0, edge.to.0);
            let is_parallel = self.nodes[to].role.is_parallel() || self.nodes[from].role.is_parallel();
            let together = |plan: &Plan| plan.nodes[from].unit == plan.nodes[to].unit;
            if is_parallel && together(self) != together(built) {
                return Err(PlanError::OtherCode { node: named(&self.nodes[to]), what: "unit" });
            }
            let crosses = |plan: &Plan| plan.nodes[from].domain != plan.nodes[to].domain;
            let arrives = |plan: &Plan| plan.nodes[from].gives_arrivals() && !together(plan);
            if arrives(built) && !arrives(self) {
                return Err(PlanError::OtherCode { node: named(&self.nodes[from]), what: "order" });
            }
            // Code that was made to open a domain always opens one. In addition, a domain begins where
            // results arrive in any order.
            if crosses(self) != (crosses(built) || arrives(self)) {
                return Err(PlanError::OtherCode { node: named(&self.nodes[to]), what: "domain" });
            }
        }
        Ok(())
    }

    fn check_settings(&self) -> Result<(), PlanError> {
        if self.settings.workers == 0 {
            return Err(PlanError::NoWorkers);
        }
        if self.settings.window == 0 {
            return Err(PlanError::NoWindow);
        }
        if self.settings.burst == Burst::Fixed(0) {
            return Err(PlanError::NoBurst);
        }
        match self.domains.iter().position(|domain| domain.window == 0) {
            Some(domain) => Err(PlanError::NoDomainWindow { domain }),
            None => Ok(()),
        }
    }

    fn check_nodes(&self) -> Result<(), PlanError> {
        let (Some(first), Some(last)) = (self.nodes.first(), self.nodes.last()) else {
            return Err(PlanError::Empty);
        };
        if let Some((index, node)) = self.nodes.iter().enumerate().find(|(index, node)| node.id.0 != *index) {
            return Err(PlanError::IdOutOfOrder { node: named(node), index });
        }
        if first.role != Role::Source {
            return Err(PlanError::FirstIsNotSource { node: named(first) });
        }
        if last.role != Role::Sink {
            return Err(PlanError::LastIsNotSink { node: named(last) });
        }
        for node in &self.nodes {
            let name = || named(node);
            match node.role {
                Role::Source if node.id != first.id => return Err(PlanError::SourceInside { node: name() }),
                Role::Sink if node.id != last.id => return Err(PlanError::SinkInside { node: name() }),
                Role::Parallel | Role::Serial | Role::Sink if node.in_blocks => {
                    return Err(PlanError::BlocksInside { node: name() });
                }
                Role::Source if node.in_blocks && self.nodes.iter().any(Node::gives_arrivals) => {
                    return Err(PlanError::BlocksOutOfOrder { node: name() });
                }
                Role::Parallel if node.state == State::Serial => {
                    return Err(PlanError::SharedState { node: name() });
                }
                Role::Parallel if node.keeps_indices() && !node.ordered => {
                    return Err(PlanError::ArrivalsInside { node: name() });
                }
                Role::Parallel if node.placement == Placement::Dedicated => {
                    return Err(PlanError::DedicatedParallel { node: name() });
                }
                _ => {}
            }
            match node.replicas {
                Some(0) => return Err(PlanError::NoReplicas { node: name() }),
                Some(replicas @ 2..) if !node.role.is_parallel() => {
                    return Err(PlanError::SerialReplicated { node: name(), replicas });
                }
                _ => {}
            }
            if let Some(Rate { given, taken: 0 }) = node.rate {
                return Err(PlanError::RateOfNothing { node: name(), given });
            }
            match self.domains.get(node.domain) {
                None => return Err(PlanError::UnknownDomain { node: name(), domain: node.domain }),
                Some(domain) if node.ordered && !domain.ordered && !node.keeps_indices() => {
                    return Err(PlanError::OrderedInUnorderedDomain { node: name(), domain: node.domain });
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn check_neighbours(&self) -> Result<(), PlanError> {
        let first = &self.nodes[0];
        if first.domain != 0 {
            return Err(PlanError::DomainOutOfOrder { node: named(first), expected: 0, found: first.domain });
        }
        if first.unit != 0 {
            return Err(PlanError::UnitOutOfOrder { node: named(first), expected: 0, found: first.unit });
        }
        for (before, node) in self.nodes.iter().zip(&self.nodes[1..]) {
            let (earlier, name) = (|| named(before), || named(node));
            if node.domain != before.domain && node.domain != before.domain + 1 {
                let (expected, found) = (before.domain, node.domain);
                return Err(PlanError::DomainOutOfOrder { node: name(), expected, found });
            }
            if node.unit != before.unit && node.unit != before.unit + 1 {
                let (expected, found) = (before.unit, node.unit);
                return Err(PlanError::UnitOutOfOrder { node: name(), expected, found });
            }
            if node.unit == before.unit {
                let unit = node.unit;
                if node.role.is_parallel() != before.role.is_parallel() {
                    return Err(PlanError::UnitMixesSerialAndParallel {
                        unit,
                        before: earlier(),
                        node: name(),
                    });
                }
                if node.domain != before.domain {
                    return Err(PlanError::UnitSpansDomains { unit, before: earlier(), node: name() });
                }
            }
            if node.domain == before.domain && node.ordered && !before.ordered && !node.keeps_indices() {
                return Err(PlanError::OrderedAfterUnordered { node: name(), before: earlier() });
            }
        }
        let used = self.nodes.last().map_or(0, |last| last.domain + 1);
        if used < self.domains.len() { Err(PlanError::EmptyDomain { domain: used }) } else { Ok(()) }
    }

    fn check_edges(&self) -> Result<(), PlanError> {
        let mut seen = HashSet::new();
        for edge in &self.edges {
            self.check_edge(edge)?;
            if !seen.insert((edge.from, edge.to)) {
                let (from, to) = (named(&self.nodes[edge.from.0]), named(&self.nodes[edge.to.0]));
                return Err(PlanError::EdgeTwice { from, to });
            }
        }
        let givers: HashSet<NodeId> = self.edges.iter().map(|edge| edge.from).collect();
        let takers: HashSet<NodeId> = self.edges.iter().map(|edge| edge.to).collect();
        for node in &self.nodes {
            if node.role != Role::Source && !takers.contains(&node.id) {
                return Err(PlanError::NoInput { node: named(node) });
            }
            if node.role != Role::Sink && !givers.contains(&node.id) {
                return Err(PlanError::NoOutput { node: named(node) });
            }
        }
        Ok(())
    }

    fn check_edge(&self, edge: &Edge) -> Result<(), PlanError> {
        let Some(giver) = self.node(edge.from) else {
            return Err(PlanError::EdgeFromUnknown { from: edge.from, to: edge.to });
        };
        let from = named(giver);
        let Some(taker) = self.node(edge.to) else {
            return Err(PlanError::EdgeToUnknown { from, to: edge.to });
        };
        let to = named(taker);
        if giver.gives_arrivals() && giver.unit != taker.unit && giver.domain == taker.domain {
            return Err(PlanError::ArrivalsInsideDomain { from, to });
        }
        if let EdgeKind::Back { places } = edge.kind {
            if edge.to >= edge.from || giver.domain != taker.domain {
                return Err(PlanError::BackForwards { from, to });
            }
            return if places == 0 { Err(PlanError::NoPlaces { from, to }) } else { Ok(()) };
        }
        if edge.to <= edge.from {
            return Err(PlanError::EdgeBackwards { from, to });
        }
        match edge.kind {
            EdgeKind::Back { .. } => Ok(()),
            EdgeKind::Call if giver.unit != taker.unit => Err(PlanError::CallBetweenUnits { from, to }),
            EdgeKind::Call => Ok(()),
            EdgeKind::Lane { .. } if giver.unit == taker.unit => Err(PlanError::LaneInsideUnit { from, to }),
            EdgeKind::Lane { window: 0, .. } => Err(PlanError::NoLaneWindow { from, to }),
            EdgeKind::Lane { burst: Burst::Fixed(0), .. } => Err(PlanError::NoLaneBurst { from, to }),
            // Only the source waits for room, so a lane with fewer slots would overwrite items in flight.
            EdgeKind::Lane { window, .. } => match self.domains[giver.domain].window {
                needed if window < needed => Err(PlanError::LaneTooNarrow { from, to, window, needed }),
                _ => Ok(()),
            },
        }
    }
}

pub(crate) fn named(node: &Node) -> NodeName {
    NodeName { id: node.id, name: node.name.clone().into_owned() }
}

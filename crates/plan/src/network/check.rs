//! Checks whether a network makes sense.

use std::collections::BTreeSet;

use crate::validate::named;
use crate::{Edge, EdgeKind, Flow, Node, Placement, Plan, PlanError, Role, State};

/// The most items that a firing may ask for, and that a record may hold.
pub const MOST_ITEMS: usize = 1 << 32;
/// The most replicas of a rule.
pub const MOST_REPLICAS: usize = 1_024;

impl Plan {
    /// Checks every rule that the builder of a network relies on.
    pub(crate) fn check_network(&self) -> Result<(), PlanError> {
        if let Some((index, node)) = self.nodes.iter().enumerate().find(|(index, node)| node.id.0 != *index) {
            return Err(PlanError::IdOutOfOrder { node: named(node), index });
        }
        for node in &self.nodes {
            let name = || named(node);
            if node.role != Role::Rule {
                return Err(PlanError::StageInNetwork { node: name() });
            }
            if node.placement == Placement::Dedicated {
                return Err(PlanError::DedicatedRule { node: name() });
            }
            if node.firings == Some(0) {
                return Err(PlanError::NoFirings { node: name() });
            }
            match node.replicas {
                Some(0) => return Err(PlanError::NoReplicas { node: name() }),
                Some(replicas) if replicas > MOST_REPLICAS => {
                    return Err(PlanError::TooManyReplicas { node: name(), replicas, most: MOST_REPLICAS });
                }
                Some(replicas @ 2..) if node.state != State::None => {
                    return Err(PlanError::ReplicatedState { node: name(), replicas });
                }
                Some(2..)
                    if self.nodes.iter().any(|other| other.unit == node.unit && other.id != node.id) =>
                {
                    return Err(PlanError::ReplicatedUnit { node: name(), unit: node.unit });
                }
                _ => {}
            }
        }
        let (cores, workers) = (self.cores_of_rules().len(), self.settings.workers);
        if cores > workers {
            return Err(PlanError::TooManyCores { cores, workers });
        }
        let firings = self.repetitions()?;
        self.check_liveness(&firings)
    }

    /// The cores on which rules are placed, from the lowest to the highest number.
    pub fn cores_of_rules(&self) -> BTreeSet<usize> {
        let core = |node: &Node| match node.placement {
            Placement::Core(core) => Some(core),
            Placement::Workers | Placement::Dedicated => None,
        };
        self.nodes.iter().filter_map(core).collect()
    }

    /// Checks each edge by itself.
    pub(super) fn check_records(&self) -> Result<(), PlanError> {
        self.edges.iter().try_for_each(|edge| self.check_record(edge))
    }

    fn check_record(&self, edge: &Edge) -> Result<(), PlanError> {
        let Some(giver) = self.node(edge.from) else {
            return Err(PlanError::EdgeFromUnknown { from: edge.from, to: edge.to });
        };
        let Some(taker) = self.node(edge.to) else {
            return Err(PlanError::EdgeToUnknown { from: named(giver), to: edge.to });
        };
        let (from, to) = (named(giver), named(taker));
        let EdgeKind::Record(flow) = edge.kind else { return Err(PlanError::NoRecord { from, to }) };
        let Flow { produces, consumes, delay, .. } = flow;
        if produces == 0 {
            return Err(PlanError::NoRate { node: from.clone(), verb: "produces", from, to });
        }
        if consumes == 0 {
            return Err(PlanError::NoRate { node: to.clone(), verb: "consumes", from, to });
        }
        let items = produces.max(flow.sees()).max(delay).max(flow.horizon.unwrap_or(0));
        if items > MOST_ITEMS {
            return Err(PlanError::RateTooLarge { from, to, items });
        }
        let needed = produces.max(flow.sees()).max(delay);
        if let Some(horizon) = flow.horizon
            && horizon < needed
        {
            return Err(PlanError::HorizonTooNarrow { from, to, horizon, needed });
        }
        let is_copied = |node: &crate::Node| node.replicas.is_some_and(|replicas| replicas > 1);
        for node in [giver, taker].into_iter().filter(|node| is_copied(node)) {
            if edge.from == edge.to {
                return Err(PlanError::ReplicatedLoop { node: named(node) });
            }
            if delay > 0 {
                return Err(PlanError::ReplicatedDelay { node: named(node), from, to });
            }
        }
        if is_copied(taker) && flow.sees() > consumes {
            return Err(PlanError::ReplicatedPeek { node: to, from });
        }
        Ok(())
    }
}

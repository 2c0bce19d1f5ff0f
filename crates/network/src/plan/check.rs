//! Checks whether a network makes sense.

use std::collections::BTreeSet;

use crate::plan::error::named;
use crate::plan::{Edge, Node, Placement, Plan, PlanError, Record, Role, State};

/// The most items that a firing may ask for, and that a record may hold.
pub const MOST_ITEMS: usize = 1 << 32;
/// The most replicas of a rule.
pub const MOST_REPLICAS: usize = 1_024;

impl Plan {
    /// Checks every rule that [`Kernels`](crate::Kernels) rely on.
    ///
    /// # Errors
    ///
    /// The first rule that is broken: first those of the nodes, then those of the records.
    pub fn validate(&self) -> Result<(), PlanError> {
        if self.workers == 0 {
            return Err(PlanError::NoWorkers);
        }
        if self.nodes.is_empty() {
            return Err(PlanError::Empty);
        }
        if let Some((index, node)) = self.nodes.iter().enumerate().find(|(index, node)| node.id.0 != *index) {
            return Err(PlanError::IdOutOfOrder { node: named(node), index });
        }
        for node in &self.nodes {
            let name = || named(node);
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
        let (cores, workers) = (self.cores_of_rules().len(), self.workers);
        if cores > workers {
            return Err(PlanError::TooManyCores { cores, workers });
        }
        let firings = self.repetitions()?;
        if self.check_rules().is_ok() { self.check_liveness(&firings) } else { Ok(()) }
    }

    /// Checks that each node is a firing rule, so that all rates are known.
    pub(super) fn check_rules(&self) -> Result<(), PlanError> {
        match self.nodes.iter().find(|node| node.role != Role::Rule) {
            Some(node) => Err(PlanError::UnknownRates { node: named(node) }),
            None => Ok(()),
        }
    }

    /// The cores on which rules are placed, from the lowest to the highest number.
    pub fn cores_of_rules(&self) -> BTreeSet<usize> {
        let core = |node: &Node| match node.placement {
            Placement::Core(core) => Some(core),
            Placement::Workers => None,
        };
        self.nodes.iter().filter_map(core).collect()
    }

    /// Checks each edge by itself, and each record that is a node.
    pub(super) fn check_records(&self) -> Result<(), PlanError> {
        self.edges.iter().try_for_each(|edge| self.check_record(edge))?;
        self.nodes
            .iter()
            .try_for_each(|node| node.record.as_ref().map_or(Ok(()), |record| self.check_views(node, record)))
    }

    fn check_record(&self, edge: &Edge) -> Result<(), PlanError> {
        let Some(giver) = self.node(edge.from) else {
            return Err(PlanError::EdgeFromUnknown { from: edge.from, to: edge.to });
        };
        let Some(taker) = self.node(edge.to) else {
            return Err(PlanError::EdgeToUnknown { from: named(giver), to: edge.to });
        };
        let name = || self.edge_name(edge);
        let flow = edge.flow;
        let record = giver.record.as_ref().or(taker.record.as_ref()).map_or(flow, |record| record.flow);
        let ends = [
            (giver, "produces", flow.produces, flow.produces),
            (taker, "consumes", flow.consumes, flow.sees()),
        ];
        let rules = ends.into_iter().filter(|(node, ..)| node.role == Role::Rule);
        if let Some((node, verb, ..)) = rules.clone().find(|(_, _, rate, _)| *rate == 0) {
            return Err(PlanError::NoRate { node: named(node), verb, edge: name() });
        }
        let needs = rules.clone().map(|(node, _, _, needs)| (Some(node), needs));
        for (node, needed) in needs.chain([(None, record.delay)]) {
            match record.most() {
                Some(horizon) if horizon < needed && horizon <= MOST_ITEMS => {
                    let what = node.map_or("its delay".to_owned(), |node| named(node).to_string());
                    return Err(PlanError::HorizonTooNarrow { edge: name(), horizon, what, needed });
                }
                horizon if needed.max(horizon.unwrap_or(0)) > MOST_ITEMS => {
                    return Err(PlanError::RateTooLarge {
                        edge: name(),
                        items: needed.max(horizon.unwrap_or(0)),
                    });
                }
                _ => {}
            }
        }
        for (node, _, rate, sees) in rules {
            if let Some(range) = flow.range.filter(|range| range % rate != 0 || sees > rate) {
                return Err(PlanError::UnevenRange { node: named(node), edge: name(), rate, sees, range });
            }
            if node.replicas.is_none_or(|replicas| replicas < 2) {
                continue;
            }
            if edge.from == edge.to {
                return Err(PlanError::ReplicatedLoop { node: named(node) });
            }
            if record.delay > 0 {
                return Err(PlanError::ReplicatedDelay { node: named(node), edge: name() });
            }
            if sees > rate {
                return Err(PlanError::ReplicatedPeek { node: named(node), from: named(giver) });
            }
        }
        Ok(())
    }

    /// Checks that a record has not lost all views on one side.
    fn check_views(&self, node: &Node, record: &Record) -> Result<(), PlanError> {
        let others = |ids: Vec<crate::plan::NodeId>| {
            ids.into_iter().filter_map(|id| self.node(id)).map(named).collect()
        };
        let record_name = || anabranch_plan::drawing::plain(&node.name);
        match (record.writers.are_gone(), record.readers.are_gone()) {
            (true, false) => Err(PlanError::NoView {
                record: record_name(),
                side: "writer",
                what: "written",
                verb: "read",
                others: others(self.outputs(node.id).map(|edge| edge.to).collect()),
            }),
            (false, true) => Err(PlanError::NoView {
                record: record_name(),
                side: "reader",
                what: "read",
                verb: "written",
                others: others(self.inputs(node.id).map(|edge| edge.from).collect()),
            }),
            _ => Ok(()),
        }
    }
}

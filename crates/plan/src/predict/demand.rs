//! The demands of an item of the source on each unit.

use super::machine::Machine;
use super::prediction::PredictError;
use crate::{Burst, EdgeKind, NodeId, Placement, Plan, Role};

/// The demands of an item of the source on a plan.
#[derive(Debug)]
pub(crate) struct Demands {
    pub(crate) units: Vec<UnitDemand>,
    /// For each node, the nanoseconds for an item of the source, without overhead.
    pub(crate) nodes: Vec<f64>,
    /// The part of `nodes` that needs a processor.
    pub(crate) processor: Vec<f64>,
    /// For each domain, how many of its items are made from one item of the source.
    pub(crate) indices: Vec<f64>,
    /// The nanoseconds of the plain loop for an item of the source.
    pub(crate) sequential: f64,
    /// The nanoseconds for an item that passes each node once and never waits.
    pub(crate) alone: f64,
    /// Nodes without a cost.
    pub(crate) unknown: Vec<NodeId>,
}

/// The demands of an item of the source on a unit.
#[derive(Debug)]
pub(crate) struct UnitDemand {
    /// The index of its first node.
    pub(crate) first: usize,
    /// How many nodes it has.
    pub(crate) len: usize,
    pub(crate) parallel: bool,
    pub(crate) dedicated: bool,
    pub(crate) domain: usize,
    /// The nanoseconds in it for an item of the source, including its share of the lanes.
    pub(crate) time: f64,
    /// The part of `time` that needs a processor.
    pub(crate) processor: f64,
    /// The nanoseconds in it for one of its own items, without overhead.
    pub(crate) each: f64,
    /// The most simultaneous calls, if they are bounded.
    pub(crate) replicas: Option<usize>,
    /// How many items a claim takes, if this is fixed at more than 1.
    pub(crate) burst: Option<usize>,
}

impl UnitDemand {
    /// The node of the unit that costs most.
    pub(crate) fn dearest(&self, demands: &Demands) -> NodeId {
        dearest(self.first..self.first + self.len, &demands.nodes)
    }
}

/// The first node in `range` that has the greatest of the `values`.
pub(super) fn dearest(range: impl Iterator<Item = usize>, values: &[f64]) -> NodeId {
    let dearer = |best: usize, index: usize| if values[index] > values[best] { index } else { best };
    NodeId(range.reduce(dearer).unwrap_or(0))
}

impl Demands {
    pub(crate) fn of(plan: &Plan, machine: &Machine) -> Result<Demands, PredictError> {
        plan.validate()?;
        if machine.cores == 0 {
            return Err(PredictError::NoCores);
        }
        let count = plan.nodes.len();
        // For one item of the source: the items that node k takes, and the slots that it leaves, filled or
        // empty. Edges go forward, so everything that reaches a node is known before the node.
        let (mut taken, mut given) = (vec![0.0_f64; count], vec![0.0; count]);
        let mut indices = vec![1.0; plan.domains.len()];
        taken[0] = 1.0;
        for (id, node) in plan.nodes.iter().enumerate() {
            let arriving = plan.edges.iter().filter(|edge| edge.to.0 == id).map(|edge| given[edge.from.0]);
            taken[id] = arriving.fold(taken[id], f64::max);
            let rate = node.rate.map_or(1.0, |rate| rate.given as f64 / rate.taken as f64);
            // One item of the source counts as 1, so the rate of the source has no meaning.
            given[id] = if node.role == Role::Source { 1.0 } else { taken[id] * rate };
            if id > 0 && node.domain != plan.nodes[id - 1].domain {
                indices[node.domain] = given[id];
            }
        }
        let each = |id: usize| plan.nodes[id].cost.unwrap_or(0) as f64;
        // The part of the cost that needs a processor: the time in which the node does not wait.
        let waits = |id: usize| {
            let waits = (plan.nodes[id].waits.unwrap_or(0) as f64).min(each(id));
            (waits - machine.overhead.wake).max(0.0)
        };
        let nodes: Vec<f64> = (0..count).map(|id| taken[id] * each(id)).collect();
        let processor: Vec<f64> = (0..count).map(|id| taken[id] * (each(id) - waits(id))).collect();
        let sequential: f64 = nodes.iter().sum();
        if sequential <= 0.0 {
            return Err(PredictError::NoCosts);
        }
        let mut alone: f64 = (0..count).map(each).sum();
        let mut units: Vec<UnitDemand> = Vec::new();
        for members in plan.nodes.chunk_by(|a, b| a.unit == b.unit) {
            let range = members[0].id.0..members[0].id.0 + members.len();
            units.push(UnitDemand {
                first: range.start,
                len: range.len(),
                parallel: members[0].role.is_parallel(),
                dedicated: members.iter().any(|node| node.placement == Placement::Dedicated),
                domain: members[0].domain,
                time: nodes[range.clone()].iter().sum(),
                processor: processor[range.clone()].iter().sum(),
                each: range.map(each).sum(),
                replicas: members.iter().filter_map(|node| node.replicas).min(),
                burst: None,
            });
        }
        for edge in &plan.edges {
            let EdgeKind::Lane { burst, .. } = edge.kind else { continue };
            let (giver, taker) = (plan.nodes[edge.from.0].unit, plan.nodes[edge.to.0].unit);
            // A dropped item is an empty slot in later lanes, and passing the slot costs the same.
            let slots = indices[plan.nodes[edge.from.0].domain];
            let half = slots * machine.overhead.lane / 2.0;
            for unit in [giver, taker] {
                units[unit].time += half;
                units[unit].processor += half;
            }
            alone += machine.overhead.lane;
            // With claims of one item there are as many claims as the window has items, and the window is a
            // bound already.
            if let (Burst::Fixed(items @ 2..), true) = (burst, units[taker].parallel) {
                let before = units[taker].burst.unwrap_or(0);
                units[taker].burst = Some(items.max(before));
            }
        }
        let unknown = plan.nodes.iter().filter(|node| node.cost.is_none()).map(|node| node.id).collect();
        Ok(Demands { units, nodes, processor, indices, sequential, alone, unknown })
    }
}

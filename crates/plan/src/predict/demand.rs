//! What an item of the source asks of each unit.

use super::{Machine, PredictError};
use crate::{Burst, EdgeKind, NodeId, Placement, Plan, Role};

/// What an item of the source asks of a plan.
#[derive(Debug)]
pub(crate) struct Demands {
    pub(crate) units: Vec<UnitDemand>,
    /// Nanoseconds of each node for an item of the source, without overhead.
    pub(crate) nodes: Vec<f64>,
    /// The part of `nodes` that needs a processor.
    pub(crate) processor: Vec<f64>,
    /// For each domain, how many of its items one of the source becomes.
    pub(crate) indices: Vec<f64>,
    /// Nanoseconds of the plain loop for an item of the source.
    pub(crate) sequential: f64,
    /// Nanoseconds for an item that passes each node once and waits for nobody.
    pub(crate) alone: f64,
    /// Nodes without a cost.
    pub(crate) unknown: Vec<NodeId>,
}

/// What an item of the source asks of a unit.
#[derive(Debug)]
pub(crate) struct UnitDemand {
    /// Index of its first node, and how many there are.
    pub(crate) first: usize,
    pub(crate) len: usize,
    pub(crate) parallel: bool,
    pub(crate) dedicated: bool,
    pub(crate) domain: usize,
    /// Nanoseconds in it for an item of the source, with its share of the lanes.
    pub(crate) time: f64,
    /// The part of `time` that needs a processor.
    pub(crate) processor: f64,
    /// Nanoseconds in it for one of its own items, without overhead.
    pub(crate) each: f64,
    /// The most simultaneous calls, where somebody bounded them.
    pub(crate) replicas: Option<usize>,
    /// How many items a claim takes, where that is fixed at more than 1.
    pub(crate) burst: Option<usize>,
}

impl UnitDemand {
    /// The dearest of its nodes.
    pub(crate) fn dearest(&self, demands: &Demands) -> NodeId {
        dearest(self.first..self.first + self.len, &demands.nodes)
    }
}

/// The first of the nodes in `range` that has the greatest of the `values`.
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
        // Items that node k takes, and slots that it leaves filled or empty, for one of the source. Edges go
        // forward, so all that goes into a node is known when it is reached.
        let (mut taken, mut given) = (vec![0.0_f64; count], vec![0.0; count]);
        let mut indices = vec![1.0; plan.domains.len()];
        taken[0] = 1.0;
        for (id, node) in plan.nodes.iter().enumerate() {
            let arriving = plan.edges.iter().filter(|edge| edge.to.0 == id).map(|edge| given[edge.from.0]);
            taken[id] = arriving.fold(taken[id], f64::max);
            let rate = node.rate.map_or(1.0, |rate| rate.given as f64 / rate.taken as f64);
            // The source gives what one item is: its rate says nothing.
            given[id] = if node.role == Role::Source { 1.0 } else { taken[id] * rate };
            if id > 0 && node.domain != plan.nodes[id - 1].domain {
                indices[node.domain] = given[id];
            }
        }
        let each = |id: usize| plan.nodes[id].cost.unwrap_or(0) as f64;
        // What a wait leaves of a processor to others.
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
            // A dropped item is an empty slot in the lanes behind, and costs its passing all the same.
            let slots = indices[plan.nodes[edge.from.0].domain];
            let half = slots * machine.overhead.lane / 2.0;
            for unit in [giver, taker] {
                units[unit].time += half;
                units[unit].processor += half;
            }
            alone += machine.overhead.lane;
            // Claims of one item are as many as the window has, and the window is a bound already.
            if let (Burst::Fixed(items @ 2..), true) = (burst, units[taker].parallel) {
                let before = units[taker].burst.unwrap_or(0);
                units[taker].burst = Some(items.max(before));
            }
        }
        let unknown = plan.nodes.iter().filter(|node| node.cost.is_none()).map(|node| node.id).collect();
        Ok(Demands { units, nodes, processor, indices, sequential, alone, unknown })
    }
}

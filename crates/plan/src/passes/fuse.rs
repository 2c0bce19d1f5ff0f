//! The pass that joins serial neighbours into one unit.

use super::known::{is_alone, known_cost, names, workers};
use super::note::{Note, Pass};
use crate::predict::{Bounds, Demands};
use crate::quantity::span;
use crate::{Edge, EdgeKind, Machine, Node, NodeId, Placement, Plan};

/// Serial neighbours that together take longer than this, in nanoseconds, are not fused, so that two workers
/// can run them. (Fused, two serial stages of 10 µs would have half of their throughput.)
pub const FUSE_NS: u64 = 1_000;

/// Fuses neighbouring serial units that take little time, so that items pass between them by a plain call.
///
/// Two units are fused if they are in one domain, one lane joins them and nothing else does, neither has a
/// thread of its own, they take at most [`FUSE_NS`] an item together, and the plan is not predicted to become
/// slower. With one worker they are always fused.
///
/// ```
/// use anabranch_plan::passes::fuse_serial_neighbours;
/// use anabranch_plan::{ItemType, Machine, Node, Plan, Settings};
///
/// let mut plan = Plan::new(Settings::new(4, 256));
/// plan.push(Node::source("read").cost(300));
/// plan.then(ItemType::of::<u64>(), Node::serial("number").cost(20));
/// plan.then(ItemType::of::<u64>(), Node::parallel("encode").cost(30_000));
/// plan.then(ItemType::of::<u64>(), Node::sink("write").cost(5_000));
/// fuse_serial_neighbours(&mut plan, &Machine::new(4));
/// let units: Vec<usize> = plan.nodes.iter().map(|node| node.unit).collect();
/// assert_eq!(units, [0, 0, 1, 2]);
/// ```
pub fn fuse_serial_neighbours(plan: &mut Plan, machine: &Machine) -> Vec<Note> {
    let mut notes = Vec::new();
    if plan.validate().is_err() {
        return notes;
    }
    // A fusion may allow another one before it, so this goes on until nothing changes.
    while let Some((fused, note)) = (1..plan.nodes.len()).find_map(|at| fuse_before(plan, at, machine)) {
        *plan = fused;
        notes.push(note);
    }
    notes
}

/// The plan in which the unit that begins with node `at` is fused with the one before it, if this is worth
/// it.
fn fuse_before(plan: &Plan, at: usize, machine: &Machine) -> Option<(Plan, Note)> {
    let (before, after) = (&plan.nodes[at - 1], &plan.nodes[at]);
    let is_apart = before.unit != after.unit;
    let is_serial = !before.role.is_parallel() && !after.role.is_parallel();
    if !is_apart || !is_serial || before.domain != after.domain || before.ordered != after.ordered {
        return None;
    }
    let both: Vec<Node> =
        plan.nodes.iter().filter(|node| [before.unit, after.unit].contains(&node.unit)).cloned().collect();
    if both.iter().any(|node| node.placement == Placement::Dedicated) || !is_joined_by_one(plan, at) {
        return None;
    }
    let fused = fused(plan, at);
    let why = if is_alone(plan) {
        "with one worker there is no other to hand items to".to_owned()
    } else {
        let cost = known_cost(&both).filter(|cost| *cost <= FUSE_NS as f64)?;
        if time(&fused, machine)? > time(plan, machine)? * (1.0 + 1e-9) {
            return None;
        }
        format!("{} an item are too little to hand over", span(cost))
    };
    let all = if both.len() == 2 { "both" } else { "all" };
    let text = format!("{} run as one: {all} are serial, and {why}", names(&both));
    Some((fused, Note { pass: Pass::Fuse, node: both[0].id, text }))
}

/// Whether the edge from the previous node to node `at` is the only one that leaves the one and the only one
/// that reaches the other.
fn is_joined_by_one(plan: &Plan, at: usize) -> bool {
    let (before, after) = (NodeId(at - 1), NodeId(at));
    let (from, to) = (plan.nodes[at - 1].unit, plan.nodes[at].unit);
    let joins = |edge: &&Edge| {
        let units = (plan.nodes[edge.from.0].unit, plan.nodes[edge.to.0].unit);
        edge.from == before || edge.to == after || units == (from, to)
    };
    let mut joining = plan.edges.iter().filter(joins);
    joining.next().is_some_and(|edge| edge.from == before && edge.to == after) && joining.next().is_none()
}

fn fused(plan: &Plan, at: usize) -> Plan {
    let mut fused = plan.clone();
    for node in &mut fused.nodes[at..] {
        node.unit -= 1;
    }
    for edge in &mut fused.edges {
        if edge.to == NodeId(at) {
            edge.kind = EdgeKind::Call;
        }
    }
    fused
}

fn time(plan: &Plan, machine: &Machine) -> Option<f64> {
    let demands = Demands::of(plan, machine).ok()?;
    Some(Bounds::new(plan, &demands, machine).by_costs_alone(workers(plan)))
}

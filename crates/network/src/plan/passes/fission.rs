//! The pass that copies rules without state.

use super::known::{is_joined, loads, name, workers};
use crate::plan::MOST_REPLICAS;
use crate::plan::{Machine, NodeId, Note, Pass, Plan, State};
use anabranch_plan::quantity::span;

/// A rule is copied only if a firing takes at least this many times the overhead of a firing: copies run on other
/// threads, and handing their items over would cost as much as they save. With the measured overhead this is about 1
/// µs.
const LEAST_FIRING_OVERHEADS: f64 = 45.0;
/// A rule is copied if it takes this many times its share.
const ROOM: f64 = 1.05;

pub(super) fn apply(plan: &mut Plan, machine: &Machine) -> Vec<Note> {
    let Some(loads) = loads(plan, machine) else { return Vec::new() };
    let workers = workers(plan, machine);
    if workers == 1 {
        return Vec::new();
    }
    let may_be_copied: Vec<bool> =
        (0..plan.nodes.len()).map(|node| may_be_copied(plan, machine, NodeId(node))).collect();
    // No copies make an iteration shorter than this.
    let serial = loads.iter().zip(&may_be_copied).filter(|(_, may)| !**may).map(|(load, _)| *load);
    let least = serial.fold(loads.iter().sum::<f64>() / workers as f64, f64::max);
    let mut notes = Vec::new();
    for at in 0..plan.nodes.len() {
        if !may_be_copied[at] || loads[at] <= ROOM * least {
            continue;
        }
        let copies = ((loads[at] / least).ceil() as usize).clamp(2, workers.min(MOST_REPLICAS));
        let node = &mut plan.nodes[at];
        node.replicas = Some(copies);
        let text = format!(
            "{} runs in {copies} copies: it has no state, and one copy would take {} of an iteration, which could otherwise take {}",
            name(node),
            span(loads[at]),
            span(least)
        );
        notes.push(Note { pass: Pass::Fission, node: NodeId(at), text });
    }
    notes
}

/// Whether copies of the rule give what the rule gives: it has no state, sees only what it consumes, and no item
/// is in its records from the start.
fn may_be_copied(plan: &Plan, machine: &Machine, id: NodeId) -> bool {
    let node = &plan.nodes[id.0];
    let is_free = node.state == State::None && node.replicas.is_none() && !is_joined(plan, node);
    let is_worth_it =
        node.cost.is_some_and(|cost| cost as f64 >= LEAST_FIRING_OVERHEADS * machine.overhead.firing);
    let mut has_input = false;
    let ports_allow = plan.edges.iter().map(|edge| (edge, edge.flow)).all(|(edge, flow)| {
        let (reads, writes) = (edge.to == id, edge.from == id);
        has_input |= reads;
        match (reads, writes) {
            (false, false) => true,
            (true, true) => false,
            _ => flow.delay == 0 && flow.horizon.is_none() && (!reads || flow.sees() == flow.consumes),
        }
    });
    // A source decides when the stream ends, so there is only one copy of it.
    is_free && is_worth_it && ports_allow && has_input
}

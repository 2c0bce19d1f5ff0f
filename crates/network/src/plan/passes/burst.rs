//! The pass that chooses how many times in a row a rule fires.

use super::known::name;
use crate::plan::{Machine, NodeId, Note, Pass, Plan};
use anabranch_plan::quantity::{count, span};

/// The share of a turn that handing the rule on should cost. It is small enough to be negligible, and large enough that
/// other rules get their turns soon.
const SHARE: f64 = 0.003;
const MOST_FIRINGS: f64 = 256.0;

pub(super) fn apply(plan: &mut Plan, machine: &Machine) -> Vec<Note> {
    let turn = machine.overhead.turn / SHARE;
    let mut notes = Vec::new();
    for at in 0..plan.nodes.len() {
        let node = &mut plan.nodes[at];
        let Some(cost) = node.cost.filter(|_| node.firings.is_none()) else { continue };
        let each = cost as f64 + machine.overhead.firing;
        let firings = (turn / each.max(1.0)).clamp(1.0, MOST_FIRINGS) as usize;
        node.firings = Some(firings);
        let text = format!(
            "{} fires up to {} in a row: that is {} of work",
            name(node),
            count(firings, "time"),
            span(each * firings as f64)
        );
        notes.push(Note { pass: Pass::Burst, node: NodeId(at), text });
    }
    notes
}

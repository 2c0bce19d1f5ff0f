//! The pass that chooses how many times in a row a rule fires.

use super::{Note, Pass, name};
use crate::network::FIRING_NS;
use crate::quantity::{count, span};
use crate::{NodeId, Plan};

/// How long a turn should take, in nanoseconds: much longer than handing the rule on, and short enough for
/// others to get their turns.
const TURN: f64 = 10_000.0;
const MOST_FIRINGS: f64 = 256.0;

pub(super) fn apply(plan: &mut Plan) -> Vec<Note> {
    let mut notes = Vec::new();
    for at in 0..plan.nodes.len() {
        let node = &mut plan.nodes[at];
        let Some(cost) = node.cost.filter(|_| node.firings.is_none()) else { continue };
        let each = cost as f64 + FIRING_NS;
        let firings = (TURN / each).clamp(1.0, MOST_FIRINGS) as usize;
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

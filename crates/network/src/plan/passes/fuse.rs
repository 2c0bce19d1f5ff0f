//! The pass that joins rules into units.

use super::known::{copies, is_joined, loads, name, workers};
use crate::plan::{Machine, NodeId, Note, Pass, Plan};
use anabranch_plan::quantity::span;

/// Two rules are joined only if a firing of the cheaper one takes less than this many times the cost of a turn. For
/// longer firings the cost of a turn is negligible. With the measured overhead this is 2 µs.
const MOST_TURN_COSTS: f64 = 67.0;
/// A unit has at most this many rules, since its worker looks at all of them.
const MOST_RULES: usize = 16;

pub(super) fn apply(plan: &mut Plan, machine: &Machine) -> Vec<Note> {
    let Some(loads) = loads(plan, machine) else { return Vec::new() };
    let workers = workers(plan, machine);
    let unit_load = |plan: &Plan, unit: usize| -> f64 {
        plan.nodes.iter().zip(&loads).filter(|(node, _)| node.unit == unit).map(|(_, load)| *load).sum()
    };
    let shared = loads.iter().sum::<f64>() / workers as f64;
    let each = plan.nodes.iter().map(|node| unit_load(plan, node.unit) / copies(node) as f64);
    let least = each.fold(shared, f64::max);
    // Units of several rules were set by somebody, and stay.
    let set: Vec<bool> = plan.nodes.iter().map(|node| is_joined(plan, node)).collect();
    let firings = plan.repetitions().unwrap_or_default();
    // The edges over which most firings are handed on come first.
    let mut order: Vec<usize> = (0..plan.edges.len()).collect();
    order.sort_by_key(|at| {
        let edge = &plan.edges[*at];
        std::cmp::Reverse(firings[edge.from.0].max(firings[edge.to.0]))
    });
    let mut notes = Vec::new();
    for at in order {
        let (from, to) = (plan.edges[at].from.0, plan.edges[at].to.0);
        let (a, b) = (&plan.nodes[from], &plan.nodes[to]);
        if a.unit == b.unit || set[from] || set[to] || copies(a) > 1 || copies(b) > 1 {
            continue;
        }
        let cheap = a.cost.unwrap_or(0).min(b.cost.unwrap_or(0)) as f64 + machine.overhead.firing;
        let both = unit_load(plan, a.unit) + unit_load(plan, b.unit);
        let rules = plan.nodes.iter().filter(|node| [a.unit, b.unit].contains(&node.unit)).count();
        if cheap >= MOST_TURN_COSTS * machine.overhead.turn
            || both > least * (1.0 + 1e-9)
            || rules > MOST_RULES
        {
            continue;
        }
        let why = if workers == 1 {
            "with one worker there is no other to hand them to".to_owned()
        } else {
            format!(
                "together they take {} of an iteration of {}, and a turn costs {}",
                span(both),
                span(least),
                span(machine.overhead.turn)
            )
        };
        let text = format!("{} and {} are fired by turns: {why}", name(a), name(b));
        let (keep, drop) = (a.unit.min(b.unit), a.unit.max(b.unit));
        for node in plan.nodes.iter_mut().filter(|node| node.unit == drop) {
            node.unit = keep;
        }
        notes.push(Note { pass: Pass::Fuse, node: NodeId(from), text });
    }
    notes
}

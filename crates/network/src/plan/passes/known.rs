//! The knowledge that passes have of a network: its workers, its copies, and what its rules cost.

use crate::plan::{Machine, Node, Plan, Role};
use anabranch_plan::drawing::plain;

/// How many workers have a core.
pub(super) fn workers(plan: &Plan, machine: &Machine) -> usize {
    plan.workers.min(machine.cores).max(1)
}

/// The time of each rule in an iteration, in nanoseconds. `None` if a cost is not known.
pub(super) fn loads(plan: &Plan, machine: &Machine) -> Option<Vec<f64>> {
    let firings = plan.repetitions().ok()?;
    let load =
        |(node, firings): (&Node, u64)| Some((node.cost? as f64 + machine.overhead.firing) * firings as f64);
    plan.nodes.iter().zip(firings).map(load).collect()
}

/// Whether several rules share the unit of a rule.
pub(super) fn is_joined(plan: &Plan, node: &Node) -> bool {
    plan.nodes.iter().any(|other| other.unit == node.unit && other.id != node.id)
}

pub(super) fn copies(node: &Node) -> usize {
    node.replicas.unwrap_or(1).max(1)
}

/// The name of a rule in backquotes.
pub(super) fn name(node: &Node) -> String {
    debug_assert_eq!(node.role, Role::Rule);
    format!("`{}`", plain(&node.name))
}

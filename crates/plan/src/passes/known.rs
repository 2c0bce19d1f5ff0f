//! The knowledge that passes have of a plan: who shares its work, and what its nodes cost.

use crate::predict::{Bounds, Demands};
use crate::{Executor, Machine, Node, Placement, Plan};

/// How many threads share the work of the plan, without the threads of dedicated nodes.
pub(super) fn workers(plan: &Plan) -> usize {
    if plan.settings.executor == Executor::Inline { 1 } else { plan.settings.workers }
}

/// Whether the run has one thread only, so that items are never handed over.
pub(super) fn is_alone(plan: &Plan) -> bool {
    let dedicated = plan.nodes.iter().any(|node| node.placement == Placement::Dedicated);
    plan.settings.executor == Executor::Inline || (plan.settings.workers == 1 && !dedicated)
}

/// The demands of a plan and the time between two items that they allow. `None` if one thread runs the plan,
/// or its costs are not known.
pub(super) fn demands(plan: &Plan, machine: &Machine) -> Option<(Demands, f64)> {
    if is_alone(plan) {
        return None;
    }
    let demands = Demands::of(plan, machine).ok()?;
    let time = Bounds::new(plan, &demands, machine).by_costs_alone(workers(plan));
    Some((demands, time))
}

/// The sum of the costs of the nodes, if all of them are known.
pub(super) fn known_cost(nodes: &[Node]) -> Option<f64> {
    nodes.iter().map(|node| node.cost.map(|cost| cost as f64)).sum()
}

/// The names of the nodes in backquotes: `` `read` and `number` ``.
pub(super) fn names(nodes: &[Node]) -> String {
    let names: Vec<String> =
        nodes.iter().map(|node| format!("`{}`", crate::wording::plain(&node.name))).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

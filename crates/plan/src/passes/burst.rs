//! The pass that chooses how many items a worker takes at once.

use super::known::{demands, known_cost, names, workers};
use super::note::{Note, Pass};
use crate::quantity::{count, span};
use crate::{Burst, EdgeKind, Machine, NodeId, Plan};

/// The time that a claim should take, in nanoseconds. A claim itself costs about 0.3 µs, which is 3 % of
/// this. A claim of more than 20 µs would leave too little for other workers.
const TARGET_CLAIM_NS: f64 = 10_000.0;
/// The most items in a claim. A longer claim takes up too much of the window.
const MOST_ITEMS: f64 = 256.0;

/// Fixes how many items a worker takes at once from the lanes into parallel units of known cost. Without this
/// pass the executor finds it out while it runs.
///
/// A claim gets 10 µs of work, but at most 256 items, and at most half of a worker's share of the window.
/// Bursts that are fixed already do not change.
///
/// ```
/// use anabranch_plan::passes::choose_burst;
/// use anabranch_plan::{Burst, EdgeKind, ItemType, Machine, Node, Plan, Settings};
///
/// let mut plan = Plan::new(Settings::new(4, 4_096));
/// plan.push(Node::source("read").cost(100));
/// plan.then(ItemType::of::<u64>(), Node::parallel("parse").cost(500));
/// plan.then(ItemType::of::<u64>(), Node::sink("count").cost(20));
/// choose_burst(&mut plan, &Machine::new(4));
/// assert_eq!(plan.edges[0].kind, EdgeKind::Lane { window: 4_096, burst: Burst::Fixed(20) });
/// ```
pub fn choose_burst(plan: &mut Plan, machine: &Machine) -> Vec<Note> {
    let Some((demands, _)) = demands(plan, machine) else { return Vec::new() };
    let workers = workers(plan);
    let mut notes = Vec::new();
    for edge in &mut plan.edges {
        let unit = &demands.units[plan.nodes[edge.to.0].unit];
        let nodes = &plan.nodes[unit.first..unit.first + unit.len];
        let EdgeKind::Lane { burst: burst @ Burst::Adaptive, .. } = &mut edge.kind else { continue };
        if !unit.parallel || known_cost(nodes).is_none() {
            continue;
        }
        let by_cost = (TARGET_CLAIM_NS / unit.each.max(1.0)).clamp(1.0, MOST_ITEMS) as usize;
        let by_window = (plan.domains[unit.domain].window / workers.saturating_mul(2)).max(1);
        let items = by_cost.min(by_window);
        *burst = Burst::Fixed(items);
        let why = if by_window < by_cost {
            "more would leave too few in the window for the other workers".to_owned()
        } else if items == 1 {
            format!("one is {} of work", span(unit.each))
        } else {
            format!("that is {} of work, and a claim costs 0.3 µs", span(unit.each * items as f64))
        };
        let takes = if nodes.len() == 1 { "takes" } else { "take" };
        let text = format!("{} {takes} {} at once: {why}", names(nodes), count(items, "item"));
        notes.push(Note { pass: Pass::Burst, node: NodeId(unit.first), text });
    }
    notes
}

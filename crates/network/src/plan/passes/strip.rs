//! The pass that fits the records inside a unit into the cache.

use super::known::name;
use crate::plan::room::turn;
use crate::plan::{NodeId, Note, Pass, Plan};
use anabranch_plan::quantity::{bytes, count};

/// The records inside a unit should take no more than this, in bytes: half of the second-level cache that cores
/// have at least.
const CACHE_BYTES: usize = 128 * 1024;

/// Shortens the turns of units whose records take too much. `set_turns` says for each rule whether the user has set its turn,
/// which then stays.
pub(super) fn apply(plan: &mut Plan, set_turns: &[bool]) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut units: Vec<usize> = plan.nodes.iter().map(|node| node.unit).collect();
    units.sort_unstable();
    units.dedup();
    for unit in units {
        let members: Vec<usize> =
            (0..plan.nodes.len()).filter(|node| plan.nodes[*node].unit == unit).collect();
        // A unit is left alone if the cost of one of its rules is not known.
        if members.len() < 2 || members.iter().any(|node| plan.nodes[*node].cost.is_none()) {
            continue;
        }
        let before = inside(plan, unit);
        if before <= CACHE_BYTES {
            continue;
        }
        let free: Vec<usize> = members.iter().copied().filter(|node| !set_turns[*node]).collect();
        let mut shorter = plan.clone();
        while inside(&shorter, unit) > CACHE_BYTES {
            let mut changed = false;
            for &node in &free {
                let firings = turn(&shorter.nodes[node]);
                changed |= firings > 1;
                shorter.nodes[node].firings = Some((firings / 2).max(1));
            }
            if !changed {
                break;
            }
        }
        let after = inside(&shorter, unit);
        if after >= before {
            continue;
        }
        let first = members[0];
        let most = free.iter().map(|node| turn(&shorter.nodes[*node])).max().unwrap_or(1);
        let others: Vec<String> = members[1..].iter().map(|node| name(&plan.nodes[*node])).collect();
        let text = format!(
            "{} and {} fire at most {} in a row: the records between them take {} and not {}, for the cache of a core",
            name(&plan.nodes[first]),
            others.join(", "),
            count(most, "time"),
            bytes(after as u128),
            bytes(before as u128)
        );
        *plan = shorter;
        notes.push(Note { pass: Pass::Strip, node: NodeId(first), text });
    }
    notes
}

/// The memory of the records between the rules of a unit, in bytes.
fn inside(plan: &Plan, unit: usize) -> usize {
    let Ok(horizons) = plan.horizons() else { return 0 };
    let is_inside = |node: NodeId| plan.nodes[node.0].unit == unit;
    let records =
        plan.edges.iter().zip(horizons).filter(|(edge, _)| is_inside(edge.from) && is_inside(edge.to));
    records.map(|(edge, items)| items.saturating_mul(edge.item.size)).fold(0, usize::saturating_add)
}

//! The pass that bounds how many calls of a parallel stage run at once.

use super::known::{demands, known_cost, names, workers};
use super::note::{Note, Pass};
use crate::quantity::{percent, times};
use crate::{Machine, NodeId, Plan, Schedule, State};

/// A stage gets this many times the replicas that its mean cost requires, so that uneven items do not make it
/// the bottleneck.
const ROOM: f64 = 2.0;

/// Bounds the simultaneous calls of parallel units that need fewer calls than there are workers. Such units
/// exist if a serial stage is the bottleneck, or if there are many workers because another stage waits. The
/// bound saves states that are made for each worker, and workers do not compete for the cores.
///
/// A unit that takes *D* ns an item, in a plan that gives an item every *T* ns, needs *D* / *T* replicas (the
/// utilization law of Denning and Buzen, 1978). It gets twice as many. Units whose replicas are set or whose
/// items are dealt do not change. A unit that needs every worker gets no bound.
///
/// ```
/// use anabranch_plan::passes::choose_replicas;
/// use anabranch_plan::{ItemType, Machine, Node, Plan, Settings};
///
/// let mut plan = Plan::new(Settings::new(16, 256));
/// plan.push(Node::source("read").cost(10_000));
/// let encode = plan.then(ItemType::of::<u64>(), Node::parallel("encode").cost(30_000));
/// plan.then(ItemType::of::<u64>(), Node::sink("write").cost(500));
/// choose_replicas(&mut plan, &Machine::new(16));
/// assert_eq!(plan.nodes[encode.0].replicas, Some(6)); // 3 keep up with `read`
/// ```
pub fn choose_replicas(plan: &mut Plan, machine: &Machine) -> Vec<Note> {
    let Some((demands, time)) = demands(plan, machine) else { return Vec::new() };
    let workers = workers(plan);
    let mut notes = Vec::new();
    for unit in demands.units.iter().filter(|unit| unit.parallel && unit.time > 0.0) {
        let nodes = &mut plan.nodes[unit.first..unit.first + unit.len];
        let is_free = nodes.iter().all(|node| {
            node.replicas.is_none() && node.schedule == Schedule::OnDemand && node.state != State::PerReplica
        });
        let needed = unit.time / time;
        let replicas = (ROOM * needed - 1e-9).ceil().max(1.0) as usize;
        if !is_free || known_cost(nodes).is_none() || replicas >= workers {
            continue;
        }
        for node in nodes.iter_mut() {
            node.replicas = Some(replicas);
        }
        let (runs, share) = if nodes.len() == 1 { ("runs", "it keeps") } else { ("run", "they keep") };
        let busy = if needed < 1.0 {
            format!("one worker busy for {} of the time", percent(needed))
        } else {
            format!("{} of {workers} workers busy", times(needed))
        };
        let text = format!(
            "{} {runs} at most {} at once: {share} {busy}, and twice that leaves room for uneven items",
            names(nodes),
            if replicas == 1 { "one".to_owned() } else { replicas.to_string() },
        );
        notes.push(Note { pass: Pass::Replicas, node: NodeId(unit.first), text });
    }
    notes
}

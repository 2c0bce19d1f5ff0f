//! Passes over networks. They change only units, replicas, turns, horizons and the placement of rules. So the items that pass
//! through each record stay the same. They respect what is set: replicas, turns, horizons and units of several rules do not
//! change. The costs of firings and turns are those of the [`Machine`].

mod burst;
mod fission;
mod fuse;
mod horizon;
mod known;
mod place;
mod strip;

use super::Cores;
use crate::{Machine, Note, Pass, Plan};

/// Runs these passes over a network, in this order.
pub(crate) fn apply(
    passes: impl Iterator<Item = Pass>,
    plan: &mut Plan,
    machine: &Machine,
    cores: &Cores,
) -> Vec<Note> {
    let mut notes = Vec::new();
    if plan.validate().is_err() || plan.check_rules().is_err() {
        return notes;
    }
    let set_turns: Vec<bool> = plan.nodes.iter().map(|node| node.firings.is_some()).collect();
    for pass in passes {
        let before = plan.clone();
        let new = match pass {
            Pass::Fission => fission::apply(plan, machine),
            Pass::Fuse => fuse::apply(plan, machine),
            Pass::Burst => burst::apply(plan, machine),
            Pass::Strip => strip::apply(plan, &set_turns),
            Pass::Horizon => horizon::apply(plan, machine),
            Pass::Place => place::apply(plan, machine, cores),
            Pass::Replicas | Pass::Window => Vec::new(),
        };
        // If the plan is no longer valid, the pass has met a case that it does not handle, and its changes are undone.
        if plan.validate().is_ok() { notes.extend(new) } else { *plan = before }
    }
    notes
}

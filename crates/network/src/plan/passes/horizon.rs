//! The pass that makes horizons as small as a throughput allows.

use super::known::{name, workers};
use crate::plan::simulate::simulate;
use crate::plan::{Machine, Note, Pass, Plan};
use anabranch_plan::quantity::percent;

/// The share of the throughput with ample horizons that must be reached.
const SHARE: f64 = 0.95;
/// How many simulations a pass may take.
const MOST_SIMULATIONS: usize = 40;

pub(super) fn apply(plan: &mut Plan, machine: &Machine) -> Vec<Note> {
    change(plan, machine).unwrap_or_default()
}

fn change(plan: &mut Plan, machine: &Machine) -> Option<Vec<Note>> {
    let costs: Vec<f64> =
        plan.nodes.iter().map(|node| node.cost.map(|cost| cost as f64)).collect::<Option<_>>()?;
    let (firings, least, ample) =
        (plan.repetitions().ok()?, plan.least_horizons().ok()?, plan.horizons().ok()?);
    let workers = workers(plan, machine);
    let left = std::cell::Cell::new(MOST_SIMULATIONS);
    let time = |horizons: &[usize]| {
        left.set(left.get().checked_sub(1)?);
        simulate(plan, &firings, &costs, horizons, workers, machine.overhead).map(|run| run.iteration)
    };
    let bound = time(&ample)? / SHARE;
    // From the largest record on, each becomes as small as the others allow.
    let mut horizons = ample.clone();
    let flows = plan.flows();
    let mut order: Vec<usize> = (0..horizons.len()).filter(|at| flows[*at].horizon.is_none()).collect();
    let size = |at: &usize| std::cmp::Reverse(ample[*at].saturating_mul(plan.edges[*at].item.size));
    order.sort_by_key(size);
    // First all at once, so that few simulations are needed for many records.
    for divisor in [1usize << 20, 64, 16, 4, 2] {
        let smaller: Vec<usize> = ample
            .iter()
            .zip(&least)
            .zip(&flows)
            .map(|((ample, least), flow)| flow.horizon.unwrap_or((ample / divisor).max(*least)))
            .collect();
        if time(&smaller).is_some_and(|time| time <= bound) {
            horizons = smaller;
            break;
        }
    }
    for &at in &order {
        let (mut low, mut high) = (least[at], horizons[at]);
        while low < high && left.get() > 0 {
            let middle = low + (high - low) / 2;
            let tried: Vec<usize> = horizons
                .iter()
                .enumerate()
                .map(|(edge, items)| if edge == at { middle } else { *items })
                .collect();
            if time(&tried).is_some_and(|time| time <= bound) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        horizons[at] = high;
    }
    let mut notes = Vec::new();
    for at in order {
        let edge = &mut plan.edges[at];
        let flow = &mut edge.flow;
        flow.horizon = Some(horizons[at]);
        let (from, to) = (name(&plan.nodes[edge.from.0]), name(&plan.nodes[edge.to.0]));
        let text = format!(
            "the record from {from} to {to} holds {} items: with them the predicted throughput is at least {} of that \
             with {}; {} are needed to go on at all",
            horizons[at],
            percent(SHARE),
            ample[at],
            least[at]
        );
        notes.push(Note { pass: Pass::Horizon, node: edge.from, text });
    }
    Some(notes)
}

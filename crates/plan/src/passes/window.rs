//! The pass that chooses how many items may be in flight.

use super::known::{demands, known_cost, workers};
use super::note::{Note, Pass};
use crate::predict::{Demands, UnitDemand};
use crate::quantity::{count, span};
use crate::{Domain, EdgeKind, Machine, NodeId, Placement, Plan};

/// A window has at least this many items for each worker, so that one slow item does not stop the others.
const ITEMS_A_WORKER: usize = 16;
/// The longest time of a claim, in nanoseconds. Each worker should find some claims in the window.
const LONGEST_CLAIM_NS: f64 = 20_000.0;
const CLAIMS_A_WORKER: f64 = 4.0;
/// A window for claims is never larger than this. Larger ones did not help in measurements.
const MOST_FOR_CLAIMS: f64 = 4_096.0;
/// A window has this many times the mean number of items in flight.
const ROOM: f64 = 2.0;

/// Makes the window of each domain as narrow as its items allow. At the same throughput, less memory is held,
/// and an item is in the stream for a shorter time. With `most`, a window may also become wider, up to this
/// many items.
///
/// A window has the largest of these numbers of items:
///
/// - 16 items for each worker;
/// - four claims of 20 µs for each worker, but at most 4,096 items, which matters if items are cheap;
/// - twice the mean number of items in flight, which matters if items wait (Little's law: the time in the
///   domain divided by the time between two items);
/// - two bursts for each worker, if the bursts are fixed.
///
/// Domains with stages of unknown cost do not change. A bound by weight does not change either, since it
/// knows the items better.
///
/// ```
/// use anabranch_plan::passes::choose_window;
/// use anabranch_plan::{ItemType, Machine, Node, Plan, Settings};
///
/// let mut plan = Plan::new(Settings::new(4, 4_096));
/// plan.push(Node::source("read").cost(1_000));
/// plan.then(ItemType::of::<u64>(), Node::parallel("encode").cost(30_000));
/// plan.then(ItemType::of::<u64>(), Node::sink("write").cost(5_000));
/// choose_window(&mut plan, &Machine::new(4), None);
/// assert_eq!(plan.domains[0].window, 64);
/// ```
pub fn choose_window(plan: &mut Plan, machine: &Machine, most: Option<usize>) -> Vec<Note> {
    let Some((demands, time)) = demands(plan, machine) else { return Vec::new() };
    let mut notes = Vec::new();
    for domain in 0..plan.domains.len() {
        let current = plan.domains[domain].window;
        let Some((needed, why)) = needed(plan, &demands, time, domain) else { continue };
        let window = needed.min(most.unwrap_or(current));
        if window == current || window == 0 {
            continue;
        }
        let first = plan.nodes.iter().find(|node| node.domain == domain).map_or(NodeId(0), |node| node.id);
        set(plan, domain, window);
        let why = match window < needed {
            true => "more would help, but is not allowed".to_owned(),
            false => why,
        };
        let text =
            format!("at most {} of domain {domain} in flight, not {current}: {why}", count(window, "item"));
        notes.push(Note { pass: Pass::Window, node: first, text });
    }
    notes
}

/// How many items a domain needs in flight, and why.
fn needed(plan: &Plan, demands: &Demands, time: f64, domain: usize) -> Option<(usize, String)> {
    let nodes: Vec<_> = plan.nodes.iter().filter(|node| node.domain == domain).cloned().collect();
    known_cost(&nodes)?;
    let dedicated = plan.nodes.iter().filter(|node| node.placement == Placement::Dedicated).count();
    let threads = workers(plan).saturating_add(dedicated);
    let least = threads.saturating_mul(ITEMS_A_WORKER);
    let mut best = (least, format!("{ITEMS_A_WORKER} a worker keep all of them busy"));
    let mut offer = |items: f64, why: String| {
        let items = items.ceil() as usize;
        if items > best.0 {
            best = (items, why);
        }
    };

    let units = || demands.units.iter().filter(|unit| unit.domain == domain);
    let cheapest = |parallel: bool| {
        let units = units().filter(|unit: &&UnitDemand| unit.parallel == parallel);
        units.map(|unit| unit.each).reduce(f64::min)
    };
    let each = cheapest(true).or_else(|| cheapest(false))?.max(1.0);
    let claims = CLAIMS_A_WORKER * threads as f64 * (LONGEST_CLAIM_NS / each).max(1.0);
    offer(
        claims.min(MOST_FOR_CLAIMS),
        format!("each worker finds a few claims of {}", span(LONGEST_CLAIM_NS)),
    );

    let inside: f64 = nodes.iter().map(|node| demands.nodes[node.id.0]).sum();
    let under_way = inside / time * demands.indices[domain];
    offer(ROOM * under_way, format!("{under_way:.0} are under way on the mean, and twice that leaves room"));

    if let Some(burst) = units().filter_map(|unit| unit.burst).max() {
        let bursts = 2.0 * workers(plan) as f64 * burst as f64;
        offer(bursts, format!("each worker finds two bursts of {burst}"));
    }
    Some(best)
}

/// Sets the window of a domain, of the lanes that had this window or are narrower, and of the settings if it
/// came from there.
fn set(plan: &mut Plan, domain: usize, items: usize) {
    let Domain { window: before, .. } = plan.domains[domain];
    plan.domains[domain].window = items;
    if domain == 0 && plan.settings.window == before {
        plan.settings.window = items;
    }
    for edge in plan.edges.iter_mut().filter(|edge| plan.nodes[edge.from.0].domain == domain) {
        let EdgeKind::Lane { window, .. } = &mut edge.kind else { continue };
        if *window == before || *window < items {
            *window = items;
        }
    }
}

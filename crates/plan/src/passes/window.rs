//! How many items may be in flight.

use super::{Note, Pass, demands, known_cost, workers};
use crate::predict::{Demands, UnitDemand};
use crate::quantity::{count, span};
use crate::{Domain, EdgeKind, Machine, NodeId, Placement, Plan};

/// A worker's share of a window is never less, so that one slow item does not stop the rest.
const ITEMS_A_WORKER: usize = 16;
/// A claim takes at most so long (`research/batons.md`, "Constants"), and each worker should find a few of them.
const CLAIM_NS: f64 = 20_000.0;
const CLAIMS_A_WORKER: f64 = 4.0;
/// More never helped (`research/batons.md`, "Constants"), unless so many are under way.
const MOST_FOR_CLAIMS: f64 = 4_096.0;
/// So many times the items that are under way on the mean.
const ROOM: f64 = 2.0;

/// Makes the window of each domain as narrow as its items allow: less memory is held and an item is under way for a
/// shorter time, at the same throughput. With `most`, windows may become wider too, up to so many items.
///
/// A window has 16 items a worker; or four claims of 20 µs a worker (but 4,096 at most), where items are cheap;
/// or twice the items that are under way on the mean (Little's law: the time in the domain over the time
/// between two items), where they wait; or two bursts a worker, where those are fixed; whichever is most.
/// Domains with stages of unknown cost stay as they are. So does the bound by weight, which knows more.
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
            true => "more would help and is not allowed".to_owned(),
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
    let claims = CLAIMS_A_WORKER * threads as f64 * (CLAIM_NS / each).max(1.0);
    offer(claims.min(MOST_FOR_CLAIMS), format!("each worker finds a few claims of {}", span(CLAIM_NS)));

    let inside: f64 = nodes.iter().map(|node| demands.nodes[node.id.0]).sum();
    let under_way = inside / time * demands.indices[domain];
    offer(ROOM * under_way, format!("{under_way:.0} are under way on the mean, and twice that leaves room"));

    if let Some(burst) = units().filter_map(|unit| unit.burst).max() {
        let bursts = 2.0 * workers(plan) as f64 * burst as f64;
        offer(bursts, format!("each worker finds two bursts of {burst}"));
    }
    Some(best)
}

/// Sets a domain's window, that of the lanes that had it or are narrower, and of the settings if it came from there.
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

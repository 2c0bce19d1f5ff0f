//! Sentences that say what limits a plan, and what to do about it.

use super::bounds::{Bound, Bounds};
use super::demand::Demands;
use super::machine::Machine;
use super::prediction::{Limit, Prediction};
use crate::quantity::{count, percent, span};
use crate::wording::plain;
use crate::{NodeId, Plan};

pub(super) fn advice(bounds: &Bounds, bound: &Bound, prediction: &Prediction) -> String {
    let Bounds { plan, demands, machine } = *bounds;
    let text = match bound.limit {
        // Handing items over is the limit then, whichever bound it has raised most. On one core items are not
        // handed over, and if the window is narrow, the window is the better cause to name.
        Limit::Serial | Limit::Cores | Limit::Workers
            if prediction.speedup < 0.995 && machine.cores > 1 =>
        {
            "Handing the items over costs more than sharing their work saves: one worker is quicker. Pass larger \
             items, or several in one."
                .to_owned()
        }
        Limit::Serial => serial(plan, demands, bound, prediction),
        Limit::Replicas => replicas(plan, demands, bound),
        Limit::Burst => burst(plan, demands, bound),
        Limit::Window => window(bounds, bound, prediction),
        Limit::Cores => cores(plan, demands, machine, bound),
        Limit::Workers => workers(plan, demands, machine, bound, prediction),
    };
    if demands.unknown.is_empty() {
        return text;
    }
    let unknown: Vec<String> = demands.unknown.iter().map(|id| name(plan, *id)).collect();
    let them = if unknown.len() == 1 { "Its cost is" } else { "Their costs are" };
    format!("{text} Not counted: {}. {them} not known.", unknown.join(", "))
}

fn name(plan: &Plan, id: NodeId) -> String {
    format!("`{}`", plain(&plan.nodes[id.0].name))
}

fn serial(plan: &Plan, demands: &Demands, bound: &Bound, prediction: &Prediction) -> String {
    let unit = &demands.units[plan.nodes[bound.node.0].unit];
    let who = name(plan, bound.node);
    let mut text = format!("{who} is serial and busy all the time, {} an item", span(bound.time));
    if let Some(enough) = prediction.enough_workers {
        text += &format!(": more than {} gain nothing", count(enough, "worker"));
    }
    text += ". ";
    let processor = demands.processor[bound.node.0];
    let known = demands.nodes[bound.node.0];
    text += &if bound.node.0 == 0 {
        format!("The rest waits for its items. Make {who} cheaper, or give larger items.")
    } else if processor < known / 2.0 {
        "It mostly waits: let it wait less often, for several items at once.".to_owned()
    } else if unit.len > 1 {
        "It runs as one with its neighbours. Make it cheaper, or move work from it into a parallel stage."
            .to_owned()
    } else {
        "Make it cheaper, or move work from it into a parallel stage.".to_owned()
    };
    text
}

fn replicas(plan: &Plan, demands: &Demands, bound: &Bound) -> String {
    let unit = &demands.units[plan.nodes[bound.node.0].unit];
    let replicas = unit.replicas.unwrap_or(1);
    let who = name(plan, bound.node);
    let busy = if replicas == 1 { "it is busy all the time" } else { "all of them are busy all the time" };
    format!(
        "{who} has {}, and {busy}. Give it more replicas, or make it cheaper.",
        count(replicas, "replica")
    )
}

fn burst(plan: &Plan, demands: &Demands, bound: &Bound) -> String {
    let unit = &demands.units[plan.nodes[bound.node.0].unit];
    let window = plan.domains[bound.domain].window;
    let items = unit.burst.unwrap_or(1);
    let claims = (window / items).max(1);
    format!(
        "{} is handed {} at a time, and a window of {window} has only {} for the workers. Take smaller bursts or \
         a larger window.",
        name(plan, bound.node),
        count(items, "item"),
        count(claims, "such claim"),
    )
}

fn window(bounds: &Bounds, bound: &Bound, prediction: &Prediction) -> String {
    let plan = bounds.plan;
    let window = plan.domains[bound.domain].window;
    let mut text = format!(
        "The window of {} is full while they are on their way, mostly in {}: the source waits for room.",
        count(window, "item"),
        name(plan, bound.node),
    );
    let next = bounds.tightest_but_window(prediction.workers).time;
    let needed = (window as f64 * bound.time / next).ceil();
    text += &format!(" Widen it to {needed:.0} or more.");
    text
}

fn cores(plan: &Plan, demands: &Demands, machine: &Machine, bound: &Bound) -> String {
    let total: f64 = demands.processor.iter().sum();
    let share = demands.processor[bound.node.0] / total.max(f64::MIN_POSITIVE);
    let all = match machine.cores {
        1 => "The core is".to_owned(),
        2 => "Both cores are".to_owned(),
        n => format!("All {n} cores are"),
    };
    format!(
        "{all} busy, {} of the time with {}. Make that cheaper, or use more cores; more workers gain nothing.",
        percent(share),
        name(plan, bound.node),
    )
}

fn workers(
    plan: &Plan,
    demands: &Demands,
    machine: &Machine,
    bound: &Bound,
    prediction: &Prediction,
) -> String {
    let of_workers = |unit: &&super::demand::UnitDemand| !unit.dedicated;
    let nodes = demands.units.iter().filter(of_workers).flat_map(|unit| unit.first..unit.first + unit.len);
    let total: f64 = nodes.map(|node| demands.nodes[node]).sum();
    let share = demands.nodes[bound.node.0] / total.max(f64::MIN_POSITIVE);
    let waits = demands.processor[bound.node.0] < demands.nodes[bound.node.0] / 2.0;
    let all = match prediction.workers {
        1 => "The worker is".to_owned(),
        2 => "Both workers are".to_owned(),
        n => format!("All {n} workers are"),
    };
    let kind = if waits { "taken" } else { "busy" };
    let mut text = format!("{all} {kind}, {} of the time with {}", percent(share), name(plan, bound.node));
    if waits {
        text += ", which mostly waits and needs no core meanwhile";
    }
    text += ". ";
    text += &match prediction.enough_workers {
        None => "Every further worker helps.".to_owned(),
        Some(enough) if enough > prediction.workers => format!("More workers help, up to {enough}."),
        Some(_) if prediction.workers == 1 => "More workers would cost as much as they gain.".to_owned(),
        Some(_) => "More workers gain nothing.".to_owned(),
    };
    if !waits
        && machine.cores == usize::MAX
        && prediction.enough_workers.is_none_or(|n| n > prediction.workers)
    {
        text += " Each worker needs a core.";
    }
    text
}

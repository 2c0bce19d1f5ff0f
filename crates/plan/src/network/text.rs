//! Networks as text.

use super::FIRINGS;
use crate::quantity::{bytes, count, time};
use crate::wording::plain;
use crate::{EdgeKind, Flow, Node, Placement, Plan, Settings, Sketch, State};
use std::fmt::Write;

/// `3 → 2, sees 4, delay 1, horizon 8`.
pub(crate) fn flow_text(flow: &Flow) -> String {
    let mut text = format!("{} → {}", flow.produces, flow.consumes);
    if flow.sees() > flow.consumes {
        let _ = write!(text, ", sees {}", flow.sees());
    }
    if flow.delay > 0 {
        let _ = write!(text, ", delay {}", flow.delay);
    }
    if let Some(horizon) = flow.horizon {
        let _ = write!(text, ", horizon {horizon}");
    }
    text
}

/// The network as [`Plan::explain`] shows it, without the prediction.
pub(crate) fn text(plan: &Plan) -> String {
    let Settings { workers, .. } = plan.settings;
    let name = plan.name.as_ref().map_or(String::new(), |name| format!(" \"{}\"", plain(name)));
    let mut text = format!("Network{name}: {}\n\n", count(workers, "worker"));
    let firings = plan.repetitions().ok();
    let least = plan.least_horizons().ok();
    let names: Vec<String> = plan.nodes.iter().map(|node| plain(&node.name)).collect();
    let wide = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (at, node) in plan.nodes.iter().enumerate() {
        let _ = writeln!(
            text,
            "  {:<wide$}  {}",
            names[at],
            about(plan, node, firings.as_ref().map(|firings| firings[at]))
        );
        for (edge, record) in plan.edges.iter().enumerate().filter(|(_, edge)| edge.from.0 == at) {
            let EdgeKind::Record(flow) = record.kind else { continue };
            let to = names.get(record.to.0).map_or("?", |name| name);
            let item = crate::wording::item_text(record);
            let bound = match (&least, flow.horizon) {
                (Some(least), None) => format!(", horizon {} or more", least[edge]),
                _ => String::new(),
            };
            let _ = writeln!(text, "  {:wide$}    to {to}: {item}; {}{bound}", "", flow_text(&flow));
        }
    }
    if let Some(least) = least {
        let sizes =
            least.iter().zip(&plan.edges).map(|(items, edge)| *items as u128 * edge.item.size as u128);
        let total = sizes.fold(0, u128::saturating_add);
        let _ = writeln!(text, "\nMemory   {} in records at least, and what the items own", bytes(total));
    }
    text
}

/// The network as a picture: a box for each rule, and an arrow for each record.
pub(crate) fn sketch(plan: &Plan) -> Sketch {
    let mut sketch = Sketch::new(&plan.name.as_ref().map_or("Network".to_owned(), |name| plain(name)));
    let firings = plan.repetitions().ok();
    for (at, node) in plan.nodes.iter().enumerate() {
        let text = about(plan, node, firings.as_ref().map(|firings| firings[at]));
        sketch.tile(std::iter::once(plain(&node.name)).chain(text.split("; ").map(str::to_owned)));
    }
    for edge in &plan.edges {
        let EdgeKind::Record(flow) = edge.kind else { continue };
        let label = format!("{}\n{}", crate::wording::item_text(edge), flow_text(&flow));
        sketch.arrow(edge.from.0, edge.to.0, &label, false);
    }
    sketch
}

/// What is known about a rule, in one line.
fn about(plan: &Plan, node: &Node, firings: Option<u64>) -> String {
    let mut parts = vec![format!("rule `{}`", plain(&node.operator))];
    if !node.parameters.is_empty() {
        let values =
            node.parameters.iter().map(|(name, value)| format!("{} = {}", plain(name), plain(value)));
        parts.push(values.collect::<Vec<_>>().join(", "));
    }
    if let Some(firings) = firings {
        parts.push(format!(
            "{} an iteration",
            count(usize::try_from(firings).unwrap_or(usize::MAX), "firing")
        ));
    }
    parts.extend(node.cost.map(|cost| format!("{} a firing", time(cost))));
    if node.state == State::None {
        parts.push("no state".into());
    }
    if let Some(replicas @ 2..) = node.replicas {
        parts.push(format!("{replicas} copies"));
    }
    if let Some(turn) = node.firings.filter(|turn| *turn != FIRINGS) {
        parts.push(format!("up to {turn} in a row"));
    }
    if let Placement::Core(core) = node.placement {
        parts.push(format!("on core {core}"));
    }
    let others: Vec<String> = plan
        .nodes
        .iter()
        .filter(|other| other.unit == node.unit && other.id != node.id)
        .map(|other| plain(&other.name))
        .collect();
    if !others.is_empty() {
        parts.push(format!("by turns with {}", others.join(", ")));
    }
    parts.join("; ")
}

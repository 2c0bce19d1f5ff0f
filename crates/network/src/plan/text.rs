//! Networks as text.

use super::FIRINGS;
use crate::plan::{Flow, Machine, Node, Placement, Plan, Role, State, Views};
use anabranch_plan::drawing::{indented, plain};
use anabranch_plan::quantity::{bytes, count, time};
use std::fmt::{self, Write};

/// `3 → 2, sees 4, delay 1, horizon 8`.
pub(super) fn flow_text(flow: &Flow) -> String {
    let mut parts = Vec::new();
    match (flow.produces, flow.consumes) {
        (0, 0) => {}
        (produces, 0) => parts.push(format!("writes {produces}")),
        (0, consumes) => parts.push(format!("reads {consumes}")),
        (produces, consumes) => parts.push(format!("{produces} → {consumes}")),
    }
    if flow.sees() > flow.consumes {
        parts.push(format!("sees {}", flow.sees()));
    }
    parts.extend(flow.range.map(|range| format!("takes turns of {range}")));
    if flow.delay > 0 {
        parts.push(format!("delay {}", flow.delay));
    }
    parts.extend(flow.horizon.map(|horizon| format!("horizon {horizon}")));
    parts
        .extend(flow.most().filter(|most| Some(*most) > flow.horizon).map(|most| format!("grows to {most}")));
    parts.join(", ")
}

/// The network as [`Plan::explain`] shows it, without the prediction.
pub(super) fn text(plan: &Plan) -> String {
    let mut text = format!("{}\n\n", headline(plan));
    let least = plan.least_horizons().ok();
    let names: Vec<String> = plan.nodes.iter().map(|node| plain(&node.name)).collect();
    let wide = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut outputs = vec![Vec::new(); plan.nodes.len()];
    for (at, edge) in plan.edges.iter().enumerate().filter(|(_, edge)| edge.from.0 < plan.nodes.len()) {
        outputs[edge.from.0].push(at);
    }
    for ((about, name), outputs) in abouts(plan).into_iter().zip(&names).zip(outputs) {
        let _ = writeln!(text, "  {name:<wide$}  {}", about.join("; "));
        for at in outputs {
            let edge = &plan.edges[at];
            let flow = edge.flow;
            let to = names.get(edge.to.0).map_or("?", |name| name);
            let bound = match (&least, flow.horizon) {
                (Some(least), None) => format!(", horizon {} or more", least[at]),
                _ => String::new(),
            };
            let _ = writeln!(text, "  {:wide$}    to {to}: {}; {}{bound}", "", edge.text(), flow_text(&flow));
        }
    }
    let records = plan.nodes.iter().filter_map(|node| node.record.as_ref());
    let mut held: Vec<(Option<usize>, usize)> =
        records.map(|record| (record.flow.horizon, record.item.size)).collect();
    for (at, (edge, flow)) in plan.edges.iter().map(|edge| (edge, edge.flow)).enumerate() {
        let is_port =
            [edge.from, edge.to].iter().any(|end| plan.node(*end).is_some_and(|node| node.record.is_some()));
        if !is_port {
            held.push((flow.horizon.or(least.as_ref().map(|least| least[at])), edge.item.size));
        }
    }
    let total = held
        .into_iter()
        .try_fold(0u128, |total, (items, size)| Some(total.saturating_add(items? as u128 * size as u128)));
    if let Some(total) = total {
        let _ = writeln!(text, "\nMemory   {} in records at least, and what the items own", bytes(total));
    }
    text
}

/// One line about the whole network.
pub(super) fn headline(plan: &Plan) -> String {
    let workers = count(plan.workers, "worker");
    match &plan.name {
        Some(name) => format!("Network \"{}\": {workers}", plain(name)),
        None => format!("Network: {workers}"),
    }
}

impl fmt::Display for Plan {
    /// Writes the text of [`Plan::explain`] without the prediction.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(self))
    }
}

impl Plan {
    /// The network as text for people: its rules with their rates, its records, and what they need. If costs are known, it also
    /// says what the network should achieve with a core for each of its workers.
    ///
    /// The wording may change from version to version. Programs should read `to_json`.
    pub fn explain(&self) -> String {
        self.explain_on(&Machine::ample())
    }

    /// Like [`explain`](Plan::explain), with the prediction for a machine.
    pub fn explain_on(&self, machine: &Machine) -> String {
        let mut text = self.to_string();
        if let Ok(prediction) = self.predict_network(machine, self.workers) {
            text += "\nPredicted  ";
            text += &indented(&prediction.to_string(), 11);
            text.push('\n');
        }
        text
    }
}

/// Returns a few short descriptions of each node, in the order of the nodes.
pub(super) fn abouts(plan: &Plan) -> Vec<Vec<String>> {
    let firings = plan.repetitions().ok();
    let firings = |at: usize| firings.as_ref().map(|firings| firings[at]);
    plan.nodes.iter().enumerate().map(|(at, node)| about(plan, node, firings(at))).collect()
}

fn about(plan: &Plan, node: &Node, firings: Option<u64>) -> Vec<String> {
    if let Some(record) = &node.record {
        let mut parts = vec![format!(
            "record of {}, {}",
            plain(&record.item.short_name()),
            bytes(record.item.size as u128)
        )];
        for (what, Views { count: views, dropped }) in
            [("writer", record.writers), ("reader", record.readers)]
        {
            let gone = if dropped > 0 { format!(", {dropped} dropped") } else { String::new() };
            parts.push(count(views, what) + &gone);
        }
        parts.push(flow_text(&Flow { produces: 0, consumes: 0, ..record.flow }));
        return parts;
    }
    if node.role == Role::Process {
        return vec!["process with a thread".to_owned()];
    }
    let kernel =
        if node.operator == "rule" { String::new() } else { format!(" `{}`", plain(&node.operator)) };
    let mut parts = vec![format!("rule{kernel}")];
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
    parts
}

//! The plan as text. The picture on the left has one line for a serial stretch and three lines for a parallel
//! one, so it branches and joins where the stream does:
//!
//! ```text
//!   │    read    source       serial
//!   ├┬┐    Block, 24 B, through 64 slots
//!   │││  encode  map          parallel ×4
//!   ├┴┘    Block, 24 B, through 64 slots
//!   │    write   for_each     serial
//! ```

use crate::quantity::{bytes, count, time};
use crate::wording::{indented, item_text, plain};
use crate::{
    Burst, Edge, EdgeKind, Executor, Machine, Node, NodeId, Placement, Plan, Role, Schedule, State, Wait,
};
use std::fmt;

impl fmt::Display for Plan {
    /// Writes the text of [`Plan::explain`] without the prediction.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", headline(self))?;
        let table = Table::new(self);
        let mut domain = None;
        for (index, node) in self.nodes.iter().enumerate() {
            if domain != Some(node.domain) {
                domain = Some(node.domain);
                writeln!(f, "\n{}\n", domain_line(self, node.domain))?;
            }
            table.write_row(f, index, node)?;
            let next = self.nodes.get(index + 1);
            let mut leaving: Vec<&Edge> =
                self.edges.iter().filter(|edge| edge.from == NodeId(index)).collect();
            // The edge to the next line is drawn next to this line, so it comes last.
            leaving.sort_by_key(|edge| edge.to == NodeId(index + 1));
            for edge in leaving {
                let line = format!("  {}    {}", edge_gutter(node, next, edge), edge_text(self, edge, index));
                writeln!(f, "{line}")?;
            }
        }
        if !self.nodes.is_empty() {
            write_footer(self, f)?;
        }
        Ok(())
    }
}

impl Plan {
    /// The plan as text for people: what runs in parallel, where items may change threads, and what bounds
    /// the memory. If costs are known, it also says what the plan should achieve with a core for each of its
    /// threads.
    ///
    /// The wording may change from version to version. Programs should read `Plan::to_json`.
    ///
    /// ```
    /// use anabranch_plan::{ItemType, Node, Plan, Settings};
    ///
    /// let mut plan = Plan::new(Settings::new(2, 64));
    /// plan.push(Node::source("read").cost(1_000));
    /// plan.then(ItemType::of::<u64>(), Node::parallel("encode").cost(30_000));
    /// plan.then(ItemType::of::<u64>(), Node::sink("write").cost(5_000));
    /// assert!(plan.explain().ends_with("\n
    /// Predicted  54.4 k items/s, 18.4 µs an item with 2 workers: 2 times as fast as the sequential loop;
    ///            an item is under way for 404 µs. Both workers are busy, 83 % of the time with `encode`.
    ///            More workers help, up to 8. Each worker needs a core.
    /// "));
    /// ```
    pub fn explain(&self) -> String {
        self.explain_on(&Machine::ample())
    }

    /// Like [`explain`](Plan::explain), with the prediction for a machine.
    ///
    /// ```
    /// use anabranch_plan::{ItemType, Machine, Node, Plan, Settings};
    ///
    /// let mut plan = Plan::new(Settings::new(8, 64));
    /// plan.push(Node::source("read").cost(1_000));
    /// plan.then(ItemType::of::<u64>(), Node::parallel("encode").cost(30_000));
    /// plan.then(ItemType::of::<u64>(), Node::sink("write").cost(5_000));
    /// assert!(plan.explain_on(&Machine::new(2)).contains("Both cores are busy"));
    /// ```
    pub fn explain_on(&self, machine: &Machine) -> String {
        let workers = match self.settings.executor {
            Executor::Inline => 1,
            Executor::Threads | Executor::Pool => self.settings.workers,
        };
        let mut text = self.to_string();
        if let Ok(prediction) = self.predict_on(machine, workers) {
            text += "\nPredicted  ";
            text += &indented(&format!("{prediction}. {}", prediction.advice), 11);
            text.push('\n');
        }
        text
    }
}

/// One line about the whole run. The Graphviz drawing uses it too.
pub(crate) fn headline(plan: &Plan) -> String {
    let settings = settings_line(plan);
    match &plan.name {
        Some(name) => format!("Plan \"{}\": {settings}", plain(name)),
        None => format!("Plan: {settings}"),
    }
}

/// The settings of the whole run, in one line.
pub(crate) fn settings_line(plan: &Plan) -> String {
    let settings = &plan.settings;
    let mut line = match settings.executor {
        Executor::Inline => "inline on the calling thread".to_owned(),
        Executor::Threads => format!("{}, threads of this run", count(settings.workers, "worker")),
        Executor::Pool => format!("{}, threads of a pool", count(settings.workers, "worker")),
    };
    line += &format!("; window {}", settings.window);
    if let Some(limit) = settings.window_bytes {
        line += &format!(", less than {} and one item", crate::quantity::bytes(limit.into()));
    }
    if settings.executor != Executor::Inline {
        line += &match settings.burst {
            Burst::Adaptive => "; adaptive bursts".to_owned(),
            Burst::Fixed(items) => format!("; bursts of {items}"),
        };
        line += match settings.wait {
            Wait::Park => "; idle workers park",
            Wait::Spin => "; one idle worker spins",
        };
    }
    line
}

/// One line about a domain. The Graphviz drawing uses it too.
pub(crate) fn domain_line(plan: &Plan, index: usize) -> String {
    match plan.domains.get(index) {
        None => format!("Domain {index}: not described"),
        Some(domain) => {
            let order = if domain.ordered { "in source order" } else { "in order of arrival" };
            format!("Domain {index}: {order}, at most {} in flight", count(domain.window, "item"))
        }
    }
}

/// `serial` or `parallel ×4`. The Graphviz drawing uses it too.
pub(crate) fn kind(plan: &Plan, node: &Node) -> String {
    match node.role {
        Role::Source | Role::Sink => format!("serial {}", node.role.name()),
        Role::Parallel => format!("parallel ×{}", at_once(plan, node)),
        role => role.name().to_owned(),
    }
}

/// Remarks about a node. The Graphviz drawing uses them too.
pub(crate) fn notes(node: &Node) -> String {
    let mut notes = Vec::new();
    match (node.state, node.role) {
        (State::PerWorker, _) => notes.push("state per worker"),
        (State::PerReplica, _) => notes.push("state per replica"),
        (State::Serial, Role::Parallel) => notes.push("serial state"),
        _ => {}
    }
    match node.schedule {
        Schedule::OnDemand => {}
        Schedule::Dealt => notes.push("dealt in turn"),
        Schedule::ByKey => notes.push("dealt by key"),
        Schedule::Custom => notes.push("dealt by a function"),
    }
    if node.placement == Placement::Dedicated {
        notes.push("own thread");
    }
    if node.in_blocks {
        notes.push("in blocks");
    }
    if node.fallible {
        notes.push("may fail");
    }
    let mut notes: Vec<String> = notes.into_iter().map(str::to_owned).collect();
    if node.branch > 0 {
        notes.insert(0, format!("branch {}", node.branch));
    }
    notes.extend(node.waits.filter(|waits| *waits > 0).map(|waits| format!("waits {}", time(waits))));
    notes.extend(node.rate.map(|rate| format!("gives {} for {}", rate.given, rate.taken)));
    notes.join(", ")
}

fn at_once(plan: &Plan, node: &Node) -> usize {
    match plan.settings.executor {
        Executor::Inline => 1,
        Executor::Threads | Executor::Pool => {
            node.replicas.map_or(plan.settings.workers, |most| most.min(plan.settings.workers))
        }
    }
}

fn edge_text(plan: &Plan, edge: &Edge, index: usize) -> String {
    let mut text = item_text(&edge.item);
    match edge.kind {
        EdgeKind::Lane { window, burst } if plan.settings.executor != Executor::Inline => {
            text += &format!(", through {}", count(window, "slot"));
            match burst {
                Burst::Fixed(items) if burst != plan.settings.burst => {
                    text += &format!(", {items} at a time")
                }
                _ => {}
            }
        }
        _ => {}
    }
    if let EdgeKind::Back { places } = edge.kind {
        text += &format!(", again {} later", count(places, "place"));
    }
    if edge.to != NodeId(index + 1) {
        match plan.node(edge.to) {
            Some(node) => text += &format!(", to {} ({})", plain(&node.name), edge.to),
            None => text += &format!(", to {} (not in the plan)", edge.to),
        }
    }
    text
}

fn node_gutter(node: &Node) -> &'static str {
    if node.role.is_parallel() { "│││" } else { "│  " }
}

fn edge_gutter(from: &Node, next: Option<&Node>, edge: &Edge) -> &'static str {
    let Some(to) = next.filter(|next| next.id == edge.to) else { return node_gutter(from) };
    match (from.role.is_parallel(), to.role.is_parallel(), edge.kind.is_lane()) {
        (false, true, _) => "├┬┐",
        (true, false, _) => "├┴┘",
        (true, true, true) => "┿┿┿",
        (false, false, true) => "┿  ",
        (_, _, false) => node_gutter(from),
    }
}

/// The columns of the lines of nodes, each as wide as its widest cell.
struct Table {
    rows: Vec<[String; 6]>,
    widths: [usize; 6],
}

impl Table {
    const COST: usize = 4;

    fn new(plan: &Plan) -> Self {
        let rows: Vec<_> = plan.nodes.iter().map(|node| Table::row(plan, node)).collect();
        let mut widths = [0; 6];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        Table { rows, widths }
    }

    fn row(plan: &Plan, node: &Node) -> [String; 6] {
        let operator = if node.operator == node.name { String::new() } else { plain(&node.operator) };
        let order = if node.ordered { "in order" } else { "any order" };
        let cost = node.cost.map_or_else(String::new, time);
        [plain(&node.name), operator, kind(plan, node), order.to_owned(), cost, notes(node)]
    }

    fn write_row(&self, f: &mut fmt::Formatter<'_>, index: usize, node: &Node) -> fmt::Result {
        let mut line = format!("  {}", node_gutter(node));
        for (column, cell) in self.rows[index].iter().enumerate() {
            let width = self.widths[column];
            match column {
                _ if width == 0 => {}
                Table::COST => line += &format!("  {cell:>width$}"),
                _ => line += &format!("  {cell:width$}"),
            }
        }
        writeln!(f, "{}", line.trim_end())
    }
}

fn write_footer(plan: &Plan, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let lanes: Vec<(usize, &Edge)> = plan
        .edges
        .iter()
        .filter_map(|edge| match edge.kind {
            EdgeKind::Lane { window, .. } => Some((window, edge)),
            EdgeKind::Call | EdgeKind::Back { .. } => None,
        })
        .collect();
    let dedicated = plan.nodes.iter().filter(|node| node.placement == Placement::Dedicated).count();
    let inline = plan.settings.executor == Executor::Inline;

    let alone = inline || (plan.settings.workers == 1 && dedicated == 0);

    let threads = match (alone, dedicated) {
        (true, _) => "the caller's alone: no item changes threads".to_owned(),
        (false, 0) => count(plan.settings.workers, "worker"),
        (false, 1) => format!("{} and a thread of its own", count(plan.settings.workers, "worker")),
        (false, _) => {
            format!("{} and {dedicated} threads of their own", count(plan.settings.workers, "worker"))
        }
    };
    writeln!(f, "\nThreads  {threads}")?;

    let windows: Vec<String> = plan.domains.iter().map(|domain| domain.window.to_string()).collect();
    let last = plan.domains.last().map_or(0, |domain| domain.window);
    let items = if windows.len() == 1 && last == 1 { "item" } else { "items" };
    write!(f, "Memory   at most {} {items} in flight", windows.join(" + "))?;
    if !inline && !lanes.is_empty() {
        let sizes = lanes.iter().map(|(window, edge)| *window as u128 * edge.item.size as u128);
        let total = sizes.fold(0, u128::saturating_add);
        write!(f, "; {} in slots, and what the items own", bytes(total))?;
    }
    write!(f, "\nPicture  │ one item at a time   ")?;
    if inline {
        writeln!(f, "│││ several at once, under another executor")
    } else if alone {
        writeln!(f, "│││ several at once, if there were more workers")
    } else {
        writeln!(f, "│││ several at once   ├┬┐ ├┴┘ ┿ items may change threads")
    }
}

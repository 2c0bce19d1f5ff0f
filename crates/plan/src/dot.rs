//! The plan as a Graphviz drawing.

use crate::display::{domain_line, headline, kind, notes};
use crate::quantity::{count, time};
use crate::wording::{item_text, plain};
use crate::{EdgeKind, Node, NodeId, Plan};
use std::fmt::Write;

impl Plan {
    /// The plan in the DOT language of Graphviz, which `dot -Tsvg` draws.
    ///
    /// Each domain is a cluster, and each unit of several nodes is a cluster in it. Parallel nodes have three
    /// outlines. Lanes are bold lines, and plain calls are dashed lines.
    pub fn to_dot(&self) -> String {
        let mut lines = Lines::graph(&headline(self));
        self.dot_domains(&mut lines);
        for edge in &self.edges {
            let mut label = item_text(&edge.item);
            let style = match edge.kind {
                EdgeKind::Call => "dashed",
                EdgeKind::Back { places } => {
                    let _ = write!(label, "\nagain, {} later", count(places, "place"));
                    "dotted"
                }
                EdgeKind::Lane { window, .. } => {
                    let _ = write!(label, "\n{}", count(window, "slot"));
                    "bold"
                }
            };
            lines.arrow(edge.from, edge.to, &label, style);
        }
        lines.finish()
    }

    fn dot_domains(&self, lines: &mut Lines) {
        // Names of clusters must differ. A running number makes them differ even in a plan that is not valid.
        let mut cluster = 0;
        for domain in self.nodes.chunk_by(|a, b| a.domain == b.domain) {
            lines.open(&format!("subgraph cluster_{cluster} {{"));
            cluster += 1;
            lines.add(&format!("label={};", quoted(&domain_line(self, domain[0].domain))));
            lines.add("style=\"rounded,filled\"; color=gray60; fillcolor=gray97;");
            for unit in domain.chunk_by(|a, b| a.unit == b.unit) {
                let grouped = unit.len() > 1;
                if grouped {
                    lines.open(&format!("subgraph cluster_{cluster} {{"));
                    cluster += 1;
                    lines.add(&format!("label={};", quoted(&format!("unit {}", unit[0].unit))));
                    lines.add("style=\"rounded,dashed\"; color=gray40;");
                }
                for node in unit {
                    self.dot_node(lines, node);
                }
                if grouped {
                    lines.close();
                }
            }
            lines.close();
        }
    }

    fn dot_node(&self, lines: &mut Lines, node: &Node) {
        let mut label = plain(&node.name);
        if node.operator != node.name {
            let _ = write!(label, " ({})", plain(&node.operator));
        }
        let order = if node.ordered { "in order" } else { "any order" };
        let _ = write!(label, "\n{}, {order}", kind(self, node));
        let notes = notes(node);
        for line in [notes, node.cost.map_or_else(String::new, time)] {
            if !line.is_empty() {
                let _ = write!(label, "\n{line}");
            }
        }
        let outlines = if node.role.is_parallel() { ", peripheries=3" } else { "" };
        lines.node(node.id, &label, outlines);
    }
}

/// A double-quoted string of the DOT language. Backslashes are escaped, since they have a meaning in a label.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A drawing for Graphviz that is being written.
#[derive(Debug, Default)]
pub struct Lines {
    text: String,
    depth: usize,
}

impl Lines {
    /// Begins a drawing with this title.
    pub fn graph(title: &str) -> Self {
        let mut lines = Lines::default();
        lines.open("digraph plan {");
        lines.add(&format!("label={};", quoted(title)));
        lines.add("labelloc=t;");
        lines.add("fontname=\"sans-serif\";");
        lines.add("node [shape=box, style=filled, fillcolor=white, fontname=\"sans-serif\"];");
        lines.add("edge [fontname=\"sans-serif\", fontsize=10];");
        lines
    }

    /// Adds a node.
    pub fn node(&mut self, id: NodeId, label: &str, style: &str) {
        self.add(&format!("n{} [label={}{style}];", id.0, quoted(label)));
    }

    /// Adds an arrow.
    pub fn arrow(&mut self, from: NodeId, to: NodeId, label: &str, style: &str) {
        self.add(&format!("n{} -> n{} [label={}, style={style}];", from.0, to.0, quoted(label)));
    }

    /// The drawing.
    pub fn finish(mut self) -> String {
        self.close();
        self.text
    }

    /// Adds a line.
    pub fn add(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", 2 * self.depth);
    }

    fn open(&mut self, line: &str) {
        self.add(line);
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.add("}");
    }
}

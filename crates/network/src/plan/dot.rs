//! The network as a Graphviz drawing.

use anabranch_plan::drawing::{Lines, plain};

use super::text::{abouts, flow_text, headline};
use super::{Plan, Role};

impl Plan {
    /// The network in the DOT language of Graphviz, which `dot -Tsvg` draws. Processes have round corners, and records
    /// that are nodes have dashed outlines.
    pub fn to_dot(&self) -> String {
        let mut lines = Lines::graph(&headline(self));
        lines.add("rankdir=LR;");
        for (node, about) in self.nodes.iter().zip(abouts(self)) {
            let style = match node.role {
                Role::Rule => "",
                Role::Process => ", style=\"rounded,filled\"",
                Role::Record => ", style=dashed",
            };
            lines.node(node.id, &format!("{}\n{}", plain(&node.name), about.join("\n")), style);
        }
        for edge in &self.edges {
            lines.arrow(edge.from, edge.to, &format!("{}\n{}", edge.text(), flow_text(&edge.flow)), "solid");
        }
        lines.finish()
    }
}

//! The plan itself, and how a front end builds one.

use crate::{Edge, EdgeKind, ItemType, Node, NodeId, Settings};

/// What will run: the nodes of a streaming loop in the order of the loop, and what passes between them.
///
/// A front end calls [`push`](Plan::push) for the source, then [`then`](Plan::then) or
/// [`compose`](Plan::compose) for each stage and the sink. The fields are open: a pass that rewrites a plan
/// changes them, and [`validate`](Plan::validate) says whether the outcome makes sense.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Plan {
    /// The name that the user gave to the pipeline.
    pub name: Option<String>,
    /// What holds for the whole run.
    pub settings: Settings,
    /// The stretches that share an index and a window, along the plan.
    pub domains: Vec<Domain>,
    /// The nodes, along the plan; each one's `id` is its index here.
    pub nodes: Vec<Node>,
    /// What passes between them, in the order of `from`.
    pub edges: Vec<Edge>,
}

/// A stretch of a plan that shares one index and one window.
///
/// The node that opens a domain (the source; `serial_flat_map`, `spread`, `unordered`) is its first node:
/// it takes items of the domain before and gives them an index in its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Domain {
    /// How many of its items may be in flight at once. At least 1.
    pub window: usize,
    /// Whether its index is the order of the source (else the order of arrival).
    pub ordered: bool,
}

impl Plan {
    /// A plan without nodes and with one ordered domain that has the window of the settings.
    pub fn new(settings: Settings) -> Self {
        let domain = Domain { window: settings.window, ordered: true };
        Plan { name: None, settings, domains: vec![domain], nodes: Vec::new(), edges: Vec::new() }
    }

    /// Sets the name that people see.
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Adds a node in a unit of its own, in the last domain, with no edge; fills in its `id`, `domain` and
    /// `unit`. This is how the source is added.
    pub fn push(&mut self, node: Node) -> NodeId {
        let unit = self.nodes.last().map_or(0, |last| last.unit + 1);
        self.place(node, unit)
    }

    /// Adds a node in a unit of its own, which takes items of type `item` from the node added before it
    /// through a lane. As the first node it gets no edge.
    pub fn then(&mut self, item: ItemType, node: Node) -> NodeId {
        let from = self.last_id();
        let to = self.push(node);
        self.connect_from(from, to, item);
        to
    }

    /// Adds a node to the unit of the node added before it, which takes items of type `item` by a plain
    /// call (`map` after `map`). As the first node it gets no edge.
    pub fn compose(&mut self, item: ItemType, node: Node) -> NodeId {
        let from = self.last_id();
        let unit = self.nodes.last().map_or(0, |last| last.unit);
        let to = self.place(node, unit);
        self.connect_from(from, to, item);
        to
    }

    /// Opens a domain; the nodes that are added from now on belong to it. Returns its index.
    pub fn open_domain(&mut self, domain: Domain) -> usize {
        self.domains.push(domain);
        self.domains.len() - 1
    }

    /// Adds an edge between two nodes: a plain call inside a unit, else a lane with the window of the giving
    /// node's domain and the burst of the settings. For graphs that are not a line.
    ///
    /// # Panics
    ///
    /// If one of the nodes is not in the plan.
    pub fn connect(&mut self, from: NodeId, to: NodeId, item: ItemType) {
        let giver = &self.nodes[from.0];
        let taker = &self.nodes[to.0];
        let kind = if giver.unit == taker.unit {
            EdgeKind::Call
        } else {
            let domain = self.domains.get(giver.domain);
            EdgeKind::Lane {
                window: domain.map_or(self.settings.window, |domain| domain.window),
                burst: self.settings.burst,
            }
        };
        self.edges.push(Edge { from, to, item, kind });
    }

    /// The node with this id.
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0)
    }

    /// The node with this id, to be changed: a setting that follows a stage (`.name(..)`, `.replicate(..)`).
    pub fn node_mut(&mut self, id: NodeId) -> Option<&mut Node> {
        self.nodes.get_mut(id.0)
    }

    fn last_id(&self) -> Option<NodeId> {
        self.nodes.len().checked_sub(1).map(NodeId)
    }

    fn place(&mut self, node: Node, unit: usize) -> NodeId {
        let id = NodeId(self.nodes.len());
        let domain = self.domains.len().saturating_sub(1);
        self.nodes.push(Node { id, domain, unit, ..node });
        id
    }

    fn connect_from(&mut self, from: Option<NodeId>, to: NodeId, item: ItemType) {
        if let Some(from) = from {
            self.connect(from, to, item);
        }
    }
}

//! The plan itself, and how a front end builds one.

use crate::{Burst, Edge, EdgeKind, ItemType, Node, NodeId, Settings};

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
/// A domain begins with the source, with a node that changes how many items there are (`serial_flat_map`, `spread`), or
/// with the node behind a parallel unit that gives its results in the order in which they are done. That first node
/// takes items of the domain before, and they get an index of its own domain.
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

    /// A plan without nodes, domains or memory of its own: what is left where a plan was taken away.
    pub fn empty() -> Self {
        let settings = Settings::new(1, 1);
        Plan { name: None, settings, domains: Vec::new(), nodes: Vec::new(), edges: Vec::new() }
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
    ///
    /// If the node added before it is parallel and gives order up, the new node begins a domain whose index is the order
    /// of arrival, with the window of the domain before, unless [`open_domain`](Self::open_domain) was called in between.
    pub fn then(&mut self, item: ItemType, node: Node) -> NodeId {
        let from = self.last_id();
        if let Some(before) = self.nodes.last()
            && before.gives_arrivals()
            && before.domain + 1 == self.domains.len()
        {
            let window = self.domains[before.domain].window;
            self.open_domain(Domain { window, ordered: false });
        }
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

    /// The units, along the plan: runs of nodes that are executed as one piece of code. None is empty.
    pub fn units(&self) -> impl Iterator<Item = &[Node]> {
        self.nodes.chunk_by(|a, b| a.unit == b.unit)
    }

    /// The edges into a node.
    pub fn inputs(&self, id: NodeId) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |edge| edge.to == id)
    }

    /// The edges out of a node.
    pub fn outputs(&self, id: NodeId) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |edge| edge.from == id)
    }

    /// The edge between two nodes.
    pub fn edge(&self, from: NodeId, to: NodeId) -> Option<&Edge> {
        self.edges.iter().find(|edge| edge.from == from && edge.to == to)
    }

    /// The node that gives items their index in a domain: the source, the node that changes how many there are, or the
    /// first node of the parallel unit whose results get it as they are done. `None` for a domain without nodes.
    pub fn opener(&self, domain: usize) -> Option<NodeId> {
        let first = self.nodes.iter().find(|node| node.domain == domain)?;
        let giver = self.inputs(first.id).next().and_then(|edge| self.node(edge.from));
        match giver {
            Some(giver) if giver.gives_arrivals() => {
                self.nodes.iter().find(|node| node.unit == giver.unit).map(|node| node.id)
            }
            _ => Some(first.id),
        }
    }

    /// Gives order up from a node on: parallel units from there on give their results in the order in which they are done,
    /// and each of them ends a domain.
    ///
    /// ```
    /// use anabranch_plan::{ItemType, Node, Plan, Settings};
    ///
    /// let mut plan = Plan::new(Settings::new(2, 64));
    /// plan.push(Node::source("read"));
    /// let parse = plan.then(ItemType::of::<u64>(), Node::parallel("parse"));
    /// let count = plan.then(ItemType::of::<u64>(), Node::sink("count"));
    /// plan.give_order_up(parse);
    /// assert!(!plan.nodes[parse.0].ordered);
    /// assert_eq!(plan.nodes[count.0].domain, 1);
    /// assert_eq!(plan.validate(), Ok(()));
    /// ```
    pub fn give_order_up(&mut self, from: NodeId) {
        let first_unit = self.node(from).map_or(usize::MAX, |node| node.unit);
        for node in &mut self.nodes {
            node.ordered &= node.unit < first_unit || !node.role.is_parallel();
        }
        for at in 0..self.edges.len() {
            let (giver, taker) = (self.edges[at].from.0, self.edges[at].to.0);
            let domain = self.nodes[giver].domain;
            let stays =
                self.nodes[taker].domain == domain && self.nodes[giver].unit != self.nodes[taker].unit;
            if stays && self.nodes[giver].gives_arrivals() {
                self.domains.insert(domain + 1, Domain { ordered: false, ..self.domains[domain] });
                for node in &mut self.nodes[taker..] {
                    node.domain += 1;
                }
            }
        }
        let first_unordered = self.nodes.iter().position(|node| node.gives_arrivals());
        for at in first_unordered.map_or(self.nodes.len(), |at| at + 1)..self.nodes.len() {
            let domain = self.nodes[at].domain;
            if domain > self.nodes[at - 1].domain {
                self.domains[domain].ordered = false;
            }
            self.nodes[at].ordered &= self.domains[domain].ordered;
        }
    }

    /// Sets the window of every domain, and of every lane, in items.
    pub fn set_window(&mut self, window: usize) {
        self.settings.window = window;
        for domain in &mut self.domains {
            domain.window = window;
        }
        self.fit_lanes();
    }

    /// Gives each lane as many slots as the window of its domain has items, and each lane without a burst of its own the
    /// burst of the settings.
    pub fn fit_lanes(&mut self) {
        let (nodes, domains, settings) = (&self.nodes, &self.domains, &self.settings);
        for edge in &mut self.edges {
            if let EdgeKind::Lane { window, burst } = &mut edge.kind {
                *window = domains[nodes[edge.from.0].domain].window;
                if *burst == Burst::Adaptive {
                    *burst = settings.burst;
                }
            }
        }
    }

    /// Makes a plan that somebody has changed consistent with itself, where that is what the change means: a window or a
    /// burst of the settings that was changed alone is that of every domain and lane, a lane is as wide as its domain, and
    /// behind a parallel node that gives order up a domain begins.
    pub fn follow_changes(&mut self, before: &Plan) {
        if self.settings.window != before.settings.window && self.domains == before.domains {
            self.domains.iter_mut().for_each(|domain| domain.window = self.settings.window);
        }
        for (edge, old) in self.edges.iter_mut().zip(&before.edges) {
            if let (
                EdgeKind::Lane { window, burst },
                EdgeKind::Lane { window: old_window, burst: old_burst },
            ) = (&mut edge.kind, old.kind)
            {
                if *burst == old_burst && self.settings.burst != before.settings.burst {
                    *burst = self.settings.burst;
                }
                let domain = self.nodes.get(edge.from.0).and_then(|node| self.domains.get(node.domain));
                if let (true, Some(domain)) = (*window == old_window, domain) {
                    *window = domain.window;
                }
            }
        }
        let mut nodes = self.nodes.iter().zip(&before.nodes);
        if let Some((node, _)) = nodes.find(|(node, old)| node.gives_arrivals() && !old.gives_arrivals()) {
            self.give_order_up(node.id);
        }
    }

    /// How many workers it takes for each parallel node that serves on demand to have all its replicas at once, where
    /// replicas were set; 0 where none were.
    pub fn most_replicas(&self) -> usize {
        let asked = self.nodes.iter().filter(|node| node.schedule == crate::Schedule::OnDemand);
        asked.filter_map(|node| node.replicas).max().unwrap_or(0)
    }

    /// Size of the largest item that passes between two nodes, in bytes.
    pub fn largest_item(&self) -> usize {
        self.edges.iter().map(|edge| edge.item.size).max().unwrap_or(0)
    }

    fn last_id(&self) -> Option<NodeId> {
        self.nodes.len().checked_sub(1).map(NodeId)
    }

    fn place(&mut self, mut node: Node, unit: usize) -> NodeId {
        let id = NodeId(self.nodes.len());
        let domain = self.domains.len().saturating_sub(1);
        // Nothing behind a node that gives order up can have it back.
        node.ordered &= self.domains.get(domain).is_none_or(|domain| domain.ordered);
        (node.id, node.domain, node.unit) = (id, domain, unit);
        self.nodes.push(node);
        id
    }

    fn connect_from(&mut self, from: Option<NodeId>, to: NodeId, item: ItemType) {
        if let Some(from) = from {
            self.connect(from, to, item);
        }
    }
}

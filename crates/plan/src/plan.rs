//! The plan itself, and how a front end builds it.

use crate::{Burst, Edge, EdgeKind, ItemType, Node, NodeId, Settings};

/// A description of a streaming loop: its nodes in the order of the loop, and the items that pass between
/// them.
///
/// A front end calls [`push`](Plan::push) for the source, and then [`then`](Plan::then) or
/// [`compose`](Plan::compose) for each stage and for the sink. The fields are public: a pass changes them to
/// rewrite a plan, and [`validate`](Plan::validate) checks the result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Plan {
    /// The name that the user gave to the pipeline.
    pub name: Option<String>,
    /// The settings of the whole run.
    pub settings: Settings,
    /// The domains, along the plan.
    pub domains: Vec<Domain>,
    /// The nodes, along the plan. The `id` of a node is its index here.
    pub nodes: Vec<Node>,
    /// The edges between the nodes, in the order of `from`.
    pub edges: Vec<Edge>,
}

/// A stretch of a plan that shares one sequence of indices and one window.
///
/// A domain begins with the source, with a node that gives items new indices (`serial_flat_map`, `spread`, `windows`,
/// `feedback` and others), or with the node after a parallel unit that gives its results in the order in which they finish.
/// This first node takes items of the previous domain, which get an index of its own domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Domain {
    /// How many of its items may be in flight at once. At least 1.
    pub window: usize,
    /// Whether its index is the order of the source. Otherwise it is the order of arrival.
    pub ordered: bool,
}

impl AsRef<Plan> for Plan {
    fn as_ref(&self) -> &Plan {
        self
    }
}

impl Plan {
    /// Creates a plan without nodes, and with one ordered domain that has the window of the settings.
    pub fn new(settings: Settings) -> Self {
        let domain = Domain { window: settings.window, ordered: true };
        Plan { name: None, settings, domains: vec![domain], nodes: Vec::new(), edges: Vec::new() }
    }

    /// Creates a plan without nodes and domains, which owns no memory. It is left in the place of a plan that
    /// was taken out.
    pub fn empty() -> Self {
        let settings = Settings::new(1, 1);
        Plan { name: None, settings, domains: Vec::new(), nodes: Vec::new(), edges: Vec::new() }
    }

    /// Sets the name that people see.
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Adds a node in a unit of its own, in the last domain, without an edge. Sets its `id`, `domain` and
    /// `unit`. A front end adds the source in this way.
    pub fn push(&mut self, node: Node) -> NodeId {
        let unit = self.nodes.last().map_or(0, |last| last.unit + 1);
        self.place(node, unit)
    }

    /// Adds a node in a unit of its own. It takes items of type `item` from the previous node, through a
    /// lane. The first node of a plan gets no edge.
    ///
    /// If the previous node is parallel and gives up order, the new node begins a domain, unless
    /// [`open_domain`](Self::open_domain) was called in between. The index of this domain is the order of
    /// arrival, and its window is that of the previous domain.
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

    /// Adds a node to the unit of the previous node. It takes items of type `item` by a plain call, as with
    /// `map` after `map`. The first node of a plan gets no edge.
    pub fn compose(&mut self, item: ItemType, node: Node) -> NodeId {
        let from = self.last_id();
        let unit = self.nodes.last().map_or(0, |last| last.unit);
        let to = self.place(node, unit);
        self.connect_from(from, to, item);
        to
    }

    /// Opens a domain, to which the next nodes belong. Returns its index.
    pub fn open_domain(&mut self, domain: Domain) -> usize {
        self.domains.push(domain);
        self.domains.len() - 1
    }

    /// Adds an edge between two nodes, for graphs that are not a line. Inside a unit it is a plain call.
    /// Between units it is a lane with the window of the giving node's domain and the burst of the settings.
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

    /// The node with this id, mutably: for a setting that follows a stage (`.name(..)`, `.replicate(..)`).
    pub fn node_mut(&mut self, id: NodeId) -> Option<&mut Node> {
        self.nodes.get_mut(id.0)
    }

    /// The units, along the plan: runs of nodes that are executed as one piece of code. No unit is empty.
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

    /// The node that gives items their index in a domain: the source, the node that changes the number of
    /// items, or the first node of the parallel unit whose results get an index when they finish. `None` for
    /// a domain without nodes.
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

    /// Gives up order from a node on. Parallel units from there on give their results in the order in which
    /// they finish, and each of them ends a domain.
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
            node.ordered &= node.unit < first_unit || !node.role.is_parallel() || node.keeps_indices();
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
            self.nodes[at].ordered &= self.domains[domain].ordered || self.nodes[at].keeps_indices();
        }
    }

    /// Sets the window of every domain and of every lane, in items.
    pub fn set_window(&mut self, window: usize) {
        self.settings.window = window;
        for domain in &mut self.domains {
            domain.window = window;
        }
        self.fit_lanes();
    }

    /// Gives each lane as many slots as the window of its domain has items. A lane without a burst of its own
    /// gets the burst of the settings.
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

    /// Makes the plan consistent after changes to `before`, where the changes leave no doubt. If only the window or the
    /// burst of the settings was changed, every domain and lane gets it. A lane becomes as wide as its domain. After a
    /// parallel node that gives up order, a domain begins.
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
            self.nodes[0].in_blocks = false;
        }
    }

    /// How many workers are needed so that each parallel node with the schedule `OnDemand` can have all its
    /// replicas at once. 0 if no replicas were set.
    pub fn most_replicas(&self) -> usize {
        let asked = self.nodes.iter().filter(|node| node.schedule == crate::Schedule::OnDemand);
        asked.filter_map(|node| node.replicas).max().unwrap_or(0)
    }

    /// The size of the largest item that passes between two nodes, in bytes.
    pub fn largest_item(&self) -> usize {
        self.edges.iter().map(|edge| edge.item.size).max().unwrap_or(0)
    }

    fn last_id(&self) -> Option<NodeId> {
        self.nodes.len().checked_sub(1).map(NodeId)
    }

    fn place(&mut self, mut node: Node, unit: usize) -> NodeId {
        let id = NodeId(self.nodes.len());
        let domain = self.domains.len().saturating_sub(1);
        // After a node that gives up order, no node can restore it.
        node.ordered &= node.keeps_indices() || self.domains.get(domain).is_none_or(|domain| domain.ordered);
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

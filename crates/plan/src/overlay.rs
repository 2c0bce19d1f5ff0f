//! What was measured of a run.

use crate::{Machine, NodeId, Plan, Rate, Role};
use std::collections::BTreeMap;

/// What was measured of a node. Each value that is not known is left out of the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// How many items it took.
    pub items: Option<u64>,
    /// The share of the time in which it was busy, of all the calls that it may have at once: 0 to 1.
    pub busy: Option<f64>,
    /// Mean time for an item, in nanoseconds.
    pub cost: Option<u64>,
    /// Mean time that an item waited before it, in nanoseconds.
    pub waiting: Option<u64>,
    /// Mean number of items that waited before it.
    pub occupancy: Option<f64>,
}

/// What was measured of a run, to be laid over the picture of its plan ([`Plan::to_svg_with`]) and to predict from
/// ([`Plan::with_measured`]).
///
/// ```
/// use anabranch_plan::{ItemType, Measured, Node, NodeId, Overlay, Plan, Settings};
///
/// let mut plan = Plan::new(Settings::new(2, 64));
/// plan.push(Node::source("read").cost(1_000));
/// plan.then(ItemType::of::<u64>(), Node::parallel("encode").cost(30_000));
/// plan.then(ItemType::of::<u64>(), Node::sink("write").cost(5_000));
///
/// let encode = Measured { items: Some(1_000), busy: Some(0.97), ..Measured::default() };
/// let overlay = Overlay::new().node(NodeId(1), encode).bottleneck(NodeId(1)).per_item(18_400.0);
/// let picture = plan.to_svg_with(&overlay);
/// assert!(picture.contains("1000 items"));
/// assert!(picture.contains("bottleneck"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overlay {
    pub(crate) nodes: BTreeMap<NodeId, Measured>,
    pub(crate) bottleneck: Option<NodeId>,
    pub(crate) per_item: Option<f64>,
    pub(crate) machine: Machine,
}

impl Overlay {
    /// Nothing was measured.
    pub fn new() -> Self {
        Overlay::default()
    }

    /// Adds what was measured of a node. What was measured of a unit as one goes to its first node.
    pub fn node(mut self, node: NodeId, measured: Measured) -> Self {
        self.nodes.insert(node, measured);
        self
    }

    /// Says which node bounds the throughput.
    pub fn bottleneck(mut self, node: NodeId) -> Self {
        self.bottleneck = Some(node);
        self
    }

    /// Says how many nanoseconds passed between two items of the source. The picture has the prediction beside it.
    pub fn per_item(mut self, nanoseconds: f64) -> Self {
        self.per_item = Some(nanoseconds);
        self
    }

    /// Says on which machine it was measured, for the prediction beside it; else there is a core for each thread.
    pub fn on(mut self, machine: Machine) -> Self {
        self.machine = machine;
        self
    }
}

impl Plan {
    /// The same plan with the costs that were measured, and with the rates that follow from the items where the plan is
    /// a line: what a prediction is made from after a run, or after its first items. In a unit of which only some
    /// nodes have a measured cost the others get 0, as where a unit was measured as one.
    ///
    /// ```
    /// use anabranch_plan::{ItemType, Measured, Node, NodeId, Overlay, Plan, Rate, Settings};
    ///
    /// let mut plan = Plan::new(Settings::new(2, 64));
    /// plan.push(Node::source("read"));
    /// plan.then(ItemType::of::<u64>(), Node::parallel("filter"));
    /// plan.then(ItemType::of::<u64>(), Node::sink("write"));
    ///
    /// let took = |items: u64, cost: u64| Measured { items: Some(items), cost: Some(cost), ..Measured::default() };
    /// let run = Overlay::new()
    ///     .node(NodeId(0), took(1_000, 900))
    ///     .node(NodeId(1), took(1_000, 7_000))
    ///     .node(NodeId(2), took(250, 2_000));
    /// let measured = plan.with_measured(&run);
    /// assert_eq!(measured.nodes[1].rate, Some(Rate { given: 250, taken: 1_000 }));
    /// assert_eq!(measured.predict(1)?.per_item, 900.0 + 7_000.0 + 2_000.0 / 4.0);
    /// # Ok::<(), anabranch_plan::PredictError>(())
    /// ```
    pub fn with_measured(&self, overlay: &Overlay) -> Plan {
        let mut plan = self.clone();
        let cost = |id: NodeId| overlay.nodes.get(&id).and_then(|measured| measured.cost);
        for unit in plan.nodes.chunk_by_mut(|a, b| a.unit == b.unit) {
            if unit.iter().any(|node| cost(node.id).is_some()) {
                for node in unit {
                    node.cost = Some(cost(node.id).unwrap_or(0));
                }
            }
        }
        let is_line = self.edges.iter().all(|edge| Some(edge.to.0) == edge.from.0.checked_add(1));
        let items = |id: NodeId| overlay.nodes.get(&id).and_then(|measured| measured.items);
        // From one node that was counted to the next; what is between them was not.
        let counted: Vec<(usize, u64)> =
            (0..self.nodes.len()).filter_map(|at| Some((at, items(self.nodes[at].id)?))).collect();
        for pair in counted.windows(2).filter(|_| is_line) {
            let [(from, taken), (next, given)] = *pair else { continue };
            for node in &mut plan.nodes[from..next] {
                node.rate = None;
            }
            let giver = &mut plan.nodes[next - 1];
            if giver.role != Role::Source && taken > 0 && given != taken {
                giver.rate = Some(Rate { given, taken });
            }
        }
        plan
    }
}

//! The measurements of a run.

use crate::{Machine, NodeId, Plan, Rate, Role};
use std::collections::BTreeMap;

/// The measurements of a node. The picture leaves out values that are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// How many items it took.
    pub items: Option<u64>,
    /// The share of the time in which it was busy, from 0 to 1. 1 means that all calls that may run at once
    /// were running.
    pub busy: Option<f64>,
    /// The mean time for an item, in nanoseconds.
    pub cost: Option<u64>,
    /// The mean time that an item waited before it, in nanoseconds.
    pub waiting: Option<u64>,
    /// The mean number of items that waited before it.
    pub occupancy: Option<f64>,
}

/// The measurements of a run. They can be drawn over the picture of a plan ([`Plan::to_svg_with`]), and used
/// for predictions ([`Plan::with_measured`]).
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
    /// Creates an overlay without measurements.
    pub fn new() -> Self {
        Overlay::default()
    }

    /// Adds the measurements of a node. If a unit was measured as one, they belong to its first node.
    pub fn node(mut self, node: NodeId, measured: Measured) -> Self {
        self.nodes.insert(node, measured);
        self
    }

    /// Sets the node that bounds the throughput.
    pub fn bottleneck(mut self, node: NodeId) -> Self {
        self.bottleneck = Some(node);
        self
    }

    /// Sets the mean time between two items of the source, in nanoseconds. The picture shows the prediction
    /// next to it.
    pub fn per_item(mut self, nanoseconds: f64) -> Self {
        self.per_item = Some(nanoseconds);
        self
    }

    /// Sets the machine of the measurement, for the prediction. By default there is a core for each thread.
    pub fn on(mut self, machine: Machine) -> Self {
        self.machine = machine;
        self
    }
}

impl Plan {
    /// The same plan with the measured costs, from which a prediction can be made. If the plan is a line, it
    /// also gets the rates that follow from the numbers of items.
    ///
    /// If only some nodes of a unit have a measured cost, the others get the cost 0: the unit was measured as
    /// one.
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
        // Rates go from one counted node to the next. The nodes between the two were not counted.
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

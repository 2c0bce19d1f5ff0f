//! The plan of a stream while it is built, and its attachments.

use std::ops::Range;

use anabranch_plan::{Domain, Executor, ItemType, Machine, Node, Note, Placement, Plan, Settings};

use crate::settings::{Attached, Unset, WINDOW_ITEMS};

/// The plan of a stream while it is built, and its attachments.
pub(super) struct Draft<'env> {
    pub(super) outline: Outline,
    pub(super) attached: Attached<'env>,
}

/// A plan without an end, and the settings that are filled in when the end is added.
#[derive(Debug, Clone)]
pub(super) struct Outline {
    pub(super) plan: Plan,
    pub(super) unset: Unset,
    /// Whether parallel stages that are added from now on give up the order of the items.
    gives_order_up: bool,
}

/// The number of nodes for which memory is reserved. Most streams have no more.
const USUAL_NODES: usize = 5;

impl Draft<'_> {
    /// Creates the plan of a stream that has only a source.
    pub(super) fn new(source: Node) -> Self {
        let mut plan = Plan::new(Settings::new(1, 1));
        plan.nodes.reserve(USUAL_NODES);
        plan.edges.reserve(USUAL_NODES);
        plan.push(source);
        let outline = Outline { plan, unset: Unset::default(), gives_order_up: false };
        Self { outline, attached: Attached::default() }
    }

    /// The plan with the end `end`, which takes items of the type `item`, and the notes of the passes.
    /// Nothing runs.
    pub(super) fn planned(&self, end: Node, item: ItemType) -> (Plan, Vec<Note>) {
        let mut outline = self.outline.clone();
        let notes = outline.close(end, item, &self.attached);
        (outline.plan, notes)
    }
}

impl Outline {
    /// The stage that was last added.
    pub(super) fn last(&mut self) -> &mut Node {
        self.plan.nodes.last_mut().expect("a stream has a source")
    }

    /// The nodes of the parallel unit to which stages can still be added. Empty if the last stage is serial.
    pub(super) fn open_unit(&self) -> Range<usize> {
        let nodes = &self.plan.nodes;
        let last = &nodes[nodes.len() - 1];
        if !last.role.is_parallel() {
            return nodes.len()..nodes.len();
        }
        let first = nodes.iter().rposition(|node| node.unit != last.unit).map_or(0, |at| at + 1);
        first..nodes.len()
    }

    /// Adds a stage that takes items of the type `item`. A parallel stage is added to the open unit, if there
    /// is one. Returns the id of the stage.
    pub(super) fn add(&mut self, mut node: Node, item: ItemType) -> usize {
        node.ordered &= !(self.gives_order_up && node.role.is_parallel());
        let composes = node.role.is_parallel() && !self.open_unit().is_empty();
        let id = if composes { self.plan.compose(item, node) } else { self.plan.then(item, node) };
        id.0
    }

    /// Adds a stage that takes items of the type `item` and opens a new domain. Returns the id of the stage.
    pub(super) fn add_domain(&mut self, node: Node, item: ItemType) -> usize {
        let before = &self.plan.nodes[self.plan.nodes.len() - 1];
        let ordered = self.plan.domains[before.domain].ordered && !before.gives_arrivals();
        let window = self.plan.settings.window;
        self.plan.open_domain(Domain { window, ordered });
        self.add(node, item)
    }

    /// Gives up the order of the items for the open unit and for all stages behind it.
    pub(super) fn give_order_up(&mut self) {
        self.gives_order_up = true;
        let open = self.open_unit();
        self.plan.nodes[open].iter_mut().for_each(|node| node.ordered = false);
    }

    /// Adds the end, fills in the settings that were not set, and applies the passes and the user's changes.
    /// Returns the notes of the passes.
    ///
    /// # Panics
    /// If the plan cannot run after the user's changes, with the error of the plan.
    pub(super) fn close(&mut self, mut end: Node, item: ItemType, attached: &Attached<'_>) -> Vec<Note> {
        if let Some(name) = self.unset.end_name.take() {
            end.name = name.into();
        }
        end.cost = self.unset.end_cost.or(end.cost);
        self.add(end, item);
        let Self { plan, unset, .. } = self;
        unset.fill_in(plan, attached);
        let mut notes = Vec::new();
        if let Some(passes) = unset.passes {
            let passes = if unset.window { passes.window_up_to(WINDOW_ITEMS) } else { passes };
            notes = passes.apply(plan, &machine());
        }
        for change in &attached.changes {
            let before = plan.clone();
            change(plan);
            plan.follow_changes(&before);
            if let Err(error) = plan.check_against(&before) {
                panic!("with_plan: {error}");
            }
        }
        // With one worker, the caller runs alone, and the plain loop is the fastest executor.
        let is_alone = plan.settings.workers == 1
            && attached.handle.is_none()
            && plan.nodes.iter().all(|node| node.placement != Placement::Dedicated);
        if is_alone && !attached.is_watched() {
            plan.settings.executor = Executor::Inline;
        }
        notes
    }
}

/// The description of this machine, for predictions.
pub(super) fn machine() -> Machine {
    Machine::new(std::thread::available_parallelism().map_or(1, usize::from))
}

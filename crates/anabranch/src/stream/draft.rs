//! The plan of a stream while it is built, and what was attached to it.

use std::ops::Range;

use anabranch_plan::{Domain, Executor, ItemType, Machine, Node, Note, Placement, Plan, Settings};

use crate::settings::{Attached, Unset, WINDOW_ITEMS};

/// The plan of a stream while it is built, and what was attached to it.
pub(super) struct Draft<'env> {
    pub(super) outline: Outline,
    pub(super) attached: Attached<'env>,
}

/// A plan without an end, and what is to be filled in once it has one.
#[derive(Debug, Clone)]
pub(super) struct Outline {
    pub(super) plan: Plan,
    pub(super) unset: Unset,
    /// Parallel stages that are added from now on give order up.
    gives_order_up: bool,
}

/// Most streams have no more nodes.
const USUAL_NODES: usize = 5;

impl Draft<'_> {
    /// A stream of a source alone.
    pub(super) fn new(source: Node) -> Self {
        let mut plan = Plan::new(Settings::new(1, 1));
        plan.nodes.reserve(USUAL_NODES);
        plan.edges.reserve(USUAL_NODES);
        plan.push(source);
        let outline = Outline { plan, unset: Unset::default(), gives_order_up: false };
        Self { outline, attached: Attached::default() }
    }

    /// The plan with `end`, which takes items `item`, and what passes did to it. Nothing runs.
    pub(super) fn planned(&self, end: Node, item: ItemType) -> (Plan, Vec<Note>) {
        let mut outline = self.outline.clone();
        let notes = outline.close(end, item, &self.attached);
        (outline.plan, notes)
    }
}

impl Outline {
    /// The stage that was added last.
    pub(super) fn last(&mut self) -> &mut Node {
        self.plan.nodes.last_mut().expect("a stream has a source")
    }

    /// The nodes of the parallel unit to which stages can still be added; empty if the last stage is serial.
    pub(super) fn open_unit(&self) -> Range<usize> {
        let nodes = &self.plan.nodes;
        let last = &nodes[nodes.len() - 1];
        if !last.role.is_parallel() {
            return nodes.len()..nodes.len();
        }
        let first = nodes.iter().rposition(|node| node.unit != last.unit).map_or(0, |at| at + 1);
        first..nodes.len()
    }

    /// Adds a stage that takes items `item`: to the open unit if both are parallel. Gives its id.
    pub(super) fn add(&mut self, mut node: Node, item: ItemType) -> usize {
        node.ordered &= !(self.gives_order_up && node.role.is_parallel());
        let composes = node.role.is_parallel() && !self.open_unit().is_empty();
        let id = if composes { self.plan.compose(item, node) } else { self.plan.then(item, node) };
        id.0
    }

    /// Adds a stage that takes items `item` and gives items with indices and a window of their own. Gives its id.
    pub(super) fn add_domain(&mut self, node: Node, item: ItemType) -> usize {
        let before = &self.plan.nodes[self.plan.nodes.len() - 1];
        let ordered = self.plan.domains[before.domain].ordered && !before.gives_arrivals();
        let window = self.plan.settings.window;
        self.plan.open_domain(Domain { window, ordered });
        self.add(node, item)
    }

    /// Gives order up for the open unit, and for all that comes behind it.
    pub(super) fn give_order_up(&mut self) {
        self.gives_order_up = true;
        let open = self.open_unit();
        self.plan.nodes[open].iter_mut().for_each(|node| node.ordered = false);
    }

    /// Adds the end, fills in what nobody has set, and lets passes and the user's changes have their way. Gives what passes
    /// did.
    ///
    /// # Panics
    /// If the user's changes make a plan that cannot run, with the plan's own error.
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
        // One worker is the caller alone: with nobody to share with, the plain loop is the best executor.
        let is_alone = plan.settings.workers == 1
            && attached.handle.is_none()
            && plan.nodes.iter().all(|node| node.placement != Placement::Dedicated);
        if is_alone && !attached.is_watched() {
            plan.settings.executor = Executor::Inline;
        }
        notes
    }
}

/// This machine, as far as predictions know it.
pub(super) fn machine() -> Machine {
    Machine::new(std::thread::available_parallelism().map_or(1, usize::from))
}

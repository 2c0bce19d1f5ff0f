//! The plan of a stream while it is built, and its attachments.

use std::ops::Range;

use anabranch_plan::{
    Domain, Edge, EdgeKind, Executor, ItemType, Machine, Node, NodeId, Note, Placement, Plan, Settings,
};

use super::attached::Attached;
use super::defaults::{Chooser, Unset, WINDOW_ITEMS};
use super::options::Next;
use crate::control::{Count, WorkerCount};
use crate::engine;

/// The plan of a stream while it is built, and its attachments.
pub(crate) struct Draft<'env> {
    pub(crate) outline: Outline,
    pub(crate) attached: Attached<'env>,
}

/// A plan without an end, and the settings that are filled in when the end is added.
#[derive(Debug, Clone)]
pub(crate) struct Outline {
    pub(crate) plan: Plan,
    pub(crate) unset: Unset,
    /// The options of the next stage.
    pub(crate) next: Next,
    /// Whether parallel stages that are added from now on give up the order of the items.
    gives_order_up: bool,
    /// The branch to which stages are added; 0 for the main line.
    pub(crate) branch: usize,
    /// How many branches were begun so far.
    branches: usize,
    /// Whether stages are added to the loop of a feedback.
    pub(crate) is_in_loop: bool,
    /// Whether an index may have several items behind the last stage.
    pub(crate) gives_many: bool,
    /// The fork behind which the next stage is added, if that begins a branch.
    begins_behind: Option<usize>,
    /// The stage that puts the results of futures into their order, if one was added: the last of them.
    pub(crate) futures: Option<usize>,
    /// Whether the calling thread runs the stream alone, once it is [closed](Self::close). No handle changes that.
    pub(crate) is_alone: bool,
}

/// The number of nodes for which memory is reserved. Most streams have no more.
const USUAL_NODES: usize = 5;

/// The operators of stages that a method adds before its main stage. The options of the method apply to its main stage.
const BEFOREHAND: [&str; 5] = ["begin", "deal", "divide", "gather", "issue"];

impl Draft<'_> {
    /// Sets the number of workers, or what says it.
    ///
    /// # Panics
    /// If the number is 0.
    #[track_caller]
    pub(crate) fn set_workers(&mut self, workers: WorkerCount) {
        self.outline.plan.settings.executor = Executor::Threads;
        self.attached.handle = match workers.0 {
            Count::Handle(handle) => Some(handle),
            Count::Number(number) => {
                assert!(number > 0, "`workers(0)`: a stream has 1 worker or more");
                self.outline.plan.settings.workers = number;
                self.outline.unset.workers = false;
                None
            }
        };
    }

    /// Creates the plan of a stream that has only a source.
    pub(crate) fn new(source: Node) -> Self {
        let mut plan = Plan::new(Settings::new(1, 1));
        plan.nodes.reserve(USUAL_NODES);
        plan.edges.reserve(USUAL_NODES);
        plan.push(source);
        Self { outline: Outline::new(plan), attached: Attached::default() }
    }

    /// Puts a source that has no items in the place of all stages. The settings stay, and the options of the next stage.
    pub(crate) fn empty(&mut self) {
        let Self { outline, attached } = self;
        outline.empty();
        let Attached { inner, feed, supply, outside, most, remarks, .. } = attached;
        (*feed, *supply, *outside, *most) = (None, None, None, Some(0));
        inner.clear();
        remarks.clear();
    }

    /// The plan with the end `end`, which takes items of the type `item`, and the notes of the passes.
    /// Nothing runs.
    pub(crate) fn planned(&self, end: Node, item: ItemType) -> (Plan, Vec<Note>) {
        let mut outline = self.outline.clone();
        let notes = outline.close(end, item, &self.attached);
        (outline.plan, notes)
    }
}

impl Outline {
    /// The outline of a stream that has the stages of a plan, and no settings yet.
    fn new(plan: Plan) -> Self {
        Self {
            plan,
            unset: Unset::default(),
            next: Next::default(),
            gives_order_up: false,
            branch: 0,
            branches: 0,
            is_in_loop: false,
            gives_many: false,
            begins_behind: None,
            futures: None,
            is_alone: false,
        }
    }

    /// Whether stages are added to no branch and to no loop.
    pub(crate) fn is_main_line(&self) -> bool {
        self.branch == 0 && !self.is_in_loop
    }

    /// Puts a source that has no items in the place of all stages.
    fn empty(&mut self) {
        let Self { plan, unset, next, gives_order_up, .. } = self;
        let source = Node { in_blocks: false, placement: Placement::Workers, ..plan.nodes[0].clone() };
        let mut emptied = Plan {
            name: plan.name.take(),
            ..Plan::new(Settings { window_bytes: None, ..plan.settings.clone() })
        };
        emptied.push(source);
        (unset.window_behind, unset.blocks) = (None, Vec::new());
        let (unset, next) = (std::mem::take(unset), std::mem::take(next));
        *self = Self { unset, next, gives_order_up: *gives_order_up, ..Self::new(emptied) };
    }

    /// The stage that was last added.
    pub(crate) fn last(&mut self) -> &mut Node {
        self.plan.nodes.last_mut().expect("a stream has a source")
    }

    /// The nodes of the parallel unit to which stages can still be added. Empty if the last stage is serial.
    pub(crate) fn open_unit(&self) -> Range<usize> {
        let nodes = &self.plan.nodes;
        let last = &nodes[nodes.len() - 1];
        if !last.role.is_parallel() || self.begins_behind.is_some() {
            return nodes.len()..nodes.len();
        }
        let first = nodes.iter().rposition(|node| node.unit != last.unit).map_or(0, |at| at + 1);
        first..nodes.len()
    }

    /// Adds a stage that takes items of the type `item`. A parallel stage is added to the open unit, if there
    /// is one. Returns the id of the stage.
    pub(crate) fn add(&mut self, mut node: Node, item: ItemType) -> usize {
        (node.branch, node.in_loop) = (self.branch, self.is_in_loop);
        if !BEFOREHAND.contains(&&*node.operator) {
            std::mem::take(&mut self.next).apply(&mut node);
        }
        node.ordered &= !(self.gives_order_up && node.role.is_parallel()) || node.keeps_indices();
        if let Some(fork) = self.begins_behind.take() {
            let id = self.plan.push(node);
            self.plan.connect(NodeId(fork), id, item);
            return id.0;
        }
        let composes = node.role.is_parallel() && !self.open_unit().is_empty();
        let id = if composes { self.plan.compose(item, node) } else { self.plan.then(item, node) };
        id.0
    }

    /// Adds a stage that takes items of the type `item` and opens a new domain. Returns the id of the stage.
    ///
    /// # Panics
    /// In a branch.
    #[track_caller]
    pub(crate) fn add_domain(&mut self, node: Node, item: ItemType) -> usize {
        self.assert_may_renumber(&node.operator);
        let before = &self.plan.nodes[self.plan.nodes.len() - 1];
        let ordered = self.plan.domains[before.domain].ordered && !before.gives_arrivals();
        let window = self.plan.settings.window;
        self.plan.open_domain(Domain { window, ordered });
        self.gives_many = false;
        self.add(node, item)
    }

    /// # Panics
    /// In a branch or a loop: the items of `operator`, a method of the user, have new places in the order.
    #[track_caller]
    pub(crate) fn assert_may_renumber(&self, operator: &str) {
        assert!(
            self.branch == 0,
            "`{operator}` gives its items new places in the order, but the branches of a fork are joined item by item: \
             use `flat_map` in the branch, or `{operator}` before the fork or after the join"
        );
        assert!(
            !self.is_in_loop,
            "`{operator}` gives its items new places in the order, which a stage of a feedback must not: use `flat_map`, or \
             `{operator}` before or after the feedback"
        );
    }

    /// # Panics
    /// In a branch or a loop: `method` takes all items of a stream, and these have only some.
    #[track_caller]
    pub(crate) fn assert_whole(&self, method: &str) {
        let (place, after) = match (self.branch, self.is_in_loop) {
            (0, false) => return,
            (0, true) => ("feedback", "feedback"),
            _ => ("branch", "join of the branches"),
        };
        panic!(
            "`{method}()` was called on the stream of a {place}, whose function returns this stream with stages added: call \
             `{method}()` on the stream after the {after}"
        );
    }

    /// Gives up the order of the items for the open unit and for all stages behind it.
    ///
    /// # Panics
    /// In a branch.
    #[track_caller]
    pub(crate) fn give_order_up(&mut self) {
        assert!(
            self.branch == 0,
            "a branch keeps the order of its items: use `unordered` before the fork or after the join"
        );
        assert!(
            !self.is_in_loop,
            "a feedback keeps the order of its items: use `unordered` before or after it"
        );
        self.gives_order_up = true;
        let open = self.open_unit();
        self.plan.nodes[open].iter_mut().for_each(|node| node.ordered = false);
        if let Some(last) = self.futures.filter(|last| last + 1 == self.plan.nodes.len()) {
            // The futures are polled by the stage before, and their results are taken in the domain of this one.
            self.plan.nodes[last - 1..].iter_mut().for_each(|node| node.ordered = false);
            self.plan.domains[self.plan.nodes[last].domain].ordered = false;
        }
    }

    /// Begins a branch behind the node `fork`. Returns its number, and the number of the branch that the fork is in.
    pub(crate) fn begin_branch(&mut self, fork: usize) -> (usize, usize) {
        let outer = self.branch;
        self.branches += 1;
        (self.branch, self.begins_behind) = (self.branches, Some(fork));
        (self.branch, outer)
    }

    /// Whether the branch that was begun last has no stage yet.
    pub(crate) fn begins(&self) -> bool {
        self.begins_behind.is_some()
    }

    /// Adds the edge by which items go round again, from the last node to `entry`.
    pub(crate) fn go_round(&mut self, entry: usize, item: ItemType, places: usize) {
        let from = NodeId(self.plan.nodes.len() - 1);
        let kind = EdgeKind::Back { places };
        self.plan.edges.push(Edge { from, to: NodeId(entry), item, kind });
    }

    /// Adds the join of branches. Each of them ends with a node, which gives items of a type. Returns the join's id.
    pub(crate) fn add_join(&mut self, mut node: Node, ends: Vec<(usize, ItemType)>) -> usize {
        node.branch = self.branch;
        let id = self.plan.push(node);
        for (end, item) in ends {
            self.plan.connect(NodeId(end), id, item);
        }
        id.0
    }

    /// Adds the end, fills in the settings that were not set, and applies the passes and the user's changes.
    /// Returns the notes of the passes.
    ///
    /// # Panics
    /// If the plan cannot run after the user's changes, with the error of the plan.
    pub(crate) fn close(&mut self, end: Node, item: ItemType, attached: &Attached<'_>) -> Vec<Note> {
        self.add(end, item);
        let Self { plan, unset, .. } = self;
        unset.fill_in(plan, attached);
        let mut notes = Vec::new();
        if let Some(Chooser { passes, apply }) = unset.passes {
            let passes = if unset.window { passes.window_up_to(WINDOW_ITEMS) } else { passes };
            notes = apply(&passes, plan);
        }
        for change in &attached.changes {
            change(plan);
        }
        let is_alone = plan.settings.workers == 1
            && attached.handle.is_none()
            && plan.nodes.iter().all(|node| node.placement != Placement::Dedicated)
            && !attached.is_watched();
        self.is_alone = is_alone || plan.settings.executor == Executor::Inline;
        if self.is_alone {
            // The calling thread runs the stream alone. The plain loop is the fastest, but it has no place for what waits in a
            // loop or as a future, and no spans.
            let has_loops = plan.nodes.iter().any(|node| node.in_loop);
            let has_futures = self.futures.is_some();
            let is_plain = !has_loops && !has_futures && !engine::is_traced();
            plan.settings.executor = if is_plain { Executor::Inline } else { Executor::Threads };
            plan.settings.workers = 1;
            // While a source waits for other threads, the calling thread polls futures.
            let waits = has_futures && attached.outside.is_some();
            let first = usize::from(waits);
            plan.nodes.iter_mut().skip(first).for_each(|node| node.placement = Placement::Workers);
        }
        notes
    }
}

/// The description of this machine, for predictions.
pub(crate) fn machine() -> Machine {
    Machine::new(std::thread::available_parallelism().map_or(1, usize::from))
}

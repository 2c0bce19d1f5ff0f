//! Makes a line from a plan and the code beside it.
//!
//! The code of a stream is a chain of `Upstream`s, from the sink to the source. Each of them connects itself in
//! front of the node that takes its items (a `Consumer`). It asks the assembly how: in which domain, by a call or
//! through a lane (`edges.rs`), and on which threads. The nodes are therefore created from the sink to the
//! source, and are sorted into the plan's order at the end.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc as StdArc;

use anabranch_plan::{Burst, EdgeKind, Executor, Node, NodeId, Plan};
use anabranch_record::lane::{Domain, Exit, Indices, Reader, WINDOW_LIMIT, Writer};
use anabranch_record::sync::Arc;
use anabranch_record::{EventCount, Word};

use super::line::{Line, ParallelUnit, Place, PlaceUnit};
use crate::engine::nodes::claims::Claims;
use crate::engine::nodes::end::LineEnd;
use crate::engine::nodes::head::ResultQueue;
use crate::engine::nodes::input::{Drain, Lane};
use crate::engine::nodes::node::{Drive, Parallel, SerialNode, SerialUnit};
use crate::engine::nodes::step::BranchCall;
use crate::engine::nodes::stopwatch::Stopwatch;
use crate::engine::state::blocks::is_in_blocks;
use crate::engine::state::failure::ErrorSlot;
use crate::engine::state::gate::Gate;
use crate::engine::state::progress::Reporter;
use crate::engine::state::room::RoomNotice;
use crate::engine::state::run::Run;
use crate::engine::state::site::{Site, Spot};
use crate::measures::{Crossing, Mark};

/// A line that is being built.
pub(crate) struct Assembly<'run> {
    pub(crate) run: Arc<Run>,
    pub(crate) plan: Plan,
    domains: Vec<DomainEnds>,
    /// By the number of a branch, less 1.
    branches: Vec<Branch>,
    /// For each node, the event at which its dedicated thread waits, if it has such a thread. Empty if no
    /// node has one.
    own: Vec<Option<Arc<EventCount>>>,
    places: Vec<Place<'run>>,
    /// The source of a [direct](super::direct) line.
    pub(crate) drive: Option<Box<dyn Drive + 'run>>,
    /// The branches of a direct line whose forks were not added yet, the last ones last.
    pub(crate) branch_calls: Vec<BranchCall<'run>>,
    /// Measures a direct line, if the run is measured.
    stopwatch: Option<Rc<Stopwatch>>,
    /// The queue of the results, if the run is detached.
    pub(crate) queue: Option<StdArc<dyn ResultQueue>>,
}

/// A domain's two ends, until nodes take them, and the state that its nodes share.
struct DomainEnds {
    domain: Arc<Domain>,
    indices: Option<Indices>,
    exit: Option<Exit>,
    /// Tells the domain's source that the window has room. `None` in a direct line, where no thread waits.
    notice: Option<RoomNotice>,
    /// The id of the node that opens the domain.
    opened_by: usize,
}

/// A branch of a fork, until the fork and the join take its ends. It numbers its cells like the fork's domain, but with
/// a `Domain` of its own, so several branches can have the same index at once.
struct Branch {
    domain: Arc<Domain>,
    indices: Option<Indices>,
    exit: Option<Exit>,
}

impl<'run> Assembly<'run> {
    /// Begins to build a line of `plan`. The source gives at most `most` items. `own` is the result of
    /// [`own_events`](super::own_events).
    pub(crate) fn new(
        run: Arc<Run>,
        plan: Plan,
        own: Vec<Option<Arc<EventCount>>>,
        most: Option<usize>,
    ) -> Self {
        let is_direct = plan.settings.executor == Executor::Inline;
        let places = Vec::with_capacity(if is_direct { 0 } else { plan.nodes.len() });
        let (domains, branches) = (Vec::new(), Vec::new());
        let stopwatch =
            (is_direct && run.measures().is_some()).then(|| Rc::new(Stopwatch::start(&run, &plan)));
        let mut assembly = Self {
            run,
            plan,
            domains,
            branches,
            own,
            places,
            drive: None,
            branch_calls: Vec::new(),
            stopwatch,
            queue: None,
        };
        assembly.domains =
            (0..assembly.plan.domains.len()).map(|number| assembly.open(number, most)).collect();
        let branches = assembly.plan.nodes.iter().map(|node| node.branch).max().unwrap_or(0);
        assembly.branches = (1..=branches).map(|branch| assembly.open_branch(branch)).collect();
        assembly
    }

    /// A branch has room for each index that its fork's domain has room for, so no fork waits.
    fn open_branch(&self, branch: usize) -> Branch {
        let number = self.plan.nodes.iter().find(|node| node.branch == branch).map_or(0, |node| node.domain);
        let (indices, exit) = Domain::open(self.domains[number].domain.window() as usize);
        Branch { domain: Arc::clone(indices.domain()), indices: Some(indices), exit: Some(exit) }
    }

    fn open(&self, number: usize, most: Option<usize>) -> DomainEnds {
        // One index more than there are items, because the end of the stream has an index too.
        let most = most.filter(|_| number == 0).map_or(usize::MAX, |items| items.saturating_add(1));
        let (indices, exit) = Domain::open(self.plan.domains[number].window.min(most).min(WINDOW_LIMIT));
        let domain = Arc::clone(indices.domain());
        let opened_by = self.plan.opener(number).map_or(0, |id| id.0);
        if self.is_direct() {
            return DomainEnds { domain, indices: Some(indices), exit: Some(exit), notice: None, opened_by };
        }
        let first = self.plan.nodes.iter().position(|node| node.domain == number).unwrap_or(0);
        let is_weighed =
            number == 0 && (self.plan.settings.window_bytes.is_some() || is_in_blocks(&self.plan));
        let feed = self.run.feed.clone().filter(|_| number == 0);
        let gate = (is_weighed || feed.is_some()).then(|| Arc::new(Gate::new(&domain, feed)));
        let notice = Some(RoomNotice { word: Word::new(), event: self.event_of(first), gate });
        DomainEnds { domain, indices: Some(indices), exit: Some(exit), notice, opened_by }
    }

    /// Whether the line is [direct](super::direct): it takes each item from the source to the sink by calls.
    pub(crate) fn is_direct(&self) -> bool {
        self.plan.settings.executor == Executor::Inline
    }

    /// Returns the stopwatch of a direct line whose run is measured.
    pub(crate) fn stopwatch(&self) -> Option<&Rc<Stopwatch>> {
        self.stopwatch.as_ref()
    }

    /// Returns two marks for the indices that node `id` of a direct line takes. The first one measures if the node is the first in
    /// the domain of these indices, and the second one if it is the last.
    pub(crate) fn marks(&self, id: usize) -> (Mark, Mark) {
        let before = self.domain_before(id);
        let opened_by = self.domains[before].opened_by;
        let mark = |is_on: bool| Mark::new(self.run.measures().filter(|_| is_on), opened_by, 0);
        (mark(id == opened_by + 1), mark(id == self.sink() || self.domain_of(id) != before))
    }

    /// The number of the domain of node `id`.
    pub(crate) fn domain_of(&self, id: usize) -> usize {
        self.plan.nodes[id].domain
    }

    /// The indices that node `id` uses: those of its domain, or those of its branch.
    pub(crate) fn indices_at(&self, id: usize) -> &Arc<Domain> {
        let node = &self.plan.nodes[id];
        match node.branch.checked_sub(1) {
            None => &self.domains[node.domain].domain,
            Some(branch) => &self.branches[branch].domain,
        }
    }

    /// The indices of domain `number` and of its branches, if it has branches.
    fn together(&self, number: usize) -> Arc<[Arc<Domain>]> {
        let mut branches: Vec<usize> =
            self.plan.nodes.iter().filter(|node| node.domain == number).map(|node| node.branch).collect();
        branches.sort_unstable();
        branches.dedup();
        if branches.len() <= 1 {
            return Arc::default();
        }
        let of = |branch: usize| match branch.checked_sub(1) {
            None => Arc::clone(&self.domains[number].domain),
            Some(branch) => Arc::clone(&self.branches[branch].domain),
        };
        branches.into_iter().map(of).collect()
    }

    /// The number of the domain from which a node takes its items.
    fn domain_before(&self, id: usize) -> usize {
        let edge = self.plan.inputs(NodeId(id)).next().expect("a node that takes items has an input");
        self.domain_of(edge.from.0)
    }

    /// The event at which the dedicated thread of node `id` waits, if it has one.
    fn own_event(&self, id: usize) -> Option<&Arc<EventCount>> {
        self.own.get(id)?.as_ref()
    }

    /// The event at which the threads that run serial node `id` wait.
    pub(crate) fn event_of(&self, id: usize) -> Arc<EventCount> {
        Arc::clone(self.own_event(id).unwrap_or(&self.run.event))
    }

    /// The site of node `id`.
    pub(crate) fn site(&self, id: usize) -> Site {
        let node = &self.plan.nodes[id];
        let ends = &self.domains[node.domain];
        let keeps_order = node.ordered || self.is_direct();
        Site {
            run: Arc::clone(&self.run),
            id,
            number: node.domain,
            branch: node.branch,
            opened_by: ends.opened_by,
            in_time: !keeps_order,
            gives_arrivals: !keeps_order && node.gives_arrivals(),
            is_dedicated: self.own_event(id).is_some(),
            domain: Arc::clone(self.indices_at(id)),
            together: if self.branches.is_empty() { Arc::default() } else { self.together(node.domain) },
        }
    }

    pub(crate) fn spot<E>(&self, id: usize, errors: &Arc<ErrorSlot<E>>) -> Spot<E> {
        Spot { site: self.site(id), errors: Arc::clone(errors) }
    }

    /// Whether node `id` takes blocks of items. A node that begins a domain makes single items of them.
    fn takes_blocks(&self, id: usize) -> bool {
        is_in_blocks(&self.plan) && self.domain_of(id) == 0
    }

    /// How many items of the stream a result of node `id` has at most, if the node gathers items and begins a domain.
    /// The limit is chosen so that a full window of the domain holds one window of items.
    pub(crate) fn items_in_blocks(&self, id: usize) -> usize {
        (self.plan.settings.window / self.plan.domains[self.domain_of(id)].window.max(1)).max(1)
    }

    /// The id of the sink.
    pub(crate) fn sink(&self) -> usize {
        self.plan.nodes.len() - 1
    }

    pub(crate) fn line_end(&mut self, sink: usize, reporter: Option<Reporter<'run>>) -> LineEnd<'run> {
        let number = self.domain_of(sink);
        let exit = self.take_exit(number);
        let ends = &self.domains[number];
        let exit = ends.notice.clone().map(|notice| (exit, notice));
        let mark = Mark::new(self.run.measures(), ends.opened_by, 0);
        LineEnd::new(exit, mark, reporter, &self.run)
    }

    fn notice(&self, number: usize) -> &RoomNotice {
        self.domains[number].notice.as_ref().expect("the domain of a run with threads has a room notice")
    }

    /// The notice that tells the node that begins the domain of node `id` that it may have work.
    pub(crate) fn notice_of(&self, id: usize) -> RoomNotice {
        self.notice(self.domain_of(id)).clone()
    }

    /// Takes the port that takes back the indices of domain `number`.
    pub(crate) fn take_exit(&mut self, number: usize) -> Exit {
        self.domains[number].exit.take().expect("a domain has one exit")
    }

    /// Takes the port that makes the indices of the domain that node `id` begins.
    pub(crate) fn indices_of(&mut self, id: usize) -> Indices {
        let number = self.domain_of(id);
        self.domains[number].indices.take().expect("a domain has one source")
    }

    /// The word of the baton of the node that begins the domain of node `id`.
    pub(crate) fn word_of(&self, id: usize) -> Arc<Word> {
        Arc::clone(&self.notice(self.domain_of(id)).word)
    }

    /// The gate of the domain that node `id` begins, if its source waits for more than room.
    pub(crate) fn gate_of(&self, id: usize) -> Option<Arc<Gate>> {
        self.notice(self.domain_of(id)).gate.clone()
    }

    /// The drain by which node `id` reads `lane` and gives the indices back to the domain before.
    pub(crate) fn drain_before<S: Send>(&mut self, id: usize, lane: Lane<S>) -> Drain<S> {
        let before = self.domain_before(id);
        let exit = self.take_exit(before);
        Drain::new(lane, exit, self.notice(before).clone())
    }

    /// Measures the indices that leave the domain before node `id` and enter its own. `None` if the run is
    /// not measured.
    pub(crate) fn crossing(&self, id: usize) -> Option<Crossing> {
        let (ends, opens) = (&self.domains[self.domain_before(id)], &self.domains[self.domain_of(id)]);
        Crossing::new(self.run.measures(), ends.opened_by, opens.opened_by)
    }

    /// The limits of the claims of the parallel unit whose nodes are `ids`.
    pub(crate) fn claims(&self, ids: Range<usize>) -> Claims {
        let input = self.plan.inputs(NodeId(ids.start)).next().map(|edge| edge.kind);
        let burst = match input {
            // The burst is the number of items in a block, and a claim takes a block.
            Some(EdgeKind::Lane { burst: Burst::Fixed(_), .. }) if self.takes_blocks(ids.start) => 1,
            Some(EdgeKind::Lane { burst: Burst::Fixed(items), .. }) => items as u64,
            _ => 0,
        };
        Claims::new(self.plan.nodes[ids].iter().filter_map(|node| node.replicas).min(), burst)
    }

    /// The id of the first node of the unit to which node `id` belongs.
    pub(crate) fn first_of_unit(&self, id: usize) -> usize {
        self.unit_of(id).start
    }

    /// The nodes of the unit to which node `id` belongs.
    pub(crate) fn unit_of(&self, id: usize) -> Range<usize> {
        let nodes = &self.plan.nodes;
        let is_other = |node: &Node| node.unit != nodes[id].unit;
        let start = nodes[..id].iter().rposition(is_other).map_or(0, |at| at + 1);
        start..nodes[id..].iter().position(is_other).map_or(nodes.len(), |at| id + at)
    }

    /// Takes the port that makes the indices of `branch`.
    pub(crate) fn begin_branch(&mut self, branch: usize) -> Indices {
        self.branches[branch - 1].indices.take().expect("a branch begins once")
    }

    /// Takes the port that takes back the indices of `branch`.
    pub(crate) fn end_branch(&mut self, branch: usize) -> Exit {
        self.branches[branch - 1].exit.take().expect("a branch ends once")
    }

    /// Creates the lane in which the turns of the main line pass a fork, from the fork `id` to its join.
    pub(crate) fn turns(&self, id: usize) -> (Writer<()>, Reader<()>) {
        let (writer, lane) = Domain::lane(self.indices_at(id));
        (writer, lane.reader())
    }

    /// Whether the unit of node `id` ends with the sink.
    pub(crate) fn ends_with_sink(&self, id: usize) -> bool {
        self.plan.nodes.last().is_some_and(|sink| sink.unit == self.plan.nodes[id].unit)
    }

    /// Adds the serial unit whose first node is `id`.
    pub(crate) fn serial(&mut self, id: usize, node: impl SerialNode + Send + 'run) {
        self.serial_unit(id, node, false);
    }

    /// Adds the unit that begins with the source.
    pub(crate) fn source(&mut self, id: usize, node: impl SerialNode + Send + 'run) {
        self.serial_unit(id, node, true);
    }

    fn serial_unit(&mut self, id: usize, node: impl SerialNode + Send + 'run, is_source: bool) {
        let own = self.own_event(id).cloned();
        let name = own.as_ref().map_or_else(String::new, |_| self.plan.nodes[id].name.to_string());
        self.place(id, PlaceUnit::Serial(SerialUnit { node: Box::new(node), own, name, is_source }));
    }

    /// Adds the parallel unit whose first node is `id`.
    pub(crate) fn parallel(&mut self, id: usize, hop: impl Parallel + Send + 'run) {
        self.place(id, PlaceUnit::Parallel(ParallelUnit { hop: Box::new(hop), before: 0, behind: 0 }));
    }

    fn place(&mut self, id: usize, unit: PlaceUnit<'run>) {
        self.places.push(Place { id, unit, links: 0..0 });
    }

    /// Puts the places into the order of the plan and links them. Returns the line and the plan.
    pub(crate) fn finish(self) -> (Line<'run>, Plan) {
        let Self { plan, mut places, .. } = self;
        places.sort_unstable_by_key(|place| place.id);
        let place_of = |id: NodeId| places.partition_point(|place| place.id <= id.0) - 1;
        let mut links = Vec::with_capacity(plan.edges.len());
        for edge in plan.edges.iter().filter(|edge| edge.kind.is_lane()) {
            links.push((place_of(edge.from), place_of(edge.to)));
        }
        (Line::new(places, links), plan)
    }

    /// Returns the source of a direct line, its stopwatch, and the plan.
    pub(crate) fn finish_direct(self) -> (Box<dyn Drive + 'run>, Option<Rc<Stopwatch>>, Plan) {
        (self.drive.expect("a stream begins with a source"), self.stopwatch, self.plan)
    }
}

//! From a plan and the code beside it to a line.
//!
//! The code of a stream is a chain of [`Upstream`]s, from the sink to the source. Each connects itself in front of the
//! node that takes what it gives, and asks the plan how: in which domain, by a call or through a lane, on which threads.
//! The nodes so come into being from the sink to the source, and are put into the order of the plan at the end.

use std::ops::Range;

use anabranch_plan::{Burst, EdgeKind, Executor, Node, NodeId, Placement, Plan, Role};
use anabranch_record::lane::{Domain, Exit, Indices, Outlet};
use anabranch_record::sync::Arc;
use anabranch_record::{EventCount, Word};

use super::behind::Behind;
use super::counter::Counter;
use super::end::LineEnd;
use super::failure::ErrorSlot;
use super::gate::Gate;
use super::head::Head;
use super::hop::{Claims, Parallel};
use super::input::{Drain, Input, Lane};
use super::line::{Drive, Farm, Line, Place, SerialNode, Station};
use super::measures::{Crossing, Mark};
use super::push::{Out, Push};
use super::reindex::Reindex;
use super::room::RoomNotice;
use super::run::Run;
use super::scales::Weigher;
use super::site::{Site, Spot};
use crate::progress::Reporter;

/// A line in the making.
pub(crate) struct Assembly<'run> {
    pub(crate) run: Arc<Run>,
    pub(crate) plan: Plan,
    domains: Vec<Ends>,
    /// For each node, where the thread of its own waits, if it has one.
    own: Vec<Option<Arc<EventCount>>>,
    places: Vec<(usize, Place<'run>)>,
    /// The source of the inline executor.
    pub(super) drive: Option<Box<dyn Drive + 'run>>,
}

/// The two ends of a domain, until nodes take them, and what nodes share.
struct Ends {
    domain: Arc<Domain>,
    indices: Option<Indices>,
    exit: Option<Exit>,
    /// How the domain's source is told of room, with the word of its baton. The inline executor has nobody to tell.
    notice: Option<RoomNotice>,
    opened_by: usize,
}

/// The events of the nodes that have threads of their own, by node. `outside` is the event of a source whose items come
/// from outside, which is rung there too.
pub(crate) fn own_events(plan: &Plan, outside: Option<&Arc<EventCount>>) -> Vec<Option<Arc<EventCount>>> {
    let event = |role: Role| match outside {
        Some(event) if role == Role::Source => Arc::clone(event),
        _ => Arc::new(EventCount::new()),
    };
    let is_own = |placement: Placement| placement == Placement::Dedicated;
    plan.nodes.iter().map(|node| is_own(node.placement).then(|| event(node.role))).collect()
}

impl<'run> Assembly<'run> {
    /// Of a plan whose first domain has at most `most` items. `own` is of [`own_events`].
    pub(crate) fn new(
        run: Arc<Run>,
        plan: Plan,
        own: Vec<Option<Arc<EventCount>>>,
        most: Option<usize>,
    ) -> Self {
        let is_inline = plan.settings.executor == Executor::Inline;
        let places = Vec::with_capacity(if is_inline { 0 } else { plan.nodes.len() });
        let mut assembly = Self { run, plan, domains: Vec::new(), own, places, drive: None };
        assembly.domains =
            (0..assembly.plan.domains.len()).map(|number| assembly.open(number, most)).collect();
        assembly
    }

    fn open(&self, number: usize, most: Option<usize>) -> Ends {
        // One index more than items: the end of the stream has one too.
        let most = most.filter(|_| number == 0).map_or(usize::MAX, |items| items.saturating_add(1));
        let (indices, exit) = Domain::open(self.plan.domains[number].window.min(most));
        let domain = Arc::clone(indices.domain());
        let opened_by = self.plan.opener(number).map_or(0, |id| id.0);
        if self.is_inline() {
            return Ends { domain, indices: Some(indices), exit: Some(exit), notice: None, opened_by };
        }
        let first = self.plan.nodes.iter().position(|node| node.domain == number).unwrap_or(0);
        let is_weighed = number == 0 && self.plan.settings.window_bytes.is_some();
        let feed = self.run.feed.clone().filter(|_| number == 0);
        let gate = (is_weighed || feed.is_some()).then(|| Arc::new(Gate::new(&domain, feed)));
        let notice = Some(RoomNotice { word: Word::new(), event: self.event_of(first), gate });
        Ends { domain, indices: Some(indices), exit: Some(exit), notice, opened_by }
    }

    /// Whether everything runs on the calling thread, each item to its end before the next.
    pub(super) fn is_inline(&self) -> bool {
        self.plan.settings.executor == Executor::Inline
    }

    fn domain_of(&self, id: usize) -> usize {
        self.plan.nodes[id].domain
    }

    /// The number of the domain from which a node takes its items.
    fn domain_before(&self, id: usize) -> usize {
        let edge = self.plan.inputs(NodeId(id)).next().expect("a node that takes items has an input");
        self.domain_of(edge.from.0)
    }

    /// The event on which whoever runs serial node `id` waits.
    fn event_of(&self, id: usize) -> Arc<EventCount> {
        Arc::clone(self.own[id].as_ref().unwrap_or(&self.run.event))
    }

    /// Where node `id` stands.
    fn site(&self, id: usize) -> Site {
        let node = &self.plan.nodes[id];
        let ends = &self.domains[node.domain];
        let keeps_order = node.ordered || self.is_inline();
        Site {
            run: Arc::clone(&self.run),
            id,
            number: node.domain,
            opened_by: ends.opened_by,
            in_time: !keeps_order,
            gives_arrivals: !keeps_order && node.gives_arrivals(),
            is_dedicated: self.own[id].is_some(),
            domain: Arc::clone(&ends.domain),
        }
    }

    pub(super) fn spot<E>(&self, id: usize, errors: &Arc<ErrorSlot<E>>) -> Spot<E> {
        Spot { site: self.site(id), errors: Arc::clone(errors) }
    }

    pub(super) fn counter(&self, id: usize) -> Counter {
        Counter::new(&self.run, id, self.is_inline())
    }

    /// The id of the sink.
    pub(super) fn sink(&self) -> usize {
        self.plan.nodes.len() - 1
    }

    pub(super) fn line_end(&mut self, sink: usize, reporter: Option<Reporter<'run>>) -> LineEnd<'run> {
        let number = self.domain_of(sink);
        let exit = self.take_exit(number);
        let ends = &self.domains[number];
        let notice = ends.notice.clone();
        // The inline executor times items where it pulls them.
        let measures = self.run.measures().filter(|_| !self.is_inline());
        let mark = Mark::new(measures, ends.opened_by, 0);
        LineEnd::new(exit, notice, mark, reporter, &self.run)
    }

    fn notice(&self, number: usize) -> &RoomNotice {
        self.domains[number].notice.as_ref().expect("threads are told of room")
    }

    fn take_exit(&mut self, number: usize) -> Exit {
        self.domains[number].exit.take().expect("a domain has one exit")
    }

    /// The exit of the domain before node `id`, which begins another.
    pub(super) fn exit_before(&mut self, id: usize) -> Exit {
        self.take_exit(self.domain_before(id))
    }

    /// The port that makes the indices of the domain that node `id` begins.
    pub(super) fn indices_of(&mut self, id: usize) -> Indices {
        let number = self.domain_of(id);
        self.domains[number].indices.take().expect("a domain has one source")
    }

    /// The word of the baton of the node that begins the domain of node `id`.
    pub(super) fn word_of(&self, id: usize) -> Arc<Word> {
        Arc::clone(&self.notice(self.domain_of(id)).word)
    }

    /// The conditions that the source waits for in addition to room.
    pub(super) fn gate_of(&self, id: usize) -> Option<Arc<Gate>> {
        self.notice(self.domain_of(id)).gate.clone()
    }

    /// A lane of the domain before node `id`, read to the exit of that domain.
    pub(super) fn drain_before<S: Send>(&mut self, id: usize, lane: Lane<S>) -> Drain<S> {
        let before = self.domain_before(id);
        let exit = self.take_exit(before);
        Drain::new(lane, exit, self.notice(before).clone())
    }

    /// The measurement of indices that go from the domain before node `id` into its own, if the run is reported.
    pub(super) fn crossing(&self, id: usize) -> Option<Crossing> {
        let (ends, opens) = (&self.domains[self.domain_before(id)], &self.domains[self.domain_of(id)]);
        Crossing::new(self.run.measures(), ends.opened_by, opens.opened_by)
    }

    /// The limits of the claims of the unit with these nodes.
    pub(super) fn claims(&self, ids: Range<usize>) -> Claims {
        let input = self.plan.inputs(NodeId(ids.start)).next().map(|edge| edge.kind);
        let burst = match input {
            Some(EdgeKind::Lane { burst: Burst::Fixed(items), .. }) => items as u64,
            _ => 0,
        };
        Claims::new(self.plan.nodes[ids].iter().filter_map(|node| node.replicas).min(), burst)
    }

    /// The id of the first node of the unit to which node `id` belongs.
    pub(super) fn first_of_unit(&self, id: usize) -> usize {
        self.unit_of(id).start
    }

    /// The nodes of the unit to which node `id` belongs.
    pub(super) fn unit_of(&self, id: usize) -> Range<usize> {
        let nodes = &self.plan.nodes;
        let is_other = |node: &Node| node.unit != nodes[id].unit;
        let start = nodes[..id].iter().rposition(is_other).map_or(0, |at| at + 1);
        start..nodes[id..].iter().position(is_other).map_or(nodes.len(), |at| id + at)
    }

    /// Where serial node `giver` puts what it gives to `taker`: into a call, or into a lane that the taker reads.
    pub(super) fn after_serial<S: Send + 'run>(
        &mut self,
        giver: usize,
        taker: Taker<'run, S>,
    ) -> Out<'run, S> {
        let edge =
            self.plan.edge(NodeId(giver), NodeId(taker.id)).expect("the plan joins what the code joins");
        let is_call = self.is_inline() || edge.kind == EdgeKind::Call;
        let taker = match taker {
            Taker { end: End::Push(push), .. } if is_call => return Out::Call(push),
            taker => taker,
        };
        let event = self.event_of(taker.id);
        let (writer, lane) = Domain::lane(&self.domains[self.domain_of(giver)].domain);
        self.read(taker, Lane::Committed(lane));
        Out::Lane(writer, event)
    }

    /// Puts `taker` behind the parallel unit whose first node is `unit`, which writes `lane`.
    pub(super) fn after_parallel<S: Send + 'run>(
        &mut self,
        unit: usize,
        taker: Taker<'run, S>,
        lane: Lane<S>,
    ) {
        debug_assert!(self.plan.nodes[unit].role.is_parallel());
        self.read(taker, lane);
    }

    /// Where the inline executor puts what a parallel unit gives. If its results may come in any order, the indices behind
    /// it are those of another domain, here too.
    pub(super) fn after_unit_inline<S: Send + 'run>(
        &mut self,
        last: usize,
        taker: Taker<'run, S>,
    ) -> Out<'run, S> {
        let (before, behind) = (self.domain_of(last), self.domain_of(taker.id));
        let goes_on = self.plan.nodes[last].unit == self.plan.nodes[taker.id].unit;
        let out = self.after_serial(last, taker);
        let begins_here = self.plan.nodes[last].gives_arrivals() && !goes_on;
        // A taker that makes the indices of the domain behind itself has them already.
        match self.domains[behind].indices.take_if(|_| begins_here) {
            Some(indices) => Out::Call(Box::new(Reindex::new(self.take_exit(before), indices, out))),
            None => out,
        }
    }

    /// Makes `taker` read a lane.
    fn read<S: Send + 'run>(&mut self, taker: Taker<'run, S>, lane: Lane<S>) {
        let Taker { id, end } = taker;
        match end {
            End::Read(read) => read.read(self, lane),
            End::Push(unit) => {
                let (input, word) = match lane {
                    Lane::Committed(lane) => (Input::Ordered(lane.reader()), None),
                    Lane::Stamped(lane) => (Input::Ordered(lane.reader()), None),
                    Lane::Arrived(_) => {
                        let crossing = self.crossing(id);
                        let drain = self.drain_before(id, lane);
                        (Input::arrivals(drain, self.indices_of(id), crossing), Some(self.word_of(id)))
                    }
                };
                let ends_here =
                    self.plan.nodes.last().is_some_and(|sink| sink.unit == self.plan.nodes[id].unit);
                let head = Head::new(self.site(id), input, unit, word, ends_here);
                self.serial(id, head);
            }
        }
    }

    /// Adds the serial unit whose first node is `id`.
    pub(super) fn serial(&mut self, id: usize, node: impl SerialNode + Send + 'run) {
        self.station(id, node, false);
    }

    /// Adds the unit that begins with the source.
    pub(super) fn source(&mut self, id: usize, node: impl SerialNode + Send + 'run) {
        self.station(id, node, true);
    }

    fn station(&mut self, id: usize, node: impl SerialNode + Send + 'run, is_source: bool) {
        let own = self.own[id].clone();
        self.places.push((id, Place::Serial(Station { node: Box::new(node), own, is_source })));
    }

    /// Adds the parallel unit whose first node is `id`.
    pub(super) fn parallel(&mut self, id: usize, hop: impl Parallel + Send + 'run) {
        self.places.push((id, Place::Parallel(Farm { hop: Box::new(hop), before: 0, behind: 0 })));
    }

    /// The line, once every node is in it, and the plan.
    pub(crate) fn finish(self) -> (Line<'run>, Plan) {
        let Self { plan, mut places, .. } = self;
        places.sort_unstable_by_key(|&(id, _)| id);
        let (ids, mut places): (Vec<usize>, Vec<Place<'run>>) = places.into_iter().unzip();
        let place_of = |id: NodeId| ids.partition_point(|&first| first <= id.0) - 1;
        let mut links = Vec::with_capacity(plan.edges.len());
        for edge in plan.edges.iter().filter(|edge| edge.kind.is_lane()) {
            links.push((place_of(edge.from), place_of(edge.to)));
        }
        links.sort_unstable();
        for (at, place) in places.iter_mut().enumerate() {
            if let Place::Parallel(farm) = place {
                let link = |end: fn(&(usize, usize)) -> (usize, usize)| {
                    links.iter().map(end).find(|&(here, _)| here == at).map(|(_, there)| there)
                };
                farm.before = link(|&(from, to)| (to, from)).expect("a parallel unit takes items");
                farm.behind = link(|&(from, to)| (from, to)).expect("a parallel unit gives items");
            }
        }
        (Line { places, ids, links }, plan)
    }

    /// The source of the inline executor, and the plan.
    pub(crate) fn finish_inline(self) -> (Box<dyn Drive + 'run>, Plan) {
        (self.drive.expect("a stream begins with a source"), self.plan)
    }
}

/// The node that takes what another one gives, while a line is built: from the sink to the source, because a node
/// that gives must know the node that takes.
pub(crate) struct Taker<'run, S: Send> {
    /// Its id in the plan.
    pub(crate) id: usize,
    pub(crate) end: End<'run, S>,
}

/// How a node takes.
pub(crate) enum End<'run, S: Send> {
    /// Cell by cell, in order: the plan says whether by a call or through a lane.
    Push(Box<dyn Push<S> + 'run>),
    /// It reads a lane in a way of its own.
    Read(Box<dyn Read<S> + 'run>),
}

impl<'run, S: Send + 'run> Taker<'run, S> {
    pub(crate) fn push(id: usize, push: impl Push<S> + 'run) -> Self {
        Self { id, end: End::Push(Box::new(push)) }
    }

    pub(crate) fn read(id: usize, read: impl Read<S> + 'run) -> Self {
        Self { id, end: End::Read(Box::new(read)) }
    }

    /// Puts a parallel unit behind another one, whose results go to `outlet`. Gives both back if it is none.
    pub(super) fn behind(
        self,
        assembly: &mut Assembly<'run>,
        outlet: Outlet,
    ) -> Result<Box<dyn Behind<S> + 'run>, (Self, Outlet)> {
        match self.end {
            End::Read(read) if read.is_unit() => Ok(read.behind(assembly, outlet)),
            end => Err((Self { id: self.id, end }, outlet)),
        }
    }

    /// Whether it is a parallel unit.
    pub(super) fn is_unit(&self) -> bool {
        matches!(&self.end, End::Read(read) if read.is_unit())
    }
}

/// A node that reads a lane in a way of its own.
pub(crate) trait Read<S: Send> {
    /// Becomes part of the line, with `lane` before it.
    fn read<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, lane: Lane<S>)
    where
        Self: 'run;

    /// Whether it is a parallel unit, which may also be put [behind](Self::behind) another one.
    fn is_unit(&self) -> bool {
        false
    }

    /// Becomes part of the line behind a parallel unit, whose results are put into a lane of `outlet` in the end.
    fn behind<'run>(self: Box<Self>, _: &mut Assembly<'run>, _: Outlet) -> Box<dyn Behind<S> + 'run>
    where
        Self: 'run,
    {
        unreachable!("only parallel units are composed")
    }
}

/// Everything up to a node whose results are `S`, erased. It is the code beside the plan, which says how it runs.
pub(crate) trait Upstream<S: Send>: Send {
    /// The same, with what it gives weighed. Only a source is weighed.
    fn weighed<'w>(self: Box<Self>, _: Weigher<'w, S>) -> Box<dyn Upstream<S> + 'w>
    where
        Self: 'w,
    {
        unreachable!("only a source is weighed")
    }

    /// Becomes part of a line, in front of `taker`.
    fn connect<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, taker: Taker<'run, S>)
    where
        Self: 'run;
}

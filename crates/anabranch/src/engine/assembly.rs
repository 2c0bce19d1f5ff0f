//! From a described stream to a line of nodes.

use std::time::Duration;

use anabranch_plan::Plan;
use anabranch_record::EventCount;
use anabranch_record::lane::{Committed, Domain, Inlet, Stage};
use anabranch_record::sync::{Arc, Ordering};

use super::bridge::BridgeNode;
use super::exit::{Exit, RoomNotice};
use super::hop::{HopNode, Limits, Parallel, UnitHop};
use super::inline::{Drive, InlineBridge, InlineHop, InlineSource, InlineStage, Push};
use super::run::{ErrorSlot, Run, Site};
use super::scales::{Scales, Weigher};
use super::shards::{ShardedNode, Sharding};
use super::sink::SinkNode;
use super::source::SourceNode;
use super::stage::StageNode;
use crate::monitor::{NodeSnapshot, Snapshot};
use crate::report::Report;
use crate::serial::{Pull, Serial, Spread, SpreadOnly};
use crate::shape::{Shape, Single};
use crate::stream::unit_names;
use crate::unit::{Apply, Unit};

/// What the settings behind a stage say of the node, as far as executors care.
#[derive(Debug, Clone, Default)]
pub(crate) struct NodeSpec {
    /// At most so many calls of the stage at once.
    pub(crate) replicas: Option<usize>,
    /// A claim of the unit is so many items.
    pub(crate) burst: Option<u64>,
    /// The stage has a thread of its own, which waits here.
    pub(crate) own: Option<Arc<EventCount>>,
}

/// A serial node of a line: the source, a serial stage or the sink.
pub(crate) trait SerialNode: Sync {
    /// Takes the node's baton and runs it as long as a quantum allows, or leaves the poke to its holder.
    ///
    /// A node that may block for what comes next leaves it to its only worker to do what there is `elsewhere` first.
    fn poke(&self, elsewhere: &dyn Fn() -> bool) -> Poked;

    /// Whether the baton is free and the node would find something to do. Only looks.
    fn is_ready(&self) -> bool;

    /// Whether a thread holds the baton just now.
    fn is_held(&self) -> bool;

    /// The node's id in the plan, and how many items it has taken: the source, how many it has given.
    fn taken(&self) -> (usize, u64);

    /// How many indices it has put behind itself: as many as it has taken, unless it opens a domain.
    fn given(&self) -> u64 {
        self.taken().1
    }

    /// Nanoseconds of one call, as far as known: a worker that is about to claim feeds itself from a source
    /// only while it is quick.
    fn mean(&self) -> u64;
}

/// What became of a poke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Poked {
    /// Another thread holds the baton and will look again; or the node is closed.
    Elsewhere,
    /// There was nothing to do.
    Idle,
    /// Something was done.
    Worked,
}

/// A serial node and the event of its own thread, if it has one.
pub(crate) struct Station<'env> {
    pub(crate) node: Box<dyn SerialNode + Send + 'env>,
    pub(crate) own: Option<Arc<EventCount>>,
}

/// A serial node and the hop before it, if there is one: without, the node before is serial too.
pub(crate) struct Link<'env> {
    pub(crate) hop: Option<Box<dyn Parallel + Send + 'env>>,
    pub(crate) station: Station<'env>,
}

/// A line: what threads walk. The last link is the sink.
///
/// On cache lines of its own: it lies on the caller's stack, perhaps beside what a stage counts in.
#[repr(align(128))]
pub(crate) struct Line<'env> {
    pub(crate) source: Station<'env>,
    pub(crate) links: Vec<Link<'env>>,
}

impl Line<'_> {
    /// How each node of the plan stands.
    pub(crate) fn snapshot(&self, run: &Run, title: &str, plan: &Plan) -> Snapshot {
        let names = unit_names(plan);
        let mut nodes = Vec::new();
        let mut before = None;
        let mut note = |(id, taken): (usize, u64), given: u64, running| {
            let waiting = before.map_or(0, |before: u64| before.saturating_sub(taken));
            before = Some(given);
            if let Some((_, name)) = names.iter().find(|(named, _)| *named == id) {
                nodes.push(NodeSnapshot { name: name.clone(), taken, before: waiting, running });
            }
        };
        note(self.source.node.taken(), self.source.node.given(), Some(self.source.node.is_held()));
        for link in &self.links {
            if let Some(hop) = &link.hop {
                note(hop.taken(), hop.taken().1, None);
            }
            let node = &link.station.node;
            note(node.taken(), node.given(), Some(node.is_held()));
        }
        let workers = run.workers.load(Ordering::Relaxed);
        let measures = run.measures().expect("a run that is watched is measured");
        let report = Report::new(plan.clone(), Duration::from_nanos(measures.now()), measures);
        Snapshot {
            title: title.to_owned(),
            workers,
            waiting: run.event.sleepers().min(workers),
            nodes,
            report,
        }
    }

    /// How many items wait before each node behind the source: pairs of an id and a number.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (usize, u64)> {
        let mut before = self.source.node.given();
        self.links.iter().flat_map(move |link| {
            let hop = link.hop.as_ref().map(|hop| {
                let (id, taken) = hop.taken();
                (id, std::mem::replace(&mut before, taken).saturating_sub(taken))
            });
            let (id, taken) = link.station.node.taken();
            let given = std::mem::replace(&mut before, link.station.node.given());
            hop.into_iter().chain([(id, given.saturating_sub(taken))])
        })
    }

    /// Items that were asked of the source, and items that passed the sink.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let last = &self.links.last().expect("a line ends at a sink").station;
        (self.source.node.taken().1, last.node.taken().1)
    }
}

/// A line in the making.
pub(crate) struct Assembly<'env> {
    pub(crate) run: Arc<Run>,
    /// Of each domain; later ones have the last.
    windows: Vec<usize>,
    specs: Vec<NodeSpec>,
    source: Option<Station<'env>>,
    links: Vec<Link<'env>>,
    /// Where the source of the current domain is told of room.
    room: Option<RoomNotice>,
    domain: usize,
    /// The node that has opened it.
    opened_by: usize,
    /// Order was given up.
    is_unordered: bool,
}

impl<'env> Assembly<'env> {
    pub(crate) fn new(run: Arc<Run>, windows: Vec<usize>, specs: Vec<NodeSpec>) -> Self {
        let links = Vec::with_capacity(specs.len());
        let (is_unordered, domain, opened_by) = (false, 0, 0);
        Self { run, windows, specs, source: None, links, room: None, is_unordered, domain, opened_by }
    }

    fn site<E>(&self, id: usize, domain: &Arc<Domain>, errors: &Arc<ErrorSlot<E>>) -> Site<E> {
        Site {
            run: Arc::clone(&self.run),
            id,
            number: self.domain,
            opened_by: self.opened_by,
            in_time: self.is_unordered,
            gives_arrivals: false,
            is_dedicated: self.specs.get(id).is_some_and(|spec| spec.own.is_some()),
            domain: Some(Arc::clone(domain)),
            errors: Arc::clone(errors),
        }
    }

    /// The window of the current domain.
    fn window(&self) -> usize {
        self.windows[self.domain.min(self.windows.len() - 1)]
    }

    /// The event on which whoever runs serial node `id` waits.
    fn event_of(&self, id: Option<usize>) -> Arc<EventCount> {
        let own = id.and_then(|id| self.specs[id].own.as_ref());
        Arc::clone(own.unwrap_or(&self.run.event))
    }

    /// Makes a bridge from the current domain to a new one, which is the current one from now on. `id` is the
    /// bridge's node, if it is in the specs, `opened_by` is that or the hop before it, and `consumer` the serial node
    /// behind it, if no hop is.
    #[allow(clippy::type_complexity)]
    fn bridge<S, T, X, Op, E>(
        &mut self,
        exit: X,
        op: Op,
        errors: &Arc<ErrorSlot<E>>,
        id: Option<usize>,
        opened_by: usize,
        consumer: Option<usize>,
    ) -> (Box<dyn SerialNode + Send + 'env>, Committed<Op::Out>)
    where
        S: Shape,
        T: Send + 'env,
        X: Exit<S::Slot<T>> + 'env,
        E: Send + 'env,
        Op: Spread<T, E> + 'env,
    {
        let notice = self.room.take().expect("a bridge has a source");
        self.domain += 1;
        let (entry, lane) = Domain::open(self.window());
        let ends = std::mem::replace(&mut self.opened_by, opened_by);
        let site = self.site(id.unwrap_or(usize::MAX), entry.domain(), errors);
        let out = self.event_of(consumer);
        let node = BridgeNode::<S, T, X, Op, E>::new(site, ends, exit, entry, op, out, notice);
        let event = self.event_of(id);
        self.room = Some(RoomNotice { word: Arc::clone(node.word()), event, gate: None });
        (Box::new(node), lane)
    }

    /// Ends the line at a sink and gives it back.
    pub(crate) fn close<U, M, Op, E>(
        mut self,
        tail: Tail<'env, U, M>,
        op: Op,
        errors: &Arc<ErrorSlot<E>>,
        watcher: super::sink::Watcher<'env>,
    ) -> Line<'env>
    where
        U: Apply<M> + Send + 'env,
        M: Send + 'env,
        E: Send + 'env,
        Op: Serial<U::Out, E, Out = std::convert::Infallible> + 'env,
    {
        let tail_id = tail.next;
        match tail.attach(&mut self) {
            Attached::Direct(lane) => {
                self.push_sink::<U::To, _, _, _, _>(lane, None, tail_id, op, errors, watcher)
            }
            Attached::Hop(hop, lane) => {
                self.push_sink::<U::To, _, _, _, _>(lane, Some(hop), tail_id, op, errors, watcher)
            }
        }
        let source = self.source.take().expect("a line begins at a source");
        Line { source, links: self.links }
    }

    fn push_sink<S, T, I, Op, E>(
        &mut self,
        lane: I,
        hop: Option<Box<dyn Parallel + Send + 'env>>,
        id: Option<usize>,
        op: Op,
        errors: &Arc<ErrorSlot<E>>,
        watcher: super::sink::Watcher<'env>,
    ) where
        S: Shape,
        T: Send + 'env,
        I: Inlet<S::Slot<T>> + 'env,
        E: Send + 'env,
        Op: Serial<T, E, Out = std::convert::Infallible> + 'env,
    {
        let port = lane.sink();
        let site = self.site(self.specs.len(), port.domain(), errors);
        let notice = self.room.clone().expect("a sink has a source");
        let node = SinkNode::<S, T, I, Op, E>::new(site, port, op, notice, watcher);
        let own = id.and_then(|id| self.specs[id].own.clone());
        self.links.push(Link { hop, station: Station { node: Box::new(node), own } });
    }
}

/// The open end of a described stream: everything up to the last serial node, and the unit behind it.
pub(crate) struct Tail<'env, U: Unit, E> {
    pub(crate) upstream: Box<dyn Upstream<<U::From as Shape>::Slot<U::In>> + 'env>,
    pub(crate) unit: U,
    pub(crate) errors: Arc<ErrorSlot<E>>,
    /// The nodes of the unit.
    pub(crate) unit_ids: std::ops::Range<usize>,
    /// The serial node that comes behind it, if it is in the specs.
    pub(crate) next: Option<usize>,
    /// Order was given up: what a hop gives is taken as it arrives.
    pub(crate) unordered: bool,
    /// Items are dealt to replicas; without, they go to whoever is free.
    pub(crate) sharding: Option<Sharding<<U::From as Shape>::Slot<U::In>>>,
}

/// How a tail was attached to its upstream.
enum Attached<'env, S> {
    /// The unit does nothing: the serial node behind it reads the lane of the one before.
    Direct(Committed<S>),
    Hop(Box<dyn Parallel + Send + 'env>, anabranch_record::lane::Stamped<S>),
}

impl<'env, U, E> Tail<'env, U, E>
where
    U: Apply<E> + Send + 'env,
    E: Send + 'env,
{
    #[allow(clippy::type_complexity)]
    fn attach(self, assembly: &mut Assembly<'env>) -> Attached<'env, <U::To as Shape>::Slot<U::Out>> {
        let Self { upstream, unit, errors, unit_ids, next, unordered, sharding } = self;
        // The node before publishes to a dedicated neighbour only if no hop is between them.
        let lane = upstream.threads(assembly, if U::IDENTITY { next } else { None });
        let lane = match U::bypass(lane) {
            Ok(lane) => return Attached::Direct(lane),
            Err(lane) => lane,
        };
        let specs = &assembly.specs[unit_ids.clone()];
        let limits = Limits {
            replicas: specs.iter().filter_map(|spec| spec.replicas).min(),
            burst: specs.iter().find_map(|spec| spec.burst).unwrap_or(assembly.run.burst),
        };
        assembly.is_unordered |= unordered;
        let mut site = assembly.site(unit_ids.start, lane.domain(), &errors);
        site.gives_arrivals = unordered;
        if unordered {
            let (hop, lane) = lane.unordered_hop();
            let hop = parallel_node(site, hop, unit, limits, sharding);
            // What has arrived is in order from here on: the order of a new domain.
            let (exit, op, errors) = (lane.sink(), SpreadOnly(None), Arc::<ErrorSlot<E>>::default());
            let (node, lane) =
                assembly.bridge::<Single, _, _, _, _>(exit, op, &errors, None, unit_ids.start, next);
            assembly.links.push(Link { hop: Some(hop), station: Station { node, own: None } });
            Attached::Direct(lane)
        } else {
            let (hop, lane) = lane.hop();
            Attached::Hop(parallel_node(site, hop, unit, limits, sharding), lane)
        }
    }

    pub(crate) fn inline(
        self,
        run: &Arc<Run>,
        push: Box<dyn Push<<U::To as Shape>::Slot<U::Out>> + 'env>,
    ) -> Box<dyn Drive + 'env> {
        match U::bypass_push(push) {
            Ok(push) => self.upstream.inline(run, push),
            Err(push) => {
                let site = inline_site(run, self.unit_ids.start, &self.errors);
                self.upstream.inline(run, Box::new(InlineHop::new(site, self.unit, push)))
            }
        }
    }
}

/// The node of a unit, by its schedule.
fn parallel_node<'env, U, E>(
    site: Site<E>,
    hop: UnitHop<U>,
    unit: U,
    limits: Limits,
    sharding: Option<Sharding<<U::From as Shape>::Slot<U::In>>>,
) -> Box<dyn Parallel + Send + 'env>
where
    U: Apply<E> + Send + 'env,
    E: Send + 'env,
{
    match sharding {
        None => Box::new(HopNode::new(site, hop, unit, limits)),
        Some(sharding) => Box::new(ShardedNode::new(site, hop, unit, sharding)),
    }
}

fn inline_site<E>(run: &Arc<Run>, id: usize, errors: &Arc<ErrorSlot<E>>) -> Site<E> {
    let (run, errors) = (Arc::clone(run), Arc::clone(errors));
    let (in_time, gives_arrivals, is_dedicated) = (false, false, false);
    Site { run, id, number: 0, opened_by: id, in_time, gives_arrivals, is_dedicated, domain: None, errors }
}

/// Everything up to a serial node whose results are `S`, erased.
pub(crate) trait Upstream<S: Send>: Send {
    /// The same, with what it gives weighed.
    fn weighed<'w>(self: Box<Self>, weigher: Weigher<'w, S>) -> Box<dyn Upstream<S> + 'w>
    where
        Self: 'w;

    /// Makes the nodes for the threads executor and gives the lane behind the last. `consumer` is the serial
    /// node that will read the lane, if no hop does and it is in the specs.
    fn threads<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, consumer: Option<usize>) -> Committed<S>
    where
        Self: 'run;

    /// Makes the nodes for the inline executor, in front of `push`.
    fn inline<'run>(self: Box<Self>, run: &Arc<Run>, push: Box<dyn Push<S> + 'run>) -> Box<dyn Drive + 'run>
    where
        Self: 'run;
}

/// A source, as upstream.
pub(crate) struct SourceUpstream<'env, P: Pull> {
    pub(crate) pull: P,
    pub(crate) errors: Arc<ErrorSlot<P::Error>>,
    pub(crate) id: usize,
    pub(crate) weigher: Option<Weigher<'env, P::Item>>,
}

impl<P: Pull> Upstream<P::Item> for SourceUpstream<'_, P> {
    fn weighed<'w>(self: Box<Self>, weigher: Weigher<'w, P::Item>) -> Box<dyn Upstream<P::Item> + 'w>
    where
        Self: 'w,
    {
        Box::new(SourceUpstream { weigher: Some(weigher), ..*self })
    }

    fn threads<'run>(
        self: Box<Self>,
        assembly: &mut Assembly<'run>,
        consumer: Option<usize>,
    ) -> Committed<P::Item>
    where
        Self: 'run,
    {
        // One index more than items: the end of the stream has one too.
        let most = self.pull.upper().map_or(usize::MAX, |items| items.saturating_add(1));
        let (port, lane) = Domain::open(assembly.window().min(most));
        let site = assembly.site(self.id, port.domain(), &self.errors);
        let out = assembly.event_of(consumer);
        let node = SourceNode::new(site, port, self.pull, self.weigher.map(Scales::new), out);
        let event = assembly.event_of(Some(self.id));
        let gate = node.gate().cloned();
        assembly.room = Some(RoomNotice { word: Arc::clone(node.word()), event, gate });
        let own = assembly.specs[self.id].own.clone();
        assembly.source = Some(Station { node: Box::new(node), own });
        lane
    }

    fn inline<'run>(
        self: Box<Self>,
        run: &Arc<Run>,
        push: Box<dyn Push<P::Item> + 'run>,
    ) -> Box<dyn Drive + 'run>
    where
        Self: 'run,
    {
        Box::new(InlineSource::new(inline_site(run, self.id, &self.errors), self.pull, push))
    }
}

/// A serial stage and all before it, as upstream.
pub(crate) struct StageUpstream<'env, U: Unit, E, Op> {
    pub(crate) tail: Tail<'env, U, E>,
    pub(crate) op: Op,
    pub(crate) id: usize,
}

impl<U, E, Op> Upstream<<U::To as Shape>::Slot<Op::Out>> for StageUpstream<'_, U, E, Op>
where
    U: Apply<E> + Send,
    E: Send,
    Op: Serial<U::Out, E>,
{
    fn weighed<'w>(
        self: Box<Self>,
        _: Weigher<'w, <U::To as Shape>::Slot<Op::Out>>,
    ) -> Box<dyn Upstream<<U::To as Shape>::Slot<Op::Out>> + 'w>
    where
        Self: 'w,
    {
        unreachable!("only a source is weighed")
    }

    fn threads<'run>(
        self: Box<Self>,
        assembly: &mut Assembly<'run>,
        consumer: Option<usize>,
    ) -> Committed<<U::To as Shape>::Slot<Op::Out>>
    where
        Self: 'run,
    {
        let Self { tail, op, id } = *self;
        let errors = Arc::clone(&tail.errors);
        let out = assembly.event_of(consumer);
        let own = assembly.specs[id].own.clone();
        match tail.attach(assembly) {
            Attached::Direct(lane) => {
                let (port, after) = Inlet::stage(lane);
                let node = stage_node::<U::To, _, _, _, _>(assembly, id, &errors, port, op, out);
                assembly.links.push(Link { hop: None, station: Station { node, own } });
                after
            }
            Attached::Hop(hop, lane) => {
                let (port, after) = Inlet::stage(lane);
                let node = stage_node::<U::To, _, _, _, _>(assembly, id, &errors, port, op, out);
                assembly.links.push(Link { hop: Some(hop), station: Station { node, own } });
                after
            }
        }
    }

    fn inline<'run>(
        self: Box<Self>,
        run: &Arc<Run>,
        push: Box<dyn Push<<U::To as Shape>::Slot<Op::Out>> + 'run>,
    ) -> Box<dyn Drive + 'run>
    where
        Self: 'run,
    {
        let site = inline_site(run, self.id, &self.tail.errors);
        self.tail.inline(run, Box::new(InlineStage::<U::To, U::Out, E, Op>::new(site, self.op, push)))
    }
}

/// A bridge and all before it, as upstream.
pub(crate) struct BridgeUpstream<'env, U: Unit, E, Op> {
    pub(crate) tail: Tail<'env, U, E>,
    pub(crate) op: Op,
    pub(crate) id: usize,
}

impl<U, E, Op> Upstream<Op::Out> for BridgeUpstream<'_, U, E, Op>
where
    U: Apply<E> + Send,
    E: Send,
    Op: Spread<U::Out, E>,
{
    fn weighed<'w>(self: Box<Self>, _: Weigher<'w, Op::Out>) -> Box<dyn Upstream<Op::Out> + 'w>
    where
        Self: 'w,
    {
        unreachable!("only a source is weighed")
    }

    fn threads<'run>(
        self: Box<Self>,
        assembly: &mut Assembly<'run>,
        consumer: Option<usize>,
    ) -> Committed<Op::Out>
    where
        Self: 'run,
    {
        let Self { tail, op, id } = *self;
        let errors = Arc::clone(&tail.errors);
        let own = assembly.specs[id].own.clone();
        let (hop, (node, lane)) = match tail.attach(assembly) {
            Attached::Direct(lane) => {
                let exit = lane.sink();
                (None, assembly.bridge::<U::To, _, _, _, _>(exit, op, &errors, Some(id), id, consumer))
            }
            Attached::Hop(hop, lane) => {
                let exit = lane.sink();
                (Some(hop), assembly.bridge::<U::To, _, _, _, _>(exit, op, &errors, Some(id), id, consumer))
            }
        };
        assembly.links.push(Link { hop, station: Station { node, own } });
        lane
    }

    fn inline<'run>(
        self: Box<Self>,
        run: &Arc<Run>,
        push: Box<dyn Push<Op::Out> + 'run>,
    ) -> Box<dyn Drive + 'run>
    where
        Self: 'run,
    {
        let site = inline_site(run, self.id, &self.tail.errors);
        self.tail.inline(run, Box::new(InlineBridge::<U::To, U::Out, E, Op>::new(site, self.op, push)))
    }
}

fn stage_node<'env, S, T, I, Op, E>(
    assembly: &Assembly<'env>,
    id: usize,
    errors: &Arc<ErrorSlot<E>>,
    port: Stage<S::Slot<T>, S::Slot<Op::Out>, I>,
    op: Op,
    out: Arc<EventCount>,
) -> Box<dyn SerialNode + Send + 'env>
where
    S: Shape,
    T: Send + 'env,
    I: Inlet<S::Slot<T>> + 'env,
    E: Send + 'env,
    Op: Serial<T, E> + 'env,
{
    let site = assembly.site(id, port.domain(), errors);
    Box::new(StageNode::<S, T, I, Op, E>::new(site, port, op, out))
}

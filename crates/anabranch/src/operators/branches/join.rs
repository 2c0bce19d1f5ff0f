//! A join: a serial node that makes one cell of the cells that the branches of a fork have for an index.

use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_record::lane::{Cell, Exit, Reader, Stop, Turn, Watch};
use anabranch_record::sync::{Arc, Mutex, Ordering, lock};

use super::fork::Fork;
use crate::engine::build::assembly::Assembly;
use crate::engine::build::consumer::{Consumer, End};
use crate::engine::build::upstream::Upstream;
use crate::engine::nodes::input::Lane;
use crate::engine::nodes::quantum::{Quantum, Served};
use crate::engine::nodes::serving::{ServedNode, Serving};
use crate::engine::nodes::step::{Demand, Out, Step, stop_at_panic};
use crate::engine::state::site::Site;

/// The last nodes of the branches of a fork, and everything before them up to the fork.
#[doc(hidden)]
pub trait Ends<'env>: Send {
    /// Their ends in a line.
    type Ports: Ports + 'env;

    /// Adds the branches to the line, in front of the join `id`.
    #[allow(private_interfaces)]
    fn connect<'run>(self, assembly: &mut Assembly<'run>, id: usize) -> Self::Ports
    where
        'env: 'run;
}

/// The ends of the branches in a line.
#[doc(hidden)]
pub trait Ports: Send {
    /// The results of the branches for an index.
    type Values;
    /// Views of the branches, for threads that do not hold the join.
    type Watches: Send + Sync;

    /// Whether the next cells of all branches are ready.
    fn are_ready(&mut self) -> bool;

    /// Takes the next cells. All of them must be ready. `stop` becomes the stop of a branch that has one. A failure comes
    /// before an end.
    fn take(&mut self, stop: &mut Option<Stop>) -> Self::Values;

    fn watch(&self) -> Self::Watches;

    /// Whether the next cells of all branches are ready. Only looks.
    fn look(watches: &Self::Watches) -> bool;
}

/// The end of one branch, before a line is made of it.
pub(crate) struct BranchEnd<'env, S: Send> {
    pub(crate) upstream: Box<dyn Upstream<S> + 'env>,
    pub(crate) branch: usize,
}

/// The end of one branch in a line.
pub(crate) enum Port<S> {
    Lane(Reader<S>, Exit),
    /// The place in which the last node of the branch of a direct line puts its cell.
    Direct(Arc<Mutex<Cell<S>>>),
}

impl<'env, S: Send + 'env> BranchEnd<'env, S> {
    /// Adds the branch to the line, in front of the join `id`.
    pub(crate) fn connect<'run>(self, assembly: &mut Assembly<'run>, id: usize) -> Port<S>
    where
        'env: 'run,
    {
        if assembly.is_direct() {
            let place = Arc::new(Mutex::new(Cell::Empty));
            let end = DirectEnd(Arc::clone(&place));
            // No time is measured here. The join is measured when it is called.
            self.upstream.connect(assembly, Consumer { id, end: End::Direct(Box::new(end)) });
            return Port::Direct(place);
        }
        let place = Arc::new(Mutex::new(None));
        let read = {
            let place = Arc::clone(&place);
            move |_: &mut Assembly<'run>, lane| {
                let reader = match lane {
                    Lane::Committed(lane) => lane.reader(),
                    Lane::Stamped(lane) => lane.reader(),
                    Lane::Arrived(_) => unreachable!("a branch keeps the order of its items"),
                };
                *lock(&place) = Some(reader);
            }
        };
        self.upstream.connect(assembly, Consumer::lane(id, read));
        let reader = lock(&place).take().expect("the last node of a branch gives its lane");
        Port::Lane(reader, assembly.end_branch(self.branch))
    }
}

impl<S: Send> Port<S> {
    pub(crate) fn is_ready(&mut self) -> bool {
        match self {
            Port::Lane(reader, _) => reader.is_ready(),
            Port::Direct(_) => true,
        }
    }

    /// Takes the next cell without its stop.
    pub(crate) fn take(&mut self, stop: &mut Option<Stop>) -> Cell<S> {
        let cell = match self {
            Port::Lane(reader, exit) => {
                let (turn, cell) = reader.take().expect("the next cell of a branch is ready");
                exit.release(turn);
                cell
            }
            Port::Direct(place) => std::mem::replace(&mut *lock(place), Cell::Empty),
        };
        if let Some(kind) = cell.stop()
            && *stop != Some(Stop::Fail)
        {
            *stop = Some(kind);
        }
        cell.without_stop()
    }

    pub(crate) fn watch(&self) -> Watch<S> {
        match self {
            Port::Lane(reader, _) => reader.watch(),
            Port::Direct(_) => unreachable!("no thread waits for a branch of a direct line"),
        }
    }
}

/// The end of a branch of a direct line.
struct DirectEnd<S>(Arc<Mutex<Cell<S>>>);

impl<S: Send> Step<S> for DirectEnd<S> {
    fn item(&mut self, _: &mut Turn, item: S) -> Demand {
        *lock(&self.0) = Cell::Value(item);
        Demand::More
    }

    fn items(&mut self, _: &mut Turn, items: &mut Vec<S>, stop: Option<Stop>) -> Demand {
        *lock(&self.0) = Cell::of(std::mem::take(items), stop);
        if stop == Some(Stop::Fail) { Demand::Nothing } else { Demand::More }
    }

    fn take_gain(&mut self) -> i64 {
        0
    }
}

/// Makes one cell of what the branches have for an index.
#[doc(hidden)]
pub trait Combine<V>: Send {
    type Out: Send;

    fn combine(values: V) -> Cell<Self::Out>;
}

type Values<'env, L> = <<L as Ends<'env>>::Ports as Ports>::Values;

/// The code of a join, of the branches before it, and of everything before their fork.
pub(crate) struct JoinUpstream<'env, T: Send, L, C> {
    pub(crate) fork: Fork<'env, T>,
    pub(crate) ends: L,
    pub(crate) combine: PhantomData<fn() -> C>,
    pub(crate) id: usize,
}

impl<'env, T, L, C> Upstream<C::Out> for JoinUpstream<'env, T, L, C>
where
    T: Send + 'env,
    L: Ends<'env> + 'env,
    C: Combine<Values<'env, L>> + 'env,
    C::Out: 'env,
{
    fn connect<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, consumer: Consumer<'run, C::Out>)
    where
        Self: 'run,
    {
        let Self { fork, ends, id, .. } = *self;
        if assembly.is_direct() {
            let next = consumer.into_direct();
            let ports = ends.connect(assembly, id);
            let join = DirectJoin::<'run, L::Ports, C> { ports, next };
            return fork.connect_direct(assembly, Consumer::direct(assembly, id, join).into_direct());
        }
        let out = assembly.after_serial(id, consumer);
        let ports = ends.connect(assembly, id);
        let (writer, turns) = assembly.turns(fork.id);
        let site = assembly.site(id);
        let watch = (turns.watch(), ports.watch());
        let state = JoinState::<'run, L::Ports, C> { turns, ports, out };
        let is_sink = assembly.ends_with_sink(id);
        assembly.serial(id, ServedNode::new(JoinNode { site, state: PhantomData, watch, is_sink }, state));
        fork.connect(assembly, writer);
    }
}

struct JoinState<'run, P: Ports, C: Combine<P::Values>> {
    /// The turns of the main line.
    turns: Reader<()>,
    ports: P,
    out: Out<'run, C::Out>,
}

impl<P: Ports, C: Combine<P::Values>> JoinState<'_, P, C> {
    /// Joins the next cells of the branches, which are ready, and passes the result on.
    fn join(&mut self, quantum: &mut Quantum) -> Demand {
        let Self { turns, ports, out } = self;
        let (turn, _) = turns.take().expect("the fork puts the turn before the cells");
        let cell = joined::<P, C>(ports);
        quantum.count_items(cell.len());
        out.cell(turn, cell)
    }
}

/// Joins the next cells of the branches.
#[inline]
fn joined<P: Ports, C: Combine<P::Values>>(ports: &mut P) -> Cell<C::Out> {
    let mut stop = None;
    let values = ports.take(&mut stop);
    // The loop would have joined nothing for an item at which a branch fails.
    let cell = if stop == Some(Stop::Fail) { Cell::Empty } else { C::combine(values) };
    match stop {
        Some(stop) => cell.with_stop(stop),
        None => cell,
    }
}

/// The join of a direct line, and everything behind it. It is called for each index.
struct DirectJoin<'run, P: Ports, C: Combine<P::Values>> {
    ports: P,
    next: Box<dyn Step<C::Out> + 'run>,
}

impl<P: Ports, C: Combine<P::Values>> Step<()> for DirectJoin<'_, P, C> {
    fn item(&mut self, turn: &mut Turn, (): ()) -> Demand {
        self.next.cell(turn, joined::<P, C>(&mut self.ports))
    }

    fn items(&mut self, _: &mut Turn, _: &mut Vec<()>, _: Option<Stop>) -> Demand {
        unreachable!("the stop of an index is with the cells of the branches")
    }

    fn take_gain(&mut self) -> i64 {
        0
    }
}

/// A join as a node of a line.
struct JoinNode<'run, P: Ports, C: Combine<P::Values>> {
    site: Site,
    state: PhantomData<fn(JoinState<'run, P, C>)>,
    watch: (Watch<()>, P::Watches),
    /// Whether the unit ends with the sink.
    is_sink: bool,
}

impl<'run, P: Ports, C: Combine<P::Values>> Serving for JoinNode<'run, P, C> {
    type State = JoinState<'run, P, C>;

    fn site(&self) -> &Site {
        &self.site
    }

    fn serve(&self, state: &mut JoinState<'run, P, C>, quantum: &mut Quantum) -> Served {
        let run = &*self.site.run;
        let served = catch_unwind(AssertUnwindSafe(|| {
            while !run.is_ending() {
                if !state.ports.are_ready() {
                    return Served::Drained;
                }
                if state.join(quantum) == Demand::Nothing {
                    return Served::Closed;
                }
                if quantum.count() {
                    break;
                }
            }
            Served::Quantum
        }));
        let served = served.unwrap_or_else(|payload| {
            let out = &mut state.out;
            stop_at_panic(&self.site, payload, state.turns.turn(), |turn, cell| out.cell(turn, cell));
            Served::Closed
        });
        if run.measures().is_some() {
            quantum.gain += state.out.take_gain();
        }
        served
    }

    fn has_work(&self) -> bool {
        P::look(&self.watch.1)
    }

    fn needs_room(&self) -> bool {
        false
    }

    fn cells(&self) -> u64 {
        self.watch.0.taken()
    }

    fn is_closed_by_an_item(&self) -> bool {
        self.is_sink && self.site.run.ended_on_item.load(Ordering::Relaxed)
    }
}

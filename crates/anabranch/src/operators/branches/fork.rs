//! A fork: a serial node that deals each item to branches. A join behind the branches makes one line of them again.
//!
//! All branches use the indices of the fork's domain, so each branch has one cell for each index. The join takes the cells
//! of an index from all branches. So the order of the items is kept, a failure stops the stream at its index, and the
//! window of the domain bounds how far one branch runs ahead of another. Each branch has a
//! [`Domain`] of its own for its lanes, because a turn is in one place only. The turns of
//! the main line wait in a lane from the fork to the join.
//!
//! A branch always has room for an index: the window of the main line is as wide, and the join takes an index from the
//! branches before the main line gives it back. So neither the fork nor a node of a branch waits for room.
//!
//! In a direct line the fork calls the branches one after the other, and then the join.

use anabranch_record::EventCount;
use anabranch_record::lane::{Cell, Domain, Indices, Stop, Turn, Writer};
use anabranch_record::sync::{Arc, Mutex, lock};

use crate::engine::build::assembly::Assembly;
use crate::engine::build::consumer::Consumer;
use crate::engine::build::upstream::Upstream;
use crate::engine::nodes::input::Lane;
use crate::engine::nodes::step::{BranchCall, Demand, Step};

/// Decides which branches get an item.
pub(crate) trait Deal<T>: Send {
    /// Puts the item, or clones of it, at the places of the branches that get it. All places are empty before.
    fn deal(&mut self, item: T, branches: &mut [Option<T>]);
}

/// The fork's end of a branch.
pub(crate) enum Inlet<T> {
    Lane(LaneInlet<T>),
    /// The place from which the branch of a direct line takes an item when it is called.
    Direct(Arc<Mutex<Option<T>>>),
}

pub(crate) struct LaneInlet<T> {
    pub(super) indices: Indices,
    pub(super) writer: Writer<T>,
    /// The event at which the threads that run the branch's first node wait.
    pub(super) event: Arc<EventCount>,
}

/// The place in which the first node of a branch leaves the fork's end of the branch, while a line is built.
pub(crate) struct InletSlot<T>(Arc<Mutex<Option<Inlet<T>>>>);

impl<T> InletSlot<T> {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(None)))
    }

    fn take(&self) -> Inlet<T> {
        lock(&self.0).take().expect("each branch was added before its fork")
    }

    /// Another handle of the same place.
    pub(crate) fn again(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// The items that come to a branch.
pub(crate) struct BranchUpstream<T> {
    pub(crate) branch: usize,
    pub(crate) slot: InletSlot<T>,
}

impl<T: Send> Upstream<T> for BranchUpstream<T> {
    fn connect<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, consumer: Consumer<'run, T>)
    where
        Self: 'run,
    {
        if assembly.is_direct() {
            let (mut first, place) = (consumer.into_direct(), Arc::new(Mutex::new(None)));
            let from = Arc::clone(&place);
            let call: BranchCall<'run> = Box::new(move |turn, stop| match (lock(&from).take(), stop) {
                (Some(item), None) => first.item(turn, item),
                (item, stop) => first.items(turn, &mut item.into_iter().collect(), stop),
            });
            assembly.branch_calls.push(call);
            *lock(&self.slot.0) = Some(Inlet::Direct(place));
            return;
        }
        let event = assembly.event_of(consumer.id);
        let indices = assembly.begin_branch(self.branch);
        let (writer, lane) = Domain::lane(indices.domain());
        assembly.read(consumer, Lane::Committed(lane));
        *lock(&self.slot.0) = Some(Inlet::Lane(LaneInlet { indices, writer, event }));
    }
}

/// The code of a fork, and everything before it.
pub(crate) struct Fork<'env, T: Send> {
    pub(crate) upstream: Box<dyn Upstream<T> + 'env>,
    pub(crate) deal: Box<dyn Deal<T> + 'env>,
    /// One for each branch.
    pub(crate) slots: Vec<InletSlot<T>>,
    /// The id of the fork.
    pub(crate) id: usize,
}

impl<'env, T: Send + 'env> Fork<'env, T> {
    /// Adds the fork and everything before it to the line. The branches were added before.
    pub(super) fn connect<'run>(self, assembly: &mut Assembly<'run>, turns: Writer<()>)
    where
        'env: 'run,
    {
        let Self { upstream, deal, slots, id } = self;
        let inlet = |slot: &InletSlot<T>| match slot.take() {
            Inlet::Lane(inlet) => inlet,
            Inlet::Direct(_) => unreachable!("the line has lanes"),
        };
        let inlets: Vec<LaneInlet<T>> = slots.iter().map(inlet).collect();
        let mut events: Vec<Arc<EventCount>> = Vec::new();
        for inlet in &inlets {
            if !events.iter().any(|event| Arc::ptr_eq(event, &inlet.event)) {
                events.push(Arc::clone(&inlet.event));
            }
        }
        let fork = ForkStep::new(deal, inlets.len(), Lanes { inlets, turns, events });
        upstream.connect(assembly, Consumer::serial(id, fork));
    }

    /// The same in a direct line. `join` is called for each index after the branches.
    pub(super) fn connect_direct<'run>(self, assembly: &mut Assembly<'run>, join: Box<dyn Step<()> + 'run>)
    where
        'env: 'run,
    {
        let Self { upstream, deal, slots, id } = self;
        let place = |slot: &InletSlot<T>| match slot.take() {
            Inlet::Direct(place) => place,
            Inlet::Lane(_) => unreachable!("a direct line has no lanes"),
        };
        let calls = assembly.branch_calls.split_off(assembly.branch_calls.len() - slots.len());
        let branches = slots.iter().map(place).zip(calls).collect();
        let fork = ForkStep::new(deal, slots.len(), Calls { branches, join });
        upstream.connect(assembly, Consumer::direct(assembly, id, fork));
    }
}

/// A fork as a step. It deals an item, and `ways` passes the parts on.
struct ForkStep<'run, T: Send, W> {
    deal: Box<dyn Deal<T> + 'run>,
    /// Empty, except while an item is dealt.
    dealt: Vec<Option<T>>,
    ways: W,
}

/// The ways from a fork into its branches.
trait Ways<T> {
    /// Passes on the parts of an index, and the stop behind them. Takes them out of `dealt`.
    fn pass(&mut self, turn: &mut Turn, dealt: &mut [Option<T>], stop: Option<Stop>) -> Demand;
}

impl<'run, T: Send, W: Ways<T>> ForkStep<'run, T, W> {
    fn new(deal: Box<dyn Deal<T> + 'run>, branches: usize, ways: W) -> Self {
        Self { deal, dealt: std::iter::repeat_with(|| None).take(branches).collect(), ways }
    }

    fn take(&mut self, turn: &mut Turn, item: Option<T>, stop: Option<Stop>) -> Demand {
        let Self { deal, dealt, ways } = self;
        // A panic of `deal` leaves items in some places. The stop that comes then has no item.
        dealt.fill_with(|| None);
        if let Some(item) = item {
            deal.deal(item, dealt);
        }
        ways.pass(turn, dealt, stop)
    }
}

impl<T: Send, W: Ways<T>> Step<T> for ForkStep<'_, T, W> {
    fn item(&mut self, turn: &mut Turn, item: T) -> Demand {
        self.take(turn, Some(item), None)
    }

    fn items(&mut self, turn: &mut Turn, items: &mut Vec<T>, stop: Option<Stop>) -> Demand {
        debug_assert!(
            items.len() <= 1,
            "an index has one item at a fork, because a branch has one cell for it"
        );
        self.take(turn, items.pop(), stop)
    }

    fn take_gain(&mut self) -> i64 {
        0
    }
}

/// The lanes into the branches.
struct Lanes<T> {
    inlets: Vec<LaneInlet<T>>,
    turns: Writer<()>,
    /// The events of the branches, each once.
    events: Vec<Arc<EventCount>>,
}

impl<T: Send> Ways<T> for Lanes<T> {
    fn pass(&mut self, turn: &mut Turn, dealt: &mut [Option<T>], stop: Option<Stop>) -> Demand {
        let Self { inlets, turns, events } = self;
        // The turn comes first. When the last branch has put its cell, the join has all that it needs.
        turns.put(turn, Cell::Empty);
        for (inlet, place) in inlets.iter_mut().zip(dealt) {
            inlet.writer.put(inlet.indices.open(), Cell::of_one(place.take(), stop));
        }
        for event in events {
            event.notify();
        }
        if stop.is_some() { Demand::Nothing } else { Demand::More }
    }
}

/// The branches of a direct line, and everything behind the join.
struct Calls<'run, T> {
    branches: Vec<(Arc<Mutex<Option<T>>>, BranchCall<'run>)>,
    join: Box<dyn Step<()> + 'run>,
}

impl<T> Ways<T> for Calls<'_, T> {
    fn pass(&mut self, turn: &mut Turn, dealt: &mut [Option<T>], stop: Option<Stop>) -> Demand {
        for ((place, call), item) in self.branches.iter_mut().zip(dealt) {
            *lock(place) = item.take();
            if call(turn, stop) == Demand::Nothing {
                // The loop would have called no branch after one that fails.
                break;
            }
        }
        self.join.item(turn, ())
    }
}

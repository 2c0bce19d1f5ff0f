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

use anabranch_record::EventCount;
use anabranch_record::lane::{Cell, Domain, Indices, Turn, Writer};
use anabranch_record::sync::{Arc, Mutex, lock};

use crate::engine::build::assembly::Assembly;
use crate::engine::build::consumer::Consumer;
use crate::engine::build::upstream::Upstream;
use crate::engine::nodes::input::Lane;
use crate::engine::nodes::step::{Demand, Step};

/// Decides which branches get an item.
pub(crate) trait Deal<T>: Send {
    /// Puts the item, or clones of it, at the places of the branches that get it. All places are empty before.
    fn deal(&mut self, item: T, branches: &mut [Option<T>]);
}

/// The fork's end of a branch.
pub(crate) struct Inlet<T> {
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
        let event = assembly.event_of(consumer.id);
        let indices = assembly.begin_branch(self.branch);
        let (writer, lane) = Domain::lane(indices.domain());
        assembly.read(consumer, Lane::Committed(lane));
        *lock(&self.slot.0) = Some(Inlet { indices, writer, event });
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
        let inlet = |slot: InletSlot<T>| lock(&slot.0).take().expect("each branch was added before its fork");
        let inlets: Vec<Inlet<T>> = slots.into_iter().map(inlet).collect();
        let mut events: Vec<Arc<EventCount>> = Vec::new();
        for inlet in &inlets {
            if !events.iter().any(|event| Arc::ptr_eq(event, &inlet.event)) {
                events.push(Arc::clone(&inlet.event));
            }
        }
        let call = ForkCall { deal, dealt: inlets.iter().map(|_| None).collect(), inlets, turns, events };
        upstream.connect(assembly, Consumer::serial(id, call));
    }
}

/// A fork as a consumer of cells.
struct ForkCall<'run, T: Send> {
    deal: Box<dyn Deal<T> + 'run>,
    /// Empty, except while an item is dealt.
    dealt: Vec<Option<T>>,
    inlets: Vec<Inlet<T>>,
    turns: Writer<()>,
    /// The events of the branches, each once.
    events: Vec<Arc<EventCount>>,
}

impl<T: Send> Step<T> for ForkCall<'_, T> {
    fn cell(&mut self, turn: &mut Turn, cell: Cell<T>) -> Demand {
        let Self { deal, dealt, inlets, turns, events } = self;
        let (items, stop) = (cell.len(), cell.stop());
        let item = cell.into_items().next();
        debug_assert!(items <= 1, "an index has one item at a fork, because a branch has one cell for it");
        // A panic of `deal` leaves items in some places. The stop that comes then has no item.
        dealt.fill_with(|| None);
        if let Some(item) = item {
            deal.deal(item, dealt);
        }
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

    fn take_gain(&mut self) -> i64 {
        0
    }
}

//! Feedback: items that go through a part of the line again.
//!
//! The entry begins a domain. It gives an index to each item that comes from the stages before, and to each item that comes
//! back from the exit. The exit takes the results in the order of these indices. A result that is to go round again waits
//! in the loop until the entry takes it.
//!
//! The order in which items enter must not depend on the schedule. So an item that leaves at index *i* may enter again from
//! index *i* + `places` on. Before the entry makes index *k* it waits until the exit has taken index *k* - `places`: then
//! it knows each item that may enter at *k*. Such an item comes before those of the stages before. If there is none, the
//! entry takes the next item of the stages before. When they have ended, items enter again as soon as they can.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_record::Word;
use anabranch_record::lane::{Cell, Domain, Indices, Stop, Turn};
use anabranch_record::sync::{Arc, AtomicBool, AtomicU64, Mutex, Ordering, lock};

use super::lap::Lap;
use crate::engine::build::assembly::Assembly;
use crate::engine::build::consumer::Consumer;
use crate::engine::build::upstream::Upstream;
use crate::engine::nodes::input::{Drain, DrainWatch};
use crate::engine::nodes::quantum::{Quantum, Served};
use crate::engine::nodes::serving::{ServedNode, Serving};
use crate::engine::nodes::step::{Demand, Out, Step, stop_at_panic};
use crate::engine::state::room::RoomNotice;
use crate::engine::state::site::Site;
use crate::measures::Crossing;

/// The items that wait to go round again, and how far the exit has come.
pub(crate) struct Loop<T> {
    /// An item that leaves at an index enters again this many indices later, or after that. At least 1.
    places: u64,
    /// The items, each with the first index at which it may enter.
    items: Mutex<VecDeque<(u64, T)>>,
    /// The first index at which the first item may enter, for threads that only look: at most [`ANY`], or `u64::MAX` if
    /// there is no item.
    due: AtomicU64,
    /// Every index below this one has left.
    left: AtomicU64,
}

impl<T> Loop<T> {
    /// Creates a loop in which `items` go round first.
    pub(crate) fn new(places: usize, items: impl Iterator<Item = T>) -> Arc<Self> {
        let items: VecDeque<(u64, T)> = items.map(|item| (0, item)).collect();
        let due = AtomicU64::new(items.front().map_or(u64::MAX, |&(due, _)| due));
        Arc::new(Self { places: places as u64, items: Mutex::new(items), due, left: AtomicU64::new(0) })
    }

    /// Takes the first item if it may enter at `index`.
    fn take(&self, index: u64) -> Option<T> {
        if self.due.load(Ordering::Acquire) > index {
            return None;
        }
        let mut items = lock(&self.items);
        let (_, item) = items.pop_front()?;
        self.due.store(items.front().map_or(u64::MAX, |&(due, _)| due), Ordering::Release);
        Some(item)
    }

    /// Adds the items that leave at `index` and are to go round again, and notes that the index has left.
    fn leave(&self, index: u64, again: &mut Vec<T>) {
        if !again.is_empty() {
            // No index is as high as `ANY`, so an item that is due then waits until the stages before have ended.
            let due = index.saturating_add(self.places).min(ANY);
            let mut items = lock(&self.items);
            items.extend(again.drain(..).map(|item| (due, item)));
            self.due.store(items.front().map_or(u64::MAX, |&(due, _)| due), Ordering::Release);
        }
        self.left.store(index + 1, Ordering::Release);
    }

    /// How many indices have left.
    fn left(&self) -> u64 {
        self.left.load(Ordering::Acquire)
    }

    /// Whether the items that may enter at `index` are known.
    fn knows(&self, index: u64) -> bool {
        index < self.left().saturating_add(self.places)
    }
}

/// An index at which any item may enter.
const ANY: u64 = u64::MAX - 1;

/// The entry of a feedback, and everything before it.
pub(crate) struct EntryUpstream<'env, T: Send> {
    pub(crate) before: Box<dyn Upstream<T> + 'env>,
    pub(crate) laps: Arc<Loop<T>>,
    pub(crate) id: usize,
}

impl<T: Send> Upstream<T> for EntryUpstream<'_, T> {
    fn connect<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, consumer: Consumer<'run, T>)
    where
        Self: 'run,
    {
        let Self { before, laps, id } = *self;
        let out = assembly.after_serial(id, consumer);
        let read = move |assembly: &mut Assembly<'run>, lane| {
            let drain = assembly.drain_before(id, lane);
            let crossing = assembly.crossing(id);
            let word = assembly.word_of(id);
            let indices = assembly.indices_of(id);
            let node = EntryNode::new(assembly.site(id), drain, indices, laps, out, crossing, word);
            assembly.serial(id, node);
        };
        before.connect(assembly, Consumer::lane(id, read));
    }
}

struct LoopState<'run, T: Send> {
    drain: Drain<T>,
    indices: Indices,
    out: Out<'run, T>,
    /// The items of the last cell that have not entered yet, in reverse order.
    waiting: Vec<T>,
    /// How the stages before have ended.
    stop: Option<Stop>,
    crossing: Option<Crossing>,
}

/// The entry of a feedback as a node of a line.
struct EntryNode<'run, T: Send> {
    /// The node's place. Its domain is the one that the node opens.
    site: Site,
    state: PhantomData<fn(LoopState<'run, T>)>,
    watch: DrainWatch<T>,
    domain: Arc<Domain>,
    laps: Arc<Loop<T>>,
    /// Whether items of the last cell wait, or its failure does. Then there is work even if the lane before is empty.
    is_open: AtomicBool,
    /// Whether the stages before have ended, and all of their items have entered.
    has_ended: AtomicBool,
}

impl<'run, T: Send> EntryNode<'run, T> {
    fn new(
        site: Site,
        drain: Drain<T>,
        indices: Indices,
        laps: Arc<Loop<T>>,
        out: Out<'run, T>,
        crossing: Option<Crossing>,
        word: Arc<Word>,
    ) -> ServedNode<Self> {
        let (watch, domain) = (drain.watch(), Arc::clone(indices.domain()));
        let state = LoopState { drain, indices, out, waiting: Vec::new(), stop: None, crossing };
        let (is_open, has_ended) = (AtomicBool::new(false), AtomicBool::new(false));
        let node = Self { site, state: PhantomData, watch, domain, laps, is_open, has_ended };
        ServedNode::with_word(node, state, word)
    }

    /// Takes one step: lets an item enter, takes a cell of the stages before, or ends. Returns how the serving ends, if it
    /// ends here.
    fn advance(&self, state: &mut LoopState<'run, T>, quantum: &mut Quantum) -> Option<Served> {
        let index = state.indices.next();
        // The count is loaded before the items: if all indices have left, the items that they gave back are seen.
        let left = self.laps.left();
        if has_ended(state) {
            return match self.laps.take(ANY) {
                Some(item) => self.enter(state, item, quantum),
                None if left == index => {
                    put(state, Cell::Stop(Stop::End));
                    Some(Served::Closed)
                }
                None => Some(Served::Drained),
            };
        }
        if !self.laps.knows(index) {
            return Some(Served::Drained);
        }
        if let Some(item) = self.laps.take(index) {
            return self.enter(state, item, quantum);
        }
        if let Some(item) = state.waiting.pop() {
            let entered = self.enter(state, item, quantum);
            pass(state);
            return entered;
        }
        if state.stop == Some(Stop::Fail) {
            put(state, Cell::Stop(Stop::Fail));
            return Some(Served::Closed);
        }
        let Some(cell) = state.drain.take() else { return Some(Served::Drained) };
        quantum.tally.cells += 1;
        quantum.tally.items += cell.len();
        state.stop = cell.stop();
        state.waiting.extend(cell.into_items());
        state.waiting.reverse();
        pass(state);
        None
    }

    fn enter(&self, state: &mut LoopState<'run, T>, item: T, quantum: &mut Quantum) -> Option<Served> {
        quantum.tally.given += 1;
        let demand = put(state, Cell::Value(item));
        (demand == Demand::Nothing).then_some(Served::Closed)
    }
}

/// Whether the stages before have ended without a failure, and all of their items have entered.
fn has_ended<T: Send>(state: &LoopState<'_, T>) -> bool {
    state.stop == Some(Stop::End) && state.waiting.is_empty()
}

/// Gives back the index of the last cell, if all of its items have entered.
fn pass<T: Send>(state: &mut LoopState<'_, T>) {
    if state.waiting.is_empty() && state.stop.is_none() {
        state.drain.release();
        if let Some(crossing) = &mut state.crossing {
            crossing.has_left();
        }
    }
}

fn put<T: Send>(state: &mut LoopState<'_, T>, cell: Cell<T>) -> Demand {
    if let Some(crossing) = &mut state.crossing {
        crossing.enters(state.indices.next());
    }
    state.out.cell(state.indices.open(), cell)
}

impl<'run, T: Send> Serving for EntryNode<'run, T> {
    type State = LoopState<'run, T>;
    const COUNTS_CELLS: bool = true;

    fn site(&self) -> &Site {
        &self.site
    }

    fn serve(&self, state: &mut LoopState<'run, T>, quantum: &mut Quantum) -> Served {
        let served = catch_unwind(AssertUnwindSafe(|| {
            loop {
                // Each item and each stop needs an index, so the room is checked first.
                if state.indices.room() == 0 || self.domain.is_stopped() {
                    return Served::Drained;
                }
                if let Some(served) = self.advance(state, quantum) {
                    return served;
                }
                if quantum.count() || self.site.is_alone() || self.site.run.is_ending() {
                    return Served::Quantum;
                }
            }
        }));
        let served = served.unwrap_or_else(|payload| {
            // A stage that is fused to the entry has panicked, or a drop.
            let is_open = state.indices.turn().is_open();
            let turn = if is_open { state.indices.turn() } else { state.indices.open() };
            let out = &mut state.out;
            stop_at_panic(&self.site, payload, turn, |turn, cell| out.cell(turn, cell));
            Served::Closed
        });
        state.indices.show();
        let is_open = !state.waiting.is_empty() || state.stop == Some(Stop::Fail);
        self.is_open.store(is_open, Ordering::Relaxed);
        self.has_ended.store(has_ended(state), Ordering::Relaxed);
        served
    }

    fn has_work(&self) -> bool {
        if !self.domain.has_room() || self.domain.is_stopped() {
            return false;
        }
        let next = self.domain.made();
        let due = self.laps.due.load(Ordering::Relaxed);
        if self.has_ended.load(Ordering::Relaxed) {
            return due != u64::MAX || self.laps.left() == next;
        }
        self.laps.knows(next)
            && (due <= next || self.is_open.load(Ordering::Relaxed) || self.watch.is_ready())
    }

    /// Threads make room, and let items leave.
    fn needs_room(&self) -> bool {
        true
    }

    fn cells(&self) -> u64 {
        self.watch.taken()
    }

    fn given(&self) -> Option<u64> {
        Some(self.domain.made())
    }
}

/// The exit of a feedback, and everything before it. The stages in the loop give laps of items `T` and results `V`.
pub(crate) struct LeaveUpstream<'env, T: Send, V: Send> {
    pub(crate) before: Box<dyn Upstream<Lap<T, V>> + 'env>,
    pub(crate) laps: Arc<Loop<T>>,
    pub(crate) id: usize,
}

impl<T: Send, V: Send> Upstream<V> for LeaveUpstream<'_, T, V> {
    fn connect<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, consumer: Consumer<'run, V>)
    where
        Self: 'run,
    {
        let Self { before, laps, id } = *self;
        let out = assembly.after_serial(id, consumer);
        let call = LeaveCall {
            site: assembly.site(id),
            gain: 0,
            notice: assembly.notice_of(id),
            laps,
            again: Vec::new(),
            done: Vec::new(),
            out,
        };
        before.connect(assembly, Consumer::serial(id, call));
    }
}

/// The exit of a feedback as a consumer of cells.
struct LeaveCall<'run, T: Send, V: Send> {
    site: Site,
    gain: i64,
    /// Tells the entry that an index has left.
    notice: RoomNotice,
    laps: Arc<Loop<T>>,
    /// The items of the index that go round again.
    again: Vec<T>,
    /// The results of the index, if it is not a single item.
    done: Vec<V>,
    out: Out<'run, V>,
}

impl<T: Send, V: Send> LeaveCall<'_, T, V> {
    /// Gives the index back to the loop, with the items that go round again.
    fn leave(&mut self, turn: &Turn) {
        self.laps.leave(turn.index(), &mut self.again);
        self.notice.give();
    }
}

impl<T: Send, V: Send> Step<Lap<T, V>> for LeaveCall<'_, T, V> {
    fn item(&mut self, turn: &mut Turn, lap: Lap<T, V>) -> Demand {
        match lap {
            Lap::Done(result) => {
                self.leave(turn);
                self.out.item(turn, result)
            }
            Lap::Again(item) => {
                self.again.push(item);
                self.gain -= 1;
                self.leave(turn);
                self.out.items(turn, &mut self.done, None)
            }
        }
    }

    fn items(&mut self, turn: &mut Turn, laps: &mut Vec<Lap<T, V>>, stop: Option<Stop>) -> Demand {
        let is_item = self.site.run.is_item(laps, stop);
        self.gain -= laps.len() as i64;
        for lap in laps.drain(..) {
            match lap {
                Lap::Again(item) => self.again.push(item),
                Lap::Done(result) => self.done.push(result),
            }
        }
        if let Some(stop) = stop {
            assert!(
                self.again.is_empty() || is_item || stop == Stop::Fail,
                "a stage of a feedback has kept an item until the end of the stream, and it cannot go round again then"
            );
            self.again.clear();
        }
        self.gain += self.done.len() as i64;
        self.leave(turn);
        self.out.items(turn, &mut self.done, stop)
    }

    fn take_gain(&mut self) -> i64 {
        std::mem::take(&mut self.gain) + self.out.take_gain()
    }
}

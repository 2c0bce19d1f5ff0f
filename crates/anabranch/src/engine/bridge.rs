//! A bridge between two domains: a serial node that is the sink of one and the source of the next. Where the
//! count of items changes, or order is given up, the items behind it have indices and a window of their own.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_record::lane::{Cell, RoomWatch, Source, Stop};
use anabranch_record::sync::{Arc, AtomicBool, Ordering, fence};
use anabranch_record::{Baton, EventCount, Word};

use super::assembly::{Poked, SerialNode};
use super::cell::items_in;
use super::exit::{Exit, Look, RoomNotice};
use super::measures::Mark;
use super::run::{Cause, Site};
use super::stage::{Quantum, Served};
use crate::serial::{Pulled, Spread};
use crate::shape::Shape;

struct State<S: Shape, T: Send, U: Send, X, Op> {
    exit: X,
    entry: Source<U>,
    op: Op,
    /// The items of the cell that was taken last, which are not yet opened; the last one first.
    waiting: Vec<T>,
    /// An item is open: the operation has more to give of it.
    is_open: bool,
    /// The cell that was taken last stops the stream, once its items are through.
    stop: Option<Stop>,
    shape: std::marker::PhantomData<fn() -> S>,
}

/// A bridge of a line.
pub(super) struct BridgeNode<S: Shape, T: Send, X: Exit<S::Slot<T>>, Op: Spread<T, E>, E> {
    /// The bridge stands in the domain that it opens, and ends the one that another node opened.
    site: Site<E>,
    ends: usize,
    baton: Baton<State<S, T, Op::Out, X, Op>>,
    look: X::Look,
    room: RoomWatch<Op::Out>,
    /// Something is half-read: there is work even if the lane before is empty.
    is_open: AtomicBool,
    /// Who takes what the bridge gives waits here.
    out: Arc<EventCount>,
    notice: RoomNotice,
}

impl<S, T, X, Op, E> BridgeNode<S, T, X, Op, E>
where
    S: Shape,
    T: Send,
    X: Exit<S::Slot<T>>,
    Op: Spread<T, E>,
{
    pub(super) fn new(
        site: Site<E>,
        ends: usize,
        exit: X,
        entry: Source<Op::Out>,
        op: Op,
        out: Arc<EventCount>,
        notice: RoomNotice,
    ) -> Self {
        let (look, room) = (exit.look(), entry.watch());
        let state = State {
            exit,
            entry,
            op,
            waiting: Vec::new(),
            is_open: false,
            stop: None,
            shape: std::marker::PhantomData,
        };
        Self {
            site,
            ends,
            baton: Baton::new(state),
            look,
            room,
            is_open: AtomicBool::new(false),
            out,
            notice,
        }
    }

    pub(super) fn word(&self) -> &Arc<Word> {
        self.baton.word()
    }

    fn serve(&self, state: &mut State<S, T, Op::Out, X, Op>, quantum: &mut Quantum) -> Served {
        let served = catch_unwind(AssertUnwindSafe(|| {
            loop {
                // Room first: whatever is called below may fail, and the failure needs an index.
                if state.entry.room() == 0 || state.entry.domain().stop() != u64::MAX {
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
            self.site.halt(state.entry.next(), Cause::Panic(payload));
            self.put(state, Cell::Stop(None, Stop::Fail));
            Served::Closed
        });
        let is_open = state.is_open || !state.waiting.is_empty() || state.stop.is_some();
        self.is_open.store(is_open, Ordering::Relaxed);
        served
    }

    /// Takes one step: gives an item, opens one, or takes a cell. Says how the serving ends, if it does.
    fn advance(&self, state: &mut State<S, T, Op::Out, X, Op>, quantum: &mut Quantum) -> Option<Served> {
        if state.is_open {
            match state.op.next() {
                Pulled::Item(item) => {
                    quantum.tally.given += 1;
                    self.put(state, Cell::Value(item));
                }
                Pulled::End => {
                    state.is_open = false;
                    self.pass(state);
                }
                Pulled::Fail(error) => {
                    self.site.fail(state.entry.next(), error);
                    self.put(state, Cell::Stop(None, Stop::Fail));
                    return Some(Served::Closed);
                }
            }
        } else if let Some(item) = state.waiting.pop() {
            // Open before it is: if opening panics, the item is not given back.
            state.op.open(item);
            state.is_open = true;
        } else if let Some(stop) = state.stop {
            self.put(state, Cell::Stop(None, stop));
            return Some(Served::Closed);
        } else {
            let taken = state.exit.take();
            if let Some(cell) = &taken {
                quantum.tally.cells += 1;
                quantum.tally.items += items_in::<S, T>(cell);
            }
            let (slot, stop) = match taken {
                None => return Some(Served::Drained),
                Some(Cell::Value(slot)) => (Some(slot), None),
                Some(Cell::Empty) => (None, None),
                Some(Cell::Stop(slot, stop)) => (slot, Some(stop)),
            };
            state.stop = stop;
            if let Some(slot) = slot {
                let waiting = &mut state.waiting;
                let _: std::ops::ControlFlow<()> = S::each(slot, |item| {
                    waiting.push(item);
                    std::ops::ControlFlow::Continue(())
                });
                waiting.reverse();
            }
            self.pass(state);
        }
        None
    }

    /// Gives the index of the last cell back, once everything of it has been given on.
    fn pass(&self, state: &mut State<S, T, Op::Out, X, Op>) {
        if !state.is_open && state.waiting.is_empty() && state.stop.is_none() {
            state.exit.release();
            self.notice.give();
            let index = self.look.taken() - 1;
            Mark::new(self.site.run.measures(), self.ends, index).has_left(index);
        }
    }

    fn put(&self, state: &mut State<S, T, Op::Out, X, Op>, cell: Cell<Op::Out>) {
        let index = state.entry.next();
        self.site.mark(index).enters(index);
        state.entry.put(cell);
        self.out.notify();
    }
}

impl<S, T, X, Op, E> SerialNode for BridgeNode<S, T, X, Op, E>
where
    S: Shape,
    T: Send,
    X: Exit<S::Slot<T>>,
    E: Send,
    Op: Spread<T, E>,
{
    fn poke(&self, elsewhere: &dyn Fn() -> bool) -> Poked {
        let Some(mut held) = self.baton.poke() else { return Poked::Elsewhere };
        let _entered = self.site.enter();
        // As in the source: what it opens may block.
        fence(Ordering::SeqCst);
        let gives_way = self.site.is_alone() && elsewhere();
        let mut quantum = Quantum::begin(&self.site);
        loop {
            let served = if gives_way { Served::Quantum } else { self.serve(held.state(), &mut quantum) };
            match served {
                Served::Drained => match held.release() {
                    Some(again) => held = again,
                    None => break,
                },
                Served::Quantum => {
                    held.let_go();
                    break;
                }
                Served::Closed => {
                    quantum.closed = true;
                    held.close();
                    return quantum.end(&self.site);
                }
            }
        }
        // As a source: whoever made room while we held the baton left it to us to see (rule 7).
        fence(Ordering::SeqCst);
        if self.is_ready() {
            self.site.run.event.notify();
        }
        quantum.end(&self.site)
    }

    fn is_ready(&self) -> bool {
        self.baton.word().is_free()
            && self.room.has_room()
            && (self.look.is_ready() || self.is_open.load(Ordering::Relaxed))
            && !self.room.is_stopped()
    }

    fn is_held(&self) -> bool {
        let word = self.baton.word();
        !word.is_free() && !word.is_closed()
    }

    fn taken(&self) -> (usize, u64) {
        // The cell that closed the node is no item.
        (self.site.id, self.look.taken() - u64::from(self.baton.word().is_closed()))
    }

    fn given(&self) -> u64 {
        self.room.put()
    }

    fn mean(&self) -> u64 {
        0
    }
}

//! A serial stage in the middle of a line (rules 6 and 7).

use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_record::lane::{Cell, Inlet, Stage, Stop, Watch};
use anabranch_record::sync::Arc;
use anabranch_record::{Baton, EventCount};

use super::assembly::{Poked, SerialNode};
use super::cell::{items_in, through_serial};
use super::clock::Moment;
use super::measures::Tally;
use super::run::{Cause, Site};
use crate::serial::Serial;
use crate::shape::Shape;

/// A serving ends after so many items...
const MOST: u32 = if cfg!(shuttle) { 2 } else { 256 };
/// ... or so many nanoseconds...
const QUANTUM: u64 = 100_000;
/// ... at which it looks every so many items, until these are known to be cheap.
const LOOK: u32 = if cfg!(shuttle) { 1 } else { 32 };

/// How a serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Served {
    /// The next cell is not there.
    Drained,
    /// The quantum was used up, or the run is over.
    Quantum,
    /// The stream has stopped here.
    Closed,
}

/// Counts a serving against its quantum.
pub(super) struct Quantum {
    served: u32,
    /// At so many items it looks at the clock.
    look: u32,
    /// The stream has stopped here.
    pub(super) closed: bool,
    began: Option<Moment>,
    /// What has passed.
    pub(super) tally: Tally,
}

impl Quantum {
    pub(super) fn begin<E>(site: &Site<E>) -> Self {
        Self { served: 0, look: LOOK, closed: false, began: site.clock(), tally: Tally::default() }
    }

    /// Counts one item; says whether the quantum is used up.
    #[inline]
    pub(super) fn count(&mut self) -> bool {
        self.served += 1;
        self.served >= self.look && self.is_used_up()
    }

    #[cold]
    fn is_used_up(&mut self) -> bool {
        let elapsed = self.began.map_or(0, Moment::elapsed);
        // Items of which the first few took so little are all served before the time is up.
        let are_cheap = elapsed < QUANTUM / u64::from(MOST / LOOK);
        self.look = if are_cheap { MOST } else { self.look + LOOK };
        self.served >= MOST || elapsed >= QUANTUM
    }

    /// Ends the poke: counts what was served, and says what became of it.
    pub(super) fn end<E>(self, site: &Site<E>) -> Poked {
        if self.served == 0 && !self.closed {
            return Poked::Idle;
        }
        if let Some(began) = self.began {
            site.measure(self.tally, began, began.elapsed());
        }
        Poked::Worked
    }
}

struct State<S: Shape, T: Send, U: Send, I, Op> {
    port: Stage<S::Slot<T>, S::Slot<U>, I>,
    op: Op,
}

/// A serial stage of a line.
pub(super) struct StageNode<S: Shape, T: Send, I, Op: Serial<T, E>, E> {
    site: Site<E>,
    baton: Baton<State<S, T, Op::Out, I, Op>>,
    watch: Watch<S::Slot<T>, I>,
    /// Who takes what the stage gives waits here.
    out: Arc<EventCount>,
}

impl<S, T, I, Op, E> StageNode<S, T, I, Op, E>
where
    S: Shape,
    T: Send,
    I: Inlet<S::Slot<T>>,
    Op: Serial<T, E>,
{
    pub(super) fn new(
        site: Site<E>,
        port: Stage<S::Slot<T>, S::Slot<Op::Out>, I>,
        op: Op,
        out: Arc<EventCount>,
    ) -> Self {
        let watch = port.watch();
        Self { site, baton: Baton::new(State { port, op }), watch, out }
    }

    fn serve(&self, state: &mut State<S, T, Op::Out, I, Op>, quantum: &mut Quantum) -> Served {
        let State { port, op } = state;
        let run = &*self.site.run;
        let served = catch_unwind(AssertUnwindSafe(|| {
            while !run.is_ending() {
                let Some(cell) = port.take() else { return Served::Drained };
                quantum.tally.cells += 1;
                quantum.tally.items += items_in::<S, T>(&cell);
                let cell = through_serial::<S, T, E, Op>(&self.site, port.index(), cell, op);
                quantum.tally.given += items_in::<S, Op::Out>(&cell);
                let stops = matches!(cell, Cell::Stop(..));
                port.put(cell);
                self.out.notify();
                if stops {
                    return Served::Closed;
                }
                if quantum.count() {
                    break;
                }
            }
            Served::Quantum
        }));
        served.unwrap_or_else(|payload| {
            self.site.halt(port.index(), Cause::Panic(payload));
            port.put(Cell::Stop(None, Stop::Fail));
            self.out.notify();
            Served::Closed
        })
    }
}

impl<S, T, I, Op, E> SerialNode for StageNode<S, T, I, Op, E>
where
    S: Shape,
    T: Send,
    I: Inlet<S::Slot<T>>,
    E: Send,
    Op: Serial<T, E>,
{
    fn poke(&self, _: &dyn Fn() -> bool) -> Poked {
        let Some(mut held) = self.baton.poke() else { return Poked::Elsewhere };
        let _entered = self.site.enter();
        let mut quantum = Quantum::begin(&self.site);
        loop {
            match self.serve(held.state(), &mut quantum) {
                Served::Drained => match held.release() {
                    Some(again) => held = again,
                    None => break,
                },
                Served::Quantum => {
                    held.let_go();
                    #[cfg(not(mutant = "no_look_after_serve"))]
                    if self.is_ready() {
                        self.site.run.event.notify();
                    }
                    break;
                }
                Served::Closed => {
                    quantum.closed = true;
                    held.close();
                    break;
                }
            }
        }
        quantum.end(&self.site)
    }

    fn is_ready(&self) -> bool {
        self.baton.word().is_free() && self.watch.is_ready()
    }

    fn is_held(&self) -> bool {
        let word = self.baton.word();
        !word.is_free() && !word.is_closed()
    }

    fn taken(&self) -> (usize, u64) {
        // The cell that closed the node is no item.
        (self.site.id, self.watch.taken() - u64::from(self.baton.word().is_closed()))
    }

    fn mean(&self) -> u64 {
        0
    }
}

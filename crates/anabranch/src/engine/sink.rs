//! The sink: takes results in order, and gives their indices back to the source (rule 6).

use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_record::Baton;
use anabranch_record::lane::{Cell, Inlet, Sink, Watch};
use anabranch_record::sync::{AtomicU64, Ordering};

use super::assembly::{Poked, SerialNode};
use super::cell::{items_in, through};
use super::exit::RoomNotice;
use super::run::{Cause, Site};
use super::stage::{Quantum, Served};
use crate::progress::Reporter;
use crate::serial::Serial;
use crate::shape::{Shape, Single};

/// Told after each item how many have passed the sink: for progress.
pub(crate) type Watcher<'env> = Option<Reporter<'env>>;

struct State<'env, S: Shape, T: Send, I, Op> {
    port: Sink<S::Slot<T>, I>,
    op: Op,
    watcher: Watcher<'env>,
}

/// The sink of a line.
pub(super) struct SinkNode<'env, S: Shape, T: Send, I, Op, E> {
    site: Site<E>,
    baton: Baton<State<'env, S, T, I, Op>>,
    watch: Watch<S::Slot<T>, I>,
    notice: RoomNotice,
    /// 1 once the stream has been stopped by a cell that is no item, or is one that failed here.
    bare: AtomicU64,
}

impl<'env, S, T, I, Op, E> SinkNode<'env, S, T, I, Op, E>
where
    S: Shape,
    T: Send,
    I: Inlet<S::Slot<T>>,
    Op: Serial<T, E, Out = std::convert::Infallible>,
{
    pub(super) fn new(
        site: Site<E>,
        port: Sink<S::Slot<T>, I>,
        op: Op,
        notice: RoomNotice,
        watcher: Watcher<'env>,
    ) -> Self {
        let watch = port.watch();
        let baton = Baton::new(State { port, op, watcher });
        Self { site, baton, watch, notice, bare: AtomicU64::new(0) }
    }

    fn serve(&self, state: &mut State<'env, S, T, I, Op>, quantum: &mut Quantum) -> Served {
        let State { port, op, watcher } = state;
        let mut mark = self.site.mark(port.index());
        // Not through the node at each item: that takes several loads.
        let run = &*self.site.run;
        let served = catch_unwind(AssertUnwindSafe(|| {
            while !run.is_ending() {
                let Some(cell) = port.take() else { return Served::Drained };
                let index = port.index() - 1;
                quantum.tally.cells += 1;
                quantum.tally.items += items_in::<S, T>(&cell);
                let is_last = self.site.run.is_item(&cell);
                let done = through::<S, Single, T, _, E>(&self.site, index, cell, |item, gather| {
                    op.call(item, &mut |never| {
                        *gather = Some(never);
                        std::ops::ControlFlow::Continue(())
                    })
                });
                if matches!(done, Cell::Stop(..)) {
                    self.bare.store(u64::from(!is_last), Ordering::Relaxed);
                    return Served::Closed;
                }
                port.release();
                self.notice.give();
                mark.has_left(index);
                if let Some(watcher) = watcher {
                    watcher.passed(port.index(), false);
                }
                if quantum.count() {
                    break;
                }
            }
            Served::Quantum
        }));
        let served = served.unwrap_or_else(|payload| {
            self.site.halt(port.index() - 1, Cause::Panic(payload));
            self.bare.store(1, Ordering::Relaxed);
            Served::Closed
        });
        if let (Some(watcher), Served::Closed) = (watcher, served) {
            let items = port.index() - self.bare.load(Ordering::Relaxed);
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| watcher.passed(items, true))) {
                self.site.halt(port.index(), Cause::Panic(payload));
            }
        }
        served
    }
}

impl<S, T, I, Op, E> SerialNode for SinkNode<'_, S, T, I, Op, E>
where
    S: Shape,
    T: Send,
    I: Inlet<S::Slot<T>>,
    E: Send,
    Op: Serial<T, E, Out = std::convert::Infallible>,
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
                    self.site.run.finish();
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
        (self.site.id, self.watch.taken().saturating_sub(self.bare.load(Ordering::Relaxed)))
    }

    fn mean(&self) -> u64 {
        0
    }
}

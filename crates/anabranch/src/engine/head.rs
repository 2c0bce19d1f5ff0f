//! The head of a serial unit. It reads a lane in order, on one thread at a time (rules 6 and 7).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc as StdArc;

use anabranch_record::lane::{Cell, Stop};
use anabranch_record::sync::{Arc, Ordering, fence};
use anabranch_record::{Baton, Word};

use super::failure::Cause;
use super::input::{Input, InputWatch};
use super::node::{Poked, SerialNode};
use super::push::{Demand, Push};
use super::quantum::{Quantum, Served};
use super::run::Run;
use super::site::Site;

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_LOOK_AFTER_SERVE: bool = cfg!(mutant = "no_look_after_serve");

/// Takes the results of a detached run. Its sink never waits, but is served only while there is room.
pub(crate) trait ResultQueue: Send + Sync {
    /// Whether another result may come. Only looks. When it becomes true, the run's event must be notified.
    fn has_room(&self) -> bool;
}

struct State<'run, S: Send> {
    input: Input<S>,
    unit: Box<dyn Push<S> + 'run>,
}

/// The head of a serial unit.
pub(crate) struct Head<'run, S: Send> {
    site: Site,
    baton: Baton<State<'run, S>>,
    watch: InputWatch<S>,
    /// Whether taking a cell needs room in a window, because the unit begins a domain.
    needs_room: bool,
    /// Whether the unit ends with the sink.
    is_sink: bool,
    /// What takes the results, if the unit ends with the sink of a detached run.
    queue: Option<StdArc<dyn ResultQueue>>,
}

impl<'run, S: Send> Head<'run, S> {
    /// Creates the head of `unit`. `word` is the word of its baton, if other nodes have got the word already.
    pub(crate) fn new(
        site: Site,
        input: Input<S>,
        unit: Box<dyn Push<S> + 'run>,
        word: Option<Arc<Word>>,
        is_sink: bool,
        queue: Option<StdArc<dyn ResultQueue>>,
    ) -> Self {
        let (watch, needs_room) = (input.watch(), input.needs_room());
        let state = State { input, unit };
        let baton = match word {
            Some(word) => Baton::with_word(word, state),
            None => Baton::new(state),
        };
        Self { site, baton, watch, needs_room, is_sink, queue }
    }

    fn serve(&self, state: &mut State<'run, S>, quantum: &mut Quantum) -> Served {
        let State { input, unit } = state;
        let run = &*self.site.run;
        let served = catch_unwind(AssertUnwindSafe(|| match &self.queue {
            None => unit.serve(input, quantum, run),
            Some(queue) => serve_while_room(&**queue, &mut **unit, input, quantum, run),
        }));
        let served = served.unwrap_or_else(|payload| {
            let turn = input.turn();
            self.site.halt(turn.index(), Cause::Panic(payload));
            let stopped = catch_unwind(AssertUnwindSafe(|| unit.push(turn, Cell::Stop(Stop::Fail))));
            debug_assert!(matches!(stopped, Ok(Demand::Nothing)), "a failure stop runs no user code");
            Served::Closed
        });
        input.show();
        if run.measures().is_some() || run.costs.are_measured() {
            quantum.tally.add(unit.take_tally());
        }
        served
    }
}

/// Like [`Push::serve`], but takes a cell only while the queue has room. Without room the quantum is used up: the holder looks
/// again after it has released the baton.
#[cold]
fn serve_while_room<S: Send>(
    queue: &dyn ResultQueue,
    unit: &mut dyn Push<S>,
    input: &mut Input<S>,
    quantum: &mut Quantum,
    run: &Run,
) -> Served {
    while !run.is_ending() && queue.has_room() {
        let Some((turn, cell)) = input.take() else { return Served::Drained };
        if unit.push(turn, cell) == Demand::Nothing {
            return Served::Closed;
        }
        if quantum.count() {
            break;
        }
    }
    Served::Quantum
}

impl<S: Send> SerialNode for Head<'_, S> {
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
                    if !NO_LOOK_AFTER_SERVE && self.is_ready() {
                        self.site.run.event.notify();
                    }
                    break;
                }
                Served::Closed => {
                    quantum.closed = true;
                    held.close();
                    return quantum.end(&self.site);
                }
            }
        }
        if self.needs_room {
            // A thread that made room while this thread held the baton has woken nobody, so this thread looks
            // again (rule 7).
            fence(Ordering::SeqCst);
            if self.is_ready() {
                self.site.run.event.notify();
            }
        }
        quantum.end(&self.site)
    }

    fn is_ready(&self) -> bool {
        self.baton.word().is_free()
            && self.watch.is_ready()
            && self.queue.as_ref().is_none_or(|queue| queue.has_room())
    }

    fn is_held(&self) -> bool {
        let word = self.baton.word();
        !word.is_free() && !word.is_closed()
    }

    fn taken(&self) -> u64 {
        // The cell that closed the node is not an item, unless a stage before stopped the stream with its
        // last item.
        let is_last = self.is_sink && self.site.run.ended_on_item.load(Ordering::Relaxed);
        self.watch.taken() - u64::from(self.baton.word().is_closed() && !is_last)
    }

    fn given(&self) -> u64 {
        self.taken()
    }

    fn mean_ns(&self) -> u64 {
        0
    }
}

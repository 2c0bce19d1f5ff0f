//! The source node: pulls items into the first lane while the window has room (rule 3).

use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_record::lane::{Cell, RoomWatch, Source, Stop};
use anabranch_record::sync::{Arc, AtomicU64, Ordering, fence};
use anabranch_record::{Baton, EventCount, Word};

use super::assembly::{Poked, SerialNode};
use super::clock::Mean;
use super::gate::Gate;
use super::measures::Tally;
use super::run::{Cause, Site};
use super::scales::Scales;
use crate::serial::{Pull, Pulled};

/// A pull ends after so many nanoseconds, at the mean cost of `next`...
const QUANTUM: u64 = 20_000;
/// ... and after so many items.
const MOST: u64 = 2_048;

struct State<'env, P: Pull> {
    pull: P,
    port: Source<P::Item>,
    scales: Option<Scales<'env, P::Item>>,
    mean: Mean,
}

/// The source of a line.
pub(super) struct SourceNode<'env, P: Pull> {
    site: Site<P::Error>,
    baton: Baton<State<'env, P>>,
    room: RoomWatch<P::Item>,
    gate: Option<Arc<Gate>>,
    /// The bits of the mean cost of `next`, for others to see.
    mean: AtomicU64,
    /// Who takes what is pulled waits here.
    out: Arc<EventCount>,
    /// Who pulls is not held up in the source, and goes on with what it has pulled.
    goes_on: bool,
}

impl<'env, P: Pull> SourceNode<'env, P> {
    pub(super) fn new(
        site: Site<P::Error>,
        port: Source<P::Item>,
        pull: P,
        scales: Option<Scales<'env, P::Item>>,
        out: Arc<EventCount>,
    ) -> Self {
        let room = port.watch();
        let feed = site.run.feed.clone();
        let goes_on = feed.is_some() && !site.is_dedicated;
        let has_gate = scales.is_some() || feed.is_some();
        let gate = has_gate.then(|| Arc::new(Gate::new(port.domain(), feed)));
        let baton = Baton::new(State { pull, port, scales, mean: Mean::default() });
        Self { site, baton, room, gate, mean: AtomicU64::new(0), out, goes_on }
    }

    /// Whether the items in flight are light enough for another one.
    #[inline]
    fn is_light(&self, state: &mut State<'env, P>) -> bool {
        let Some(scales) = &mut state.scales else { return true };
        let released = state.port.domain().released();
        let indices = scales.gate(released);
        if let Some(gate) = &self.gate {
            gate.set(indices);
        }
        indices <= released
    }

    /// Whether there is something to pull, for all that this worker can tell.
    #[inline]
    fn is_fed(&self) -> bool {
        self.gate.as_ref().is_none_or(|gate| gate.is_fed())
    }

    /// What the source waits for beside room.
    pub(super) fn gate(&self) -> Option<&Arc<Gate>> {
        self.gate.as_ref()
    }

    pub(super) fn word(&self) -> &Arc<Word> {
        self.baton.word()
    }

    /// Pulls for one quantum. Says whether the source is exhausted.
    fn pull(&self, state: &mut State<'env, P>, worked: &mut bool) -> bool {
        if state.port.fresh_room() == 0 || !self.is_light(state) {
            return false;
        }
        if self.site.run.is_stopping() {
            return self.stops(state, worked);
        }
        if !self.is_fed() {
            return false;
        }
        let mean = &state.mean;
        let most =
            if mean.is_known() && !self.site.is_alone() { mean.items_in(QUANTUM).min(MOST) } else { 1 };
        let _entered = self.site.enter();
        let first = state.port.next();
        let began = self.site.clock();
        let mut mark = self.site.mark(first);
        let pulled = catch_unwind(AssertUnwindSafe(|| {
            let end = first + most;
            while state.port.next() < end && state.port.room() > 0 {
                if cfg!(not(mutant = "pull_past_a_failure")) && self.site.run.is_stopping() {
                    break;
                }
                match state.pull.pull() {
                    Pulled::Item(item) => {
                        if let Some(scales) = &mut state.scales {
                            scales.put(state.port.next(), &item);
                        }
                        mark.enters(state.port.next());
                        state.port.put(Cell::Value(item));
                        // Who has it from outside is back at once, takes it on, and says what it leaves.
                        if cfg!(not(mutant = "no_notice_of_an_item")) && !self.goes_on {
                            self.out.notify();
                        }
                        if !self.is_light(state) || self.site.is_alone() || !self.is_fed() {
                            break;
                        }
                    }
                    other => return Some(other),
                }
            }
            None
        }));
        let State { port, mean, .. } = state;
        *worked |= port.next() > first || !matches!(pulled, Ok(None));
        if let Some(began) = began {
            let nanos = began.elapsed();
            mean.update(nanos, port.next() - first);
            let items = port.next() - first;
            self.site.measure(Tally { cells: items, items, given: items }, began, nanos);
            self.mean.store(mean.bits(), Ordering::Relaxed);
        }
        match pulled {
            Ok(None) => false,
            Ok(Some(pulled)) => {
                self.stop(port, pulled);
                true
            }
            Err(payload) => {
                self.site.halt(port.next(), Cause::Panic(payload));
                self.put_stop(port, Stop::Fail);
                true
            }
        }
    }

    /// The source is not to be asked again. If the run drains, the stream ends here. Says whether it does.
    #[cold]
    fn stops(&self, state: &mut State<'env, P>, worked: &mut bool) -> bool {
        let drains = self.site.run.is_draining();
        if drains {
            self.put_stop(&mut state.port, Stop::End);
            *worked = true;
        }
        drains
    }

    #[cold]
    fn stop(&self, port: &mut Source<P::Item>, pulled: Pulled<P::Item, P::Error>) {
        let stop = match pulled {
            Pulled::Fail(error) => {
                self.site.fail(port.next(), error);
                Stop::Fail
            }
            _ => Stop::End,
        };
        self.put_stop(port, stop);
    }

    fn put_stop(&self, port: &mut Source<P::Item>, stop: Stop) {
        port.put(Cell::Stop(None, stop));
        self.out.notify();
    }
}

impl<P: Pull> SerialNode for SourceNode<'_, P> {
    fn poke(&self, elsewhere: &dyn Fn() -> bool) -> Poked {
        let Some(mut held) = self.baton.poke() else { return Poked::Elsewhere };
        // Who leaves says so, then looks whether the source is held; who holds it looks whether it is alone: one of
        // the two sees what is left to do.
        fence(Ordering::SeqCst);
        let gives_way = self.site.is_alone() && elsewhere();
        let mut worked = false;
        if !gives_way && self.pull(held.state(), &mut worked) {
            held.close();
            return Poked::Worked;
        }
        held.let_go();
        // Rule 7: whoever made room while we held the baton left it to us to see.
        #[cfg(not(mutant = "no_look_after_pull"))]
        if self.is_ready() && self.gate.as_ref().is_none_or(|gate| gate.is_wide_open()) {
            self.site.run.event.notify();
        }
        if worked { Poked::Worked } else { Poked::Idle }
    }

    fn is_ready(&self) -> bool {
        let run = &self.site.run;
        self.baton.word().is_free()
            && self.room.has_room()
            && self.gate.as_ref().is_none_or(|gate| gate.is_light())
            && (run.is_draining() || !run.is_stopping() && self.is_fed())
    }

    fn is_held(&self) -> bool {
        let word = self.baton.word();
        !word.is_free() && !word.is_closed()
    }

    fn taken(&self) -> (usize, u64) {
        // The cell that closed the node is no item.
        (self.site.id, self.room.put() - u64::from(self.baton.word().is_closed()))
    }

    fn mean(&self) -> u64 {
        Mean::from_bits(self.mean.load(Ordering::Relaxed)).nanos()
    }
}

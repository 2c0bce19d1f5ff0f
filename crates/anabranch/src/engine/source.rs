//! The source of a line. It pulls items into its domain while the window has room (rule 3).

use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_record::Baton;
use anabranch_record::lane::{Cell, Domain, Indices, Stop};
use anabranch_record::sync::{Arc, AtomicU64, Ordering, fence};

use super::assembly::{Assembly, Blocks, Taker, Upstream};
use super::blocks::{Length, is_in_blocks};
use super::clock::{Mean, Moment};
use super::counter::Counter;
use super::direct::{DirectSource, pass_of};
use super::failure::{Cause, ErrorSlot, Position};
use super::gate::Gate;
use super::line::{Drive, Poked, SerialNode};
use super::measures::{Stride, Tally};
use super::push::{Demand, Out};
use super::run::Run;
use super::scales::{Scales, Weigher};
use super::site::Spot;
use crate::pull::{Pull, Pulled, SourceEnd};

/// One pull takes as many items as this many nanoseconds are enough for, at the mean cost of `next`. It takes
/// at most [`PULL_ITEMS`].
const PULL_NS: u64 = 20_000;
/// The largest number of items in one pull.
const PULL_ITEMS: u64 = 2_048;

/// The code of a source, before a line is made of it.
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

    fn in_blocks<'w>(self: Box<Self>) -> Box<dyn Blocks<P::Item> + 'w>
    where
        Self: 'w,
    {
        Box::new(Filling { pull: self.pull, errors: self.errors })
    }

    fn connect<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, taker: Taker<'run, P::Item>)
    where
        Self: 'run,
    {
        let Self { pull, errors, id, weigher } = *self;
        let length = Length::new(&assembly.plan);
        let weigher: Option<Weigher<'run, P::Item>> = if P::IN_BLOCKS && is_in_blocks(&assembly.plan) {
            Some(counted::<P>(assembly.plan.domains[0].window))
        } else {
            weigher
        };
        let spot = assembly.spot(id, &errors);
        if assembly.is_direct() {
            let source = DirectSource { spot, pull, next: pass_of(taker), length };
            assembly.drive = Some(Box::new(source));
            return;
        }
        let out = assembly.after_serial(id, taker);
        let indices = assembly.indices_of(id);
        if assembly.is_inline() {
            let counter = assembly.counter(id);
            let begins_inside = assembly.begins_inside;
            let source = InlineSource { spot, counter, pull, indices, out, length, begins_inside };
            assembly.drive = Some(Box::new(source));
            return;
        }
        let gate = assembly.gate_of(id);
        let goes_on = spot.run.feed.is_some() && !spot.run.has_dedicated();
        let scales = weigher.map(Scales::new);
        let state = State { pull, indices, out, scales, mean: Mean::default(), length };
        let node = SourceNode {
            domain: Arc::clone(state.indices.domain()),
            baton: Baton::with_word(assembly.word_of(id), state),
            spot,
            gate,
            mean: AtomicU64::new(0),
            goes_on,
        };
        assembly.source(id, node);
    }
}

/// Weighs a block by its number of items, so that at most `window` items are in flight.
fn counted<'run, P: Pull + 'run>(window: usize) -> Weigher<'run, P::Item> {
    let limit = window as u64;
    // The source waits until there is room for a block of a good length.
    Weigher { limit, resume: (limit - limit / 4).max(1), weigh: Box::new(P::items_in) }
}

/// A source that is asked for many items at a time.
struct Filling<P: Pull> {
    pull: P,
    errors: Arc<ErrorSlot<P::Error>>,
}

impl<P: Pull> Blocks<P::Item> for Filling<P> {
    fn fill(&mut self, most: usize, block: &mut Vec<P::Item>) -> Option<SourceEnd<()>> {
        match self.pull.fill(most, block)? {
            SourceEnd::Exhausted => Some(SourceEnd::Exhausted),
            SourceEnd::Failed(error) => {
                // Nothing else puts an error into this slot. The reader of the blocks takes it out.
                self.errors.offer(Position::END, error);
                Some(SourceEnd::Failed(()))
            }
        }
    }

    fn upper(&self) -> Option<usize> {
        self.pull.upper()
    }
}

struct State<'run, P: Pull> {
    pull: P,
    indices: Indices,
    out: Out<'run, P::Item>,
    scales: Option<Scales<'run, P::Item>>,
    /// The mean cost of an item of the stream.
    mean: Mean,
    length: Length,
}

/// The source as a node of a line.
struct SourceNode<'run, P: Pull> {
    spot: Spot<P::Error>,
    baton: Baton<State<'run, P>>,
    domain: Arc<Domain>,
    gate: Option<Arc<Gate>>,
    /// The bits of the mean cost of `next`, as the last pull left it. Other threads read it.
    mean: AtomicU64,
    /// Whether the source never blocks and its worker goes on with the items that it has pulled. It then
    /// wakes nobody for each item.
    goes_on: bool,
}

/// How a pull ended.
enum End<E> {
    /// The source may have more items.
    Open,
    /// A stage that is fused to the source has stopped the stream.
    Closed,
    /// The source is exhausted or has failed.
    Stopped(Option<E>),
}

impl<'run, P: Pull> SourceNode<'run, P> {
    /// Whether the weight of the items in flight allows another one. Tells the gate how many indices must be
    /// given back first.
    #[inline]
    fn is_light(&self, state: &mut State<'run, P>) -> bool {
        let Some(scales) = &mut state.scales else { return true };
        let released = self.domain.released();
        let indices = scales.gate(released);
        if let Some(gate) = &self.gate {
            gate.set(indices);
        }
        indices <= released
    }

    /// Whether the feed has something for the calling worker. Always true without a feed.
    #[inline]
    fn is_fed(&self) -> bool {
        self.gate.as_ref().is_none_or(|gate| gate.is_fed())
    }

    /// Pulls for one quantum. Returns whether the stream has stopped here, and sets `worked` if anything was
    /// done.
    fn pull(&self, state: &mut State<'run, P>, worked: &mut bool) -> bool {
        if state.indices.fresh_room() == 0 || !self.is_light(state) {
            return false;
        }
        if !self.spot.run.may_pull() {
            return self.stops(state, worked);
        }
        if !self.is_fed() {
            return false;
        }
        let mean = &state.mean;
        let most =
            if mean.is_known() && !self.spot.is_alone() { mean.items_in(PULL_NS).min(PULL_ITEMS) } else { 1 };
        let _entered = self.spot.enter();
        let first = state.indices.next();
        let began = self.spot.clock();
        let mut mark = self.spot.mark(first);
        // How many items of the stream were pulled.
        let mut items = 0;
        let pulled = catch_unwind(AssertUnwindSafe(|| {
            while items < most && state.indices.room() > 0 {
                if cfg!(not(mutant = "pull_past_a_failure")) && !self.spot.run.may_pull() {
                    break;
                }
                if P::IN_BLOCKS {
                    self.limit(state);
                }
                let item = match state.pull.pull() {
                    Pulled::Item(item) => item,
                    Pulled::End => return End::Stopped(None),
                    Pulled::Fail(error) => return End::Stopped(Some(error)),
                };
                if let Some(scales) = &mut state.scales {
                    scales.put(state.indices.next(), &item);
                }
                mark.enters(state.indices.next());
                items += P::items_in(&item);
                let turn = state.indices.open();
                // A worker that goes on with the item wakes another one itself, if it leaves work behind.
                let demand = if cfg!(mutant = "no_notice_of_an_item") || self.goes_on {
                    state.out.push_quietly(turn, Cell::Value(item))
                } else {
                    state.out.push(turn, Cell::Value(item))
                };
                if demand == Demand::Nothing {
                    return End::Closed;
                }
                if !self.is_light(state) || self.spot.is_alone() || !self.is_fed() {
                    break;
                }
            }
            End::Open
        }));
        let cells = state.indices.next() - first;
        *worked |= cells > 0 || !matches!(pulled, Ok(End::Open));
        if let Some(began) = began {
            let nanos = began.elapsed();
            state.mean.update(nanos, items);
            let given = state.out.given().unwrap_or(items);
            self.spot.measure(Tally { cells, items, given }, began, nanos);
            self.spot.run.costs.note(self.spot.id, nanos, items);
            self.mean.store(state.mean.bits(), Ordering::Relaxed);
        }
        let closed = match pulled {
            Ok(End::Open) => false,
            Ok(End::Closed) => true,
            Ok(End::Stopped(None)) => self.put_stop(state, Stop::End),
            Ok(End::Stopped(Some(error))) => {
                self.spot.fail(state.indices.next(), error);
                self.put_stop(state, Stop::Fail)
            }
            Err(payload) => {
                let turn = state.indices.turn();
                let index = if turn.is_open() { turn.index() } else { state.indices.next() };
                self.spot.halt(index, Cause::Panic(payload));
                self.put_stop(state, Stop::Fail)
            }
        };
        state.indices.show();
        closed
    }

    /// Sets the length of the next block.
    fn limit(&self, state: &mut State<'run, P>) {
        let run = &self.spot.run;
        let workers = run.workers.load(Ordering::Relaxed);
        let length = state.length.next(&run.costs, state.pull.upper(), workers);
        let left = state.scales.as_ref().map_or(u64::MAX, Scales::left);
        state.pull.limit(length.min(left).max(1));
    }

    /// Ends the stream at the next index if the run drains. Otherwise the source is just not asked again.
    /// Returns whether the stream has ended.
    #[cold]
    fn stops(&self, state: &mut State<'run, P>, worked: &mut bool) -> bool {
        let drains = self.spot.run.is_draining();
        if drains {
            self.put_stop(state, Stop::End);
            state.indices.show();
            *worked = true;
        }
        drains
    }

    /// Puts a stop at the index of the open turn, or at the next index if no turn is open. Returns `true`:
    /// the stream has stopped here.
    #[cold]
    fn put_stop(&self, state: &mut State<'run, P>, stop: Stop) -> bool {
        let turn = if state.indices.turn().is_open() { state.indices.turn() } else { state.indices.open() };
        let out = &mut state.out;
        let put = catch_unwind(AssertUnwindSafe(|| out.push(turn, Cell::Stop(None, stop))));
        if let Err(payload) = put {
            // A serial stage of this unit panicked at the end of the stream.
            self.spot.halt(turn.index(), Cause::Panic(payload));
            let _ = catch_unwind(AssertUnwindSafe(|| out.push(turn, Cell::Stop(None, Stop::Fail))));
        }
        true
    }
}

impl<P: Pull> SerialNode for SourceNode<'_, P> {
    fn poke(&self, elsewhere: &dyn Fn() -> bool) -> Poked {
        let Some(mut held) = self.baton.poke() else { return Poked::Elsewhere };
        // A worker that leaves the run takes itself out of the count of workers, and then looks whether a
        // source is held. A worker that has taken the source looks whether it is the only worker. The fences
        // on both sides make sure that at least one of them sees the other, so work that is left in the line
        // is not forgotten (rule 16).
        fence(Ordering::SeqCst);
        let has_other_work = self.spot.is_alone() && elsewhere();
        let mut worked = false;
        if !has_other_work && self.pull(held.state(), &mut worked) {
            held.close();
            return Poked::Worked;
        }
        held.let_go();
        // A thread that made room while this thread held the baton has woken nobody, so this thread looks
        // again (rule 7).
        #[cfg(not(mutant = "no_look_after_pull"))]
        if self.is_ready() && self.gate.as_ref().is_none_or(|gate| gate.is_wide_open()) {
            self.spot.run.event.notify();
        }
        if worked { Poked::Worked } else { Poked::Idle }
    }

    fn is_ready(&self) -> bool {
        let run = &self.spot.run;
        self.baton.word().is_free()
            && self.domain.has_room()
            && self.gate.as_ref().is_none_or(|gate| gate.is_light())
            && (run.is_draining() || run.may_pull() && self.is_fed())
    }

    fn is_held(&self) -> bool {
        let word = self.baton.word();
        !word.is_free() && !word.is_closed()
    }

    fn taken(&self) -> u64 {
        // The cell that closed the node is not an item.
        self.domain.made().saturating_sub(u64::from(self.baton.word().is_closed()))
    }

    fn given(&self) -> u64 {
        self.taken()
    }

    fn mean_ns(&self) -> u64 {
        Mean::from_bits(self.mean.load(Ordering::Relaxed)).nanos()
    }
}

/// Waits until a paused run goes on or stops.
pub(super) fn wait_while_paused(run: &Run) {
    while run.is_paused() && !run.is_stopping() {
        let key = run.event.prepare();
        if run.is_paused() && !run.is_stopping() || cfg!(mutant = "no_look_before_a_pause") {
            run.event.wait(key);
        } else {
            run.event.leave();
        }
    }
}

/// The source in the inline executor.
struct InlineSource<'run, P: Pull> {
    spot: Spot<P::Error>,
    counter: Counter,
    pull: P,
    indices: Indices,
    out: Out<'run, P::Item>,
    length: Length,
    /// Whether items are inside from the start. They go to the sink before the source is asked.
    begins_inside: bool,
}

impl<P: Pull> Drive for InlineSource<'_, P> {
    fn drive(&mut self) -> u64 {
        if !self.begins_inside {
            return self.give();
        }
        // A cell without an item comes to the feedback in which the items are, and lets them enter.
        match self.out.push(self.indices.open(), Cell::Empty) {
            Demand::More => self.give() - 1,
            Demand::Nothing => 0,
        }
    }
}

impl<P: Pull> InlineSource<'_, P> {
    fn give(&mut self) -> u64 {
        let Self { spot, counter, pull, indices, out, length, .. } = self;
        let run = &*spot.run;
        let mut stride = Stride::new();
        loop {
            wait_while_paused(run);
            if run.is_done() {
                // A token has cancelled the run. Items that stages have kept are dropped with the stages.
                return indices.next();
            }
            if run.is_stopping() {
                out.push(indices.open(), Cell::Stop(None, Stop::End));
                return indices.next() - 1;
            }
            let weight = run.measures().map_or(0, |measures| measures.take_up(1, &mut stride));
            let block_began = if P::IN_BLOCKS {
                pull.limit(length.next_inline());
                Some(Moment::now())
            } else {
                None
            };
            let began = counter.begin();
            let pulled = {
                let _entered = counter.enter(&spot.site);
                pull.pull()
            };
            let items = if let Pulled::Item(item) = &pulled { P::items_in(item) } else { 0 };
            let cells = u64::from(matches!(pulled, Pulled::Item(_)));
            counter.add(began, Tally { cells, items, given: items });
            let cell = match pulled {
                Pulled::Item(item) => Cell::Value(item),
                Pulled::End => Cell::Stop(None, Stop::End),
                Pulled::Fail(error) => {
                    spot.fail(indices.next(), error);
                    Cell::Stop(None, Stop::Fail)
                }
            };
            let began = (weight > 0).then(Moment::now);
            if out.push(indices.open(), cell) == Demand::Nothing {
                return indices.next() - 1;
            }
            if let (Some(began), Some(measures)) = (began, run.measures()) {
                measures.put_down(spot.id, weight, began, &mut stride);
            }
            if let Some(began) = block_began {
                length.took(began.elapsed());
            }
        }
    }
}

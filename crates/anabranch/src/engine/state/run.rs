//! The state that all threads of one run share.

use std::any::Any;

use super::blocks::ItemCosts;
use super::failure::{Cause, First, Position, caught_drop};
use super::gate::{Feed, RunThreads};
use super::span::Spans;
use super::supply::Supply;
use crate::measures::Measures;
use anabranch_plan::{Plan, Wait};
use anabranch_record::EventCount;
use anabranch_record::backoff::{Backoff, Polling};
use anabranch_record::fork::Birth;
use anabranch_record::lane::Stop;
use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{Arc, AtomicBool, AtomicU64, AtomicUsize, Ordering, Padded};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_WAKE_AT_RESUME: Mutant = Mutant("no_wake_at_resume");
const NO_WAKE_WHEN_DONE: Mutant = Mutant("no_wake_when_done");
const NO_LOOK_BEFORE_A_PAUSE: Mutant = Mutant("no_look_before_a_pause");

/// How a run ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The sink has received everything, a stage needed no more items, or a token stopped the run.
    Complete,
    /// A fallible call failed. The error is in the [`ErrorSlot`](super::ErrorSlot).
    Error,
    /// User code panicked. The caller resumes the panic with this payload.
    Panic(Box<dyn Any + Send>),
}

/// The source must not be asked again.
const STOPPING: usize = 1;
/// The source must not be asked until the run is resumed.
const PAUSED: usize = 2;
/// The source is to end the stream without being asked again.
const DRAINING: usize = 4;
/// The run is over, so every thread leaves it.
const DONE: usize = 8;

/// The state that all threads of one run share.
#[derive(Debug)]
pub(crate) struct Run {
    /// The process in which the threads of the run are.
    pub(crate) birth: Birth,
    /// The event at which workers wait.
    pub(crate) event: Arc<EventCount>,
    /// The events at which the threads of dedicated stages wait, one for each such stage.
    dedicated: Vec<Arc<EventCount>>,
    /// How many workers walk the line, including the caller. The size of a claim depends on it.
    pub(crate) workers: AtomicUsize,
    /// The orders of the run, as bits: see [`STOPPING`] and those below it. They are one word, so a loop over items reads
    /// them at once.
    orders: AtomicUsize,
    /// How many workers there should be. 0 means that nobody has set a number.
    pub(crate) target: AtomicUsize,
    /// Whether a helper has left for another run.
    pub(crate) was_left: AtomicBool,
    /// Whether a stage or the sink has stopped the stream because it needs no more items.
    has_broken: AtomicBool,
    /// How many items have passed the sink. Set when the stream stops there, or when the line is dropped.
    pub(crate) delivered: AtomicU64,
    /// Whether the cell that stopped the stream at the sink was also an item.
    pub(crate) ended_on_item: AtomicBool,
    /// How long idle workers poll before they park.
    pub(crate) backoff: Padded<Backoff>,
    /// The reason for it.
    pub(crate) polling: Polling,
    /// Lets workers wait for the items of the source, if these come from outside.
    pub(crate) feed: Option<std::sync::Arc<dyn Feed>>,
    /// Counts the items that the source has accepted from outside and not given yet, if it accepts any.
    pub(crate) supply: Option<std::sync::Arc<Supply>>,
    /// The measurements of the run, if it is reported or watched.
    measures: Option<Measures>,
    /// The cost of an item at each node, for a source that gives blocks.
    pub(crate) costs: ItemCosts,
    /// The `tracing` spans of the run.
    spans: Spans,
    /// The cause that stopped the stream first, in the order of the loop.
    first: First<Cause>,
}

/// How many processors this process may use. The answer of the system is kept.
pub fn processors() -> usize {
    // No lock: a process that was forked while another thread asks would wait for that thread for ever.
    use std::sync::atomic::{AtomicUsize, Ordering};
    static PROCESSORS: AtomicUsize = AtomicUsize::new(0);
    match PROCESSORS.load(Ordering::Relaxed) {
        0 => {
            let processors = std::thread::available_parallelism().map_or(1, usize::from);
            PROCESSORS.store(processors, Ordering::Relaxed);
            processors
        }
        processors => processors,
    }
}

impl Run {
    /// Creates the state of a run of `plan`. The threads of its dedicated stages wait at the events
    /// `dedicated`.
    pub(crate) fn new(
        plan: &Plan,
        dedicated: Vec<Arc<EventCount>>,
        measures: Option<Measures>,
        feed: Option<std::sync::Arc<dyn Feed>>,
        supply: Option<std::sync::Arc<Supply>>,
    ) -> Self {
        let workers = plan.settings.workers;
        let is_crowded = workers.saturating_add(dedicated.len() + usize::from(feed.is_some())) > processors();
        let always = plan.settings.wait == Wait::Spin && feed.as_ref().is_none_or(|feed| feed.may_spin());
        let polling = match is_crowded {
            _ if always => Polling::Always,
            true => Polling::Crowded,
            false => Polling::Busy,
        };
        Self {
            birth: Birth::here(),
            event: feed.as_ref().map_or_else(Arc::default, |feed| Arc::clone(feed.event())),
            dedicated,
            workers: AtomicUsize::new(workers),
            orders: AtomicUsize::new(0),
            target: AtomicUsize::new(0),
            was_left: AtomicBool::new(false),
            has_broken: AtomicBool::new(false),
            delivered: AtomicU64::new(0),
            ended_on_item: AtomicBool::new(false),
            backoff: Padded::new(Backoff::new()),
            polling,
            feed,
            supply,
            measures,
            costs: ItemCosts::new(plan),
            spans: Spans::of(plan),
            first: First::new(),
        }
    }

    /// Ends a process that was forked by a function of the run, if the run has other threads, which are not in this process, or
    /// gets its items from other threads. To be called where a thread is about to wait for others.
    #[inline]
    pub(crate) fn end_if_forked(&self) {
        if self.birth.is_forked() && (!self.is_alone() || self.has_dedicated() || self.feed.is_some()) {
            self.birth.end_if_forked();
        }
    }

    /// Whether some of the threads are threads of dedicated stages.
    pub(crate) fn has_dedicated(&self) -> bool {
        !self.dedicated.is_empty()
    }

    /// Whether only one worker walks the line. It then takes each item to the sink before it asks the source
    /// for the next one, because the source may block (rule 16).
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        self.workers.load(Ordering::Acquire) <= 1
    }

    /// Whether the source must not be asked again, because of a failure, a break or a token.
    #[inline]
    pub(crate) fn is_stopping(&self) -> bool {
        self.orders.load(Ordering::Relaxed) & STOPPING != 0
    }

    /// Whether anything was ordered. If so, the other methods tell what.
    #[inline]
    pub(crate) fn has_orders(&self) -> bool {
        self.orders.load(Ordering::Relaxed) != 0
    }

    /// Whether the source may be asked now.
    #[inline]
    pub(crate) fn may_pull(&self) -> bool {
        self.orders.load(Ordering::Relaxed) & (STOPPING | PAUSED) == 0
    }

    /// Whether the source must wait until the run is resumed.
    #[inline]
    pub(crate) fn is_paused(&self) -> bool {
        self.orders.load(Ordering::Relaxed) & PAUSED != 0
    }

    /// Pauses or resumes the source, unless other streams are the source: these are paused.
    pub(crate) fn set_paused(&self, paused: bool) {
        if self.supply.as_ref().is_some_and(|supply| supply.is_of_streams()) {
            return;
        }
        if paused {
            self.orders.fetch_or(PAUSED, Ordering::Release);
        } else {
            self.orders.fetch_and(!PAUSED, Ordering::Release);
            if !NO_WAKE_AT_RESUME.is_on() {
                self.wake_all();
            }
        }
    }

    /// Waits until the run is not paused, or stops.
    pub(crate) fn wait_while_paused(&self) {
        while self.is_paused() && !self.is_stopping() {
            self.end_if_forked();
            let key = self.event.prepare();
            if self.is_paused() && !self.is_stopping() || NO_LOOK_BEFORE_A_PAUSE.is_on() {
                self.event.wait(key);
            } else {
                self.event.leave();
            }
        }
    }

    /// Makes sure that the source is not asked again.
    pub(crate) fn stop_pulling(&self) {
        self.orders.fetch_or(STOPPING, Ordering::Release);
    }

    /// Ends the stream after the items that the source has given or has accepted from outside. They are
    /// finished.
    pub(crate) fn drain(&self) {
        match &self.supply {
            Some(supply) => {
                supply.close();
                self.wake_all();
            }
            None => self.end_source(),
        }
    }

    /// Ends the stream after the items that the source has given. They are finished.
    pub(crate) fn end_source(&self) {
        self.orders.fetch_or(DRAINING | STOPPING, Ordering::Release);
        self.wake_all();
    }

    /// Whether the source is to end the stream.
    #[inline]
    pub(crate) fn is_draining(&self) -> bool {
        self.orders.load(Ordering::Relaxed) & DRAINING != 0
    }

    /// Sets how many workers there should be.
    pub(crate) fn set_target(&self, workers: usize) {
        self.target.store(workers, Ordering::Relaxed);
        self.wake_all();
    }

    /// Notes that a worker which was counted does not come, because the system cannot create its thread. No other worker
    /// is asked for, unless somebody sets their number again.
    #[cold]
    pub(crate) fn lose_a_worker(&self) {
        let left = self.workers.fetch_sub(1, Ordering::Relaxed) - 1;
        self.target.fetch_min(left, Ordering::Relaxed);
    }

    /// Whether a worker is idle: it waits, or spins before it waits. The answer may be outdated, but not for ever: a
    /// worker that stops being idle asks this as well.
    #[inline]
    pub(crate) fn has_idle_worker(&self) -> bool {
        self.event.sleepers() > 0 || self.backoff.is_polling()
    }

    /// Whether the run is over, so that every thread leaves it.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.orders.load(Ordering::Acquire) & DONE != 0
    }

    /// Like [`is_done`](Self::is_done), but a relaxed load. It is for loops that end early when the run is
    /// over, and read nothing that another thread wrote before.
    #[inline]
    pub(crate) fn is_ending(&self) -> bool {
        self.orders.load(Ordering::Relaxed) & DONE != 0
    }

    /// Ends the run. Every thread leaves the next time it looks.
    pub(crate) fn finish(&self) {
        self.orders.fetch_or(STOPPING | DONE, Ordering::Release);
        if !NO_WAKE_WHEN_DONE.is_on() {
            self.wake_all();
        }
    }

    /// Wakes every waiting thread, so that it looks again.
    pub(crate) fn wake_all(&self) {
        if self.birth.is_forked() {
            // The threads that wait are in the parent process, and may have had the locks of the events at the fork.
            return;
        }
        self.event.notify_all();
        for event in &self.dedicated {
            event.notify_all();
        }
    }

    /// Notes the cause that stopped the stream at `position`.
    #[cold]
    pub(crate) fn halt(&self, position: Position, cause: Cause) {
        self.stop_pulling();
        if matches!(cause, Cause::Break | Cause::Leave) {
            self.has_broken.store(true, Ordering::Relaxed);
        }
        self.first.offer(position, cause);
    }

    /// Whether a stop also counts as an item. It does if a stage has stopped the stream after this item,
    /// because it needs no more. Otherwise the items before the stop are those that a stage kept until the end of the
    /// stream.
    #[inline]
    pub(crate) fn is_item<S>(&self, items: &[S], stop: Option<Stop>) -> bool {
        stop.is_some() && !items.is_empty() && self.has_broken()
    }

    /// Whether a stage or the sink has stopped the stream because it needs no more items.
    pub(crate) fn has_broken(&self) -> bool {
        self.has_broken.load(Ordering::Relaxed)
    }

    /// Drops the leftovers of a run that is over: items behind its end, states and closures. If a drop
    /// panics, the panic is the outcome of the run, unless something has failed before.
    pub(crate) fn drop_leftovers<L>(&self, leftovers: L) {
        if let Err(payload) = caught_drop(leftovers) {
            self.halt(Position::END, Cause::Panic(payload));
        }
    }

    /// The spans of the run.
    #[inline]
    pub(crate) fn spans(&self) -> &Spans {
        &self.spans
    }

    /// The measurements of the run, if it is reported or watched.
    #[inline]
    pub(crate) fn measures(&self) -> Option<&Measures> {
        self.measures.as_ref()
    }

    /// How the run ended. To be called once, after every thread has left the run.
    pub(crate) fn outcome(&self) -> Outcome {
        match self.first.take() {
            None | Some(Cause::Break) => Outcome::Complete,
            Some(Cause::Error | Cause::Leave) => Outcome::Error,
            Some(Cause::Panic(payload)) => Outcome::Panic(payload),
        }
    }
}

impl RunThreads for Run {
    fn threads(&self) -> usize {
        self.workers.load(Ordering::SeqCst) + self.dedicated.len()
    }

    fn has_dedicated(&self) -> bool {
        self.has_dedicated()
    }

    fn wake_all(&self) {
        self.wake_all();
    }
}

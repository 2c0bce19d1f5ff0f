//! The state that all threads of one run share.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use super::failure::{Cause, First, Position};
use super::gate::Feed;
use super::measures::Measures;
use super::span::Spans;
use super::supply::Supply;
use anabranch_plan::{Plan, Wait};
use anabranch_record::EventCount;
use anabranch_record::lane::Cell;
use anabranch_record::sync::{Arc, AtomicBool, AtomicU64, AtomicUsize, Ordering, Padded};

/// How a run ended, once it has.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The source was exhausted and everything has reached the sink, a stage had enough, or a token stopped it.
    Complete,
    /// The error is in the [`ErrorSlot`].
    Error,
    /// User code panicked: the payload is to be resumed.
    Panic(Box<dyn Any + Send>),
}

/// The state that all threads of one run share.
#[derive(Debug)]
pub(crate) struct Run {
    /// Workers wait here.
    pub(crate) event: Arc<EventCount>,
    /// Where the threads of dedicated stages wait, one for each.
    dedicated: Vec<Arc<EventCount>>,
    /// How many workers walk the line, the caller among them: the divisor of claims.
    pub(crate) workers: AtomicUsize,
    /// The source is not to be asked again.
    stopping: AtomicBool,
    /// The source is to say that it has ended, without being asked again.
    draining: AtomicBool,
    /// The sink is closed: everybody goes home.
    done: AtomicBool,
    /// How many workers there should be; 0 while nobody says.
    pub(crate) target: AtomicUsize,
    /// The last helper has left for another run.
    pub(crate) was_left: AtomicBool,
    /// A stage or the sink had enough.
    has_broken: AtomicBool,
    /// How many items have passed the sink, once the stream has stopped there or the line is gone.
    pub(crate) delivered: AtomicU64,
    /// The cell that stopped the stream at the sink was an item, too.
    pub(crate) ended_on_item: AtomicBool,
    /// A worker spins before it parks: the others need not.
    pub(crate) spinning: Padded<AtomicBool>,
    /// There are more threads than processors.
    pub(crate) is_crowded: bool,
    /// Present if the items of the source come from outside.
    pub(crate) feed: Option<std::sync::Arc<dyn Feed>>,
    /// Present if the items of the source were accepted before it gives them.
    pub(crate) supply: Option<std::sync::Arc<Supply>>,
    /// Workers never park.
    pub(crate) always_spins: bool,
    /// The measurements of the run, if it is reported or watched.
    measures: Option<Measures>,
    /// The spans of the run, for those who listen.
    spans: Spans,
    first: First<Cause>,
}

/// How many processors this process may use, asked once.
pub(crate) fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

impl Run {
    /// A run of `plan` whose dedicated stages wait on `dedicated`.
    pub(crate) fn new(
        plan: &Plan,
        dedicated: Vec<Arc<EventCount>>,
        measures: Option<Measures>,
        feed: Option<std::sync::Arc<dyn Feed>>,
        supply: Option<std::sync::Arc<Supply>>,
    ) -> Self {
        let workers = plan.settings.workers;
        let is_crowded = workers + dedicated.len() + usize::from(feed.is_some()) > processors();
        Self {
            event: feed.as_ref().map_or_else(Arc::default, |feed| Arc::clone(feed.event())),
            dedicated,
            workers: AtomicUsize::new(workers),
            stopping: AtomicBool::new(false),
            draining: AtomicBool::new(false),
            done: AtomicBool::new(false),
            target: AtomicUsize::new(0),
            was_left: AtomicBool::new(false),
            has_broken: AtomicBool::new(false),
            delivered: AtomicU64::new(0),
            ended_on_item: AtomicBool::new(false),
            spinning: Padded(AtomicBool::new(false)),
            is_crowded,
            feed,
            supply,
            always_spins: plan.settings.wait == Wait::Spin,
            measures,
            spans: Spans::of(plan),
            first: First::new(),
        }
    }

    /// Whether one worker walks the line. It does each item to its end before it asks for the next, so that nothing
    /// is held up by a source that blocks.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        self.workers.load(Ordering::Acquire) <= 1
    }

    /// Whether the source is not to be asked again: something failed or broke off, or a token said so.
    #[inline]
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Says that the source is not to be asked again.
    pub(crate) fn stop_pulling(&self) {
        self.stopping.store(true, Ordering::Release);
    }

    /// Ends the stream in good order: what the source has given or has accepted from outside is finished.
    pub(crate) fn drain(&self) {
        match &self.supply {
            Some(supply) => {
                supply.close();
                self.wake_all();
            }
            None => self.end_source(),
        }
    }

    /// Ends the stream where the source stands: what is in flight is finished.
    pub(crate) fn end_source(&self) {
        self.draining.store(true, Ordering::Release);
        self.stop_pulling();
        self.wake_all();
    }

    /// Whether the source is to say that it has ended.
    #[inline]
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Says how many workers there should be.
    pub(crate) fn set_target(&self, workers: usize) {
        self.target.store(workers, Ordering::Relaxed);
        self.event.notify_all();
    }

    /// Whether the run is over, but for leaving it.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    /// The same for who has things to do until then: only looks, in no order with anything else.
    #[inline]
    pub(crate) fn is_ending(&self) -> bool {
        self.done.load(Ordering::Relaxed)
    }

    /// Ends the run: every thread leaves at its next look.
    pub(crate) fn finish(&self) {
        self.stop_pulling();
        self.done.store(true, Ordering::Release);
        #[cfg(not(mutant = "no_wake_when_done"))]
        self.wake_all();
    }

    /// Makes every waiting thread look again.
    pub(crate) fn wake_all(&self) {
        self.event.notify_all();
        for event in &self.dedicated {
            event.notify_all();
        }
    }

    /// Notes what stopped the stream at `position`.
    #[cold]
    pub(crate) fn halt(&self, position: Position, cause: Cause) {
        self.stop_pulling();
        if matches!(cause, Cause::Break) {
            self.has_broken.store(true, Ordering::Relaxed);
        }
        self.first.offer(position, cause);
    }

    /// Whether a cell that stops the stream stands for an item: the one with which a stage had enough. Otherwise what it
    /// holds was kept by a stage.
    #[inline]
    pub(crate) fn is_item<S>(&self, cell: &Cell<S>) -> bool {
        matches!(cell, Cell::Stop(Some(_), _)) && self.has_broken.load(Ordering::Relaxed)
    }

    /// Drops what is left of a run that is over: items past its end, states, closures. A panic of theirs counts
    /// unless something failed before: the loop would have met that first.
    pub(crate) fn note_leftovers<L>(&self, left: L) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(move || drop(left))) {
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

    /// How the run ended. To be asked once, after everybody has left.
    pub(crate) fn outcome(&self) -> Outcome {
        match self.first.take() {
            None | Some(Cause::Break) => Outcome::Complete,
            Some(Cause::Error) => Outcome::Error,
            Some(Cause::Panic(payload)) => Outcome::Panic(payload),
        }
    }
}

//! What all threads of one run share: how it stands, and what stopped it.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex as StdMutex, OnceLock};

use super::clock::Moment;
use super::gate::Feed;
use super::measures::{Mark, Measures, Tally};
use super::span::Spans;
use anabranch_record::EventCount;
use anabranch_record::lane::{Cell, Domain};
use anabranch_record::sync::{Arc, AtomicBool, AtomicU64, AtomicUsize, Ordering, Padded};

/// What stopped a stream at an index.
pub(crate) enum Cause {
    /// A stage or the sink had enough.
    Break,
    /// A fallible call failed; the error is in the [`ErrorSlot`].
    Error,
    /// User code panicked with this payload.
    Panic(Box<dyn Any + Send>),
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::Break => "Break",
            Cause::Error => "Error",
            Cause::Panic(_) => "Panic",
        })
    }
}

/// Where in the stream something happened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Counts from the source.
    pub(crate) domain: usize,
    /// Within the domain.
    pub(crate) index: u64,
    /// Order was given up before.
    pub(crate) in_time: bool,
}

impl Place {
    /// Behind everything that happens while the stream runs.
    pub(crate) const END: Self = Self { domain: 0, index: u64::MAX, in_time: false };
}

/// Whether what happened at `new` comes before what happened at `old`, which was found before. In the order of the loop a
/// later domain's place comes first, because what it works on left the earlier domain before; at one place, what was found
/// further down the line comes first, and that is found later.
fn precedes(new: Place, old: Place) -> bool {
    if cfg!(mutant = "last_failure_wins") {
        return true;
    }
    let is_ordered = !new.in_time && !old.in_time;
    is_ordered && (new.domain > old.domain || (new.domain == old.domain && new.index <= old.index))
}

/// Keeps what happened first in the order of the loop.
#[derive(Debug)]
struct First<T> {
    held: StdMutex<Option<(Place, T)>>,
}

impl<T> First<T> {
    fn new() -> Self {
        Self { held: StdMutex::new(None) }
    }

    fn offer(&self, place: Place, value: T) {
        let mut held = self.held.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        // What loses is dropped after the lock is free: it is the user's, and its drop may do anything.
        let _loser = match &*held {
            Some((old, _)) if !precedes(place, *old) => Some((place, value)),
            _ => held.replace((place, value)),
        };
        drop(held);
    }

    fn take(&self) -> Option<T> {
        let mut held = self.held.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        held.take().map(|(_, value)| value)
    }
}

/// The place for a run's error: the first in the order of the loop stays.
#[derive(Debug)]
pub struct ErrorSlot<E>(First<E>);

impl<E> Default for ErrorSlot<E> {
    fn default() -> Self {
        Self(First::new())
    }
}

impl<E> ErrorSlot<E> {
    pub(crate) fn take(&self) -> Option<E> {
        self.0.take()
    }
}

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

/// What all threads of one run share.
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
    /// How many items have passed the sink of an inline line that is gone.
    pub(crate) delivered: AtomicU64,
    /// A worker spins before it parks: the others need not.
    pub(crate) spinning: Padded<AtomicBool>,
    /// There are more threads than processors.
    pub(crate) is_crowded: bool,
    /// What the source gives comes from outside.
    pub(crate) feed: Option<std::sync::Arc<dyn Feed>>,
    /// Workers never park.
    pub(crate) always_spins: bool,
    /// A claim is so many items; 0 is as many as its cost allows.
    pub(crate) burst: u64,
    /// What the run measures of itself, if it is reported or watched.
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
    /// A run whose dedicated stages wait on `dedicated`.
    pub(crate) fn new(
        workers: usize,
        always_spins: bool,
        burst: u64,
        dedicated: Vec<Arc<EventCount>>,
        measures: Option<Measures>,
        spans: Spans,
        feed: Option<std::sync::Arc<dyn Feed>>,
    ) -> Self {
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
            spinning: Padded(AtomicBool::new(false)),
            is_crowded,
            feed,
            always_spins,
            burst,
            measures,
            spans,
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

    /// Ends the stream where the source stands: what is in flight is finished.
    pub(crate) fn drain(&self) {
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

    /// Notes what stopped the stream at `place`.
    #[cold]
    pub(crate) fn halt(&self, place: Place, cause: Cause) {
        self.stop_pulling();
        if matches!(cause, Cause::Break) {
            self.has_broken.store(true, Ordering::Relaxed);
        }
        self.first.offer(place, cause);
    }

    /// Whether a cell that stops the stream stands for an item: the one with which a stage had enough. Otherwise what it
    /// holds was kept by a stage.
    pub(crate) fn is_item<S>(&self, cell: &Cell<S>) -> bool {
        matches!(cell, Cell::Stop(Some(_), _)) && self.has_broken.load(Ordering::Relaxed)
    }

    /// Drops what is left of a run that is over: items past its end, states, closures. A panic of theirs counts
    /// unless something failed before: the loop would have met that first.
    pub(crate) fn note_leftovers<L>(&self, left: L) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(move || drop(left))) {
            self.halt(Place::END, Cause::Panic(payload));
        }
    }

    /// The spans of the run.
    pub(crate) fn spans(&self) -> &Spans {
        &self.spans
    }

    /// What the run measures of itself, if it is reported or watched.
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

/// Where a node stands, for what it has to report when it halts the stream.
#[derive(Debug)]
pub(crate) struct Site<E> {
    pub(crate) run: Arc<Run>,
    /// The node's id in the plan; a unit's is that of its first node.
    pub(crate) id: usize,
    /// The number of the node's domain, and the node that opens it.
    pub(crate) number: usize,
    pub(crate) opened_by: usize,
    /// Order was given up: of several failures, the first in time counts...
    pub(crate) in_time: bool,
    /// ... and what the node gives is taken as it arrives.
    pub(crate) gives_arrivals: bool,
    /// The node has a thread of its own.
    pub(crate) is_dedicated: bool,
    /// The domain's shared state; the inline executor has none.
    pub(crate) domain: Option<Arc<Domain>>,
    pub(crate) errors: Arc<ErrorSlot<E>>,
}

impl<E> Site<E> {
    /// Whether there is nobody else to do what the node makes available while it blocks.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        !self.is_dedicated && self.run.is_alone()
    }

    /// The clock for a claim or a serving, if anybody wants to know: a caller that is alone has nobody to be fair
    /// to, and in a run of some microseconds the clock is what takes longest.
    #[inline]
    pub(crate) fn clock(&self) -> Option<Moment> {
        (self.run.measures().is_some() || !self.is_alone()).then(Moment::now)
    }

    /// The clock for one item of the inline executor, if that one is measured.
    #[inline]
    pub(crate) fn begin(&self) -> Option<Moment> {
        let measures = self.run.measures()?;
        (measures.weight() > 0).then(Moment::now)
    }

    /// Adds a piece of work that took the node `nanos`, if the run is reported.
    #[inline]
    pub(crate) fn measure(&self, tally: Tally, began: Moment, nanos: u64) {
        if let Some(measures) = self.run.measures() {
            measures.end(self.id, tally, began, nanos);
        }
    }

    /// The calling thread works in the node until the guard is dropped: for those who listen.
    #[inline]
    pub(crate) fn enter(&self) -> impl Sized + '_ {
        self.run.spans.enter(self.id)
    }

    /// Watches the indices of the node's domain from `index` on, if the run is reported.
    #[inline]
    pub(crate) fn mark(&self, index: u64) -> Mark<'_> {
        Mark::new(self.run.measures(), self.opened_by, index)
    }

    /// Notes what stopped the stream at `index` (rule 12). The node then puts a stop at that index.
    #[cold]
    pub(crate) fn halt(&self, index: u64, cause: Cause) {
        self.run.halt(self.place(index), cause);
        self.stop_at(index);
    }

    fn place(&self, index: u64) -> Place {
        Place { domain: self.number, index, in_time: self.in_time }
    }

    fn stop_at(&self, index: u64) {
        if let Some(domain) = &self.domain {
            domain.stop_at(if self.gives_arrivals { 0 } else { index });
        }
    }

    /// Notes an error at `index`.
    #[cold]
    pub(crate) fn fail(&self, index: u64, error: E) {
        self.errors.0.offer(self.place(index), error);
        self.run.halt(self.place(index), Cause::Error);
        self.stop_at(index);
    }
}

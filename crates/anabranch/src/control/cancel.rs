//! Stopping a run from outside.

use std::fmt;
use std::sync::{Arc as StdArc, PoisonError};
use std::time::Duration;

use anabranch_record::sync::{Arc, Condvar, Mutex, MutexGuard, lock};

use crate::engine::Run;

/// Stops runs from outside, from any thread.
///
/// [`cancel`](Self::cancel) drops the items in flight. [`drain`](Self::drain) stops the source and finishes
/// the items in flight. In both cases the end of the stream returns what was delivered, and no thread
/// outlives the call.
///
/// # A graceful shutdown with a deadline
///
/// A stream of a [channel](crate::Stream::channel) loses no item when it drains. From then on, `send` fails
/// and returns its item, and the stream handles every item that was accepted before. If the deadline passes,
/// `cancel` drops the items that are not handled yet, and [`Stopped`] counts them.
/// [`Sender::take_back`](crate::Sender::take_back) saves those that have not entered the stream.
///
/// ```
/// use std::{thread, time::Duration};
/// use anabranch::{CancelToken, Stream};
///
/// let token = CancelToken::new();
/// let (sender, stream) = Stream::channel(16);
/// let handler = thread::spawn({
///     let token = token.clone();
///     move || stream.cancel_by(&token).map(|n: u64| n * n).count()
/// });
/// let accepted = (0..100).filter(|&n| sender.send(n).is_ok()).count();
///
/// token.drain();                                    // refuse new items, handle the accepted ones
/// let mut left = Vec::new();
/// if token.wait(Duration::from_secs(10)).is_none() { // give them ten seconds
///     left = sender.take_back();                      // for the next start
///     token.cancel();
/// }
/// assert_eq!(handler.join().unwrap() + left.len(), accepted);
/// let stopped = token.stopped().unwrap();
/// assert_eq!(stopped.delivered + stopped.dropped, accepted as u64);
/// ```
///
/// # What is waited for
///
/// A call of the source's `next` or of a stage that is already running is waited for. This does not hold for
/// a source that only waits for [posted](crate::Stream::channel) items or for an asynchronous stream: it
/// stops at once.
///
/// ```
/// use anabranch::{CancelToken, Stream};
///
/// let token = CancelToken::new();
/// let seen = Stream::from_iter(0u64..)      // an endless source
///     .cancel_by(&token)
///     .map(|n| n + 1)
///     .inspect(|&n| if n == 1_000 { token.drain() })
///     .count();
/// let stopped = token.stopped().unwrap();
/// assert_eq!(stopped.delivered, seen as u64);
/// assert_eq!(stopped.dropped, 0); // a drained run drops nothing
/// ```
#[derive(Clone, Default)]
pub struct CancelToken {
    shared: StdArc<(Mutex<Token>, Condvar)>,
}

#[derive(Default)]
struct Token {
    asked: Asked,
    /// The sources of the runs wait.
    is_paused: bool,
    runs: Vec<Arc<Run>>,
    stopped: Option<Stopped>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Asked {
    #[default]
    Nothing,
    Drain,
    Cancel,
}

/// The fate of the items of a run that a token has stopped.
///
/// A stage that turns items into others ([`serial_flat_map`](crate::Stream::serial_flat_map),
/// [`spread`](crate::Stream::spread)) changes what counts as an item: `delivered` counts the items after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// How many items have reached the end, or would have reached it if no stage had dropped or kept them.
    pub delivered: u64,
    /// How many more items the source had given. If the source is a [channel](crate::Stream::channel): how
    /// many more items it had accepted. These were in flight, waited in the channel, or were [taken
    /// back](crate::Sender::take_back).
    pub dropped: u64,
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shared = self.lock();
        f.debug_struct("CancelToken").field("asked", &shared.asked).field("stopped", &shared.stopped).finish()
    }
}

impl CancelToken {
    /// Creates a token that stops nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Token> {
        lock(&self.shared.0)
    }

    /// Ends the runs of this token now. The items in flight are dropped. Results that wait for an iterator or an asynchronous
    /// reader have reached the end of the stream, and still come out.
    ///
    /// If a call that is running then fails or panics, the end of the stream still returns the error or resumes the panic.
    /// Some stages keep a panic until the results before it have left: [`map_dependent`](crate::Stream::map_dependent), windows by
    /// key, and a source that [never waits](crate::Source::in_blocks). A panic that waits there is dropped with the items.
    pub fn cancel(&self) {
        self.ask(Asked::Cancel);
    }

    /// Stops the sources of the runs of this token. The runs finish and deliver the items in flight, and the
    /// items that a [channel](crate::Stream::channel) has accepted.
    pub fn drain(&self) {
        self.ask(Asked::Drain);
    }

    /// Lets the sources of the runs of this token wait until [`resume`](Self::resume) is called. Items that they have given go
    /// on to the end, and then the threads sleep.
    ///
    /// A call of the source that is already running may still give one item. [`drain`](Self::drain) and
    /// [`cancel`](Self::cancel) end a paused run too.
    ///
    /// ```
    /// use std::{thread, time::Duration};
    /// use anabranch::{CancelToken, Stream};
    ///
    /// let token = CancelToken::new();
    /// token.pause(); // before the stream begins, or at any time
    /// thread::scope(|scope| {
    ///     let sum = scope.spawn(|| Stream::from_iter(0..1_000u64).cancel_by(&token).map(|n| n * 2).sum::<u64>());
    ///     thread::sleep(Duration::from_millis(10));
    ///     assert!(!sum.is_finished());
    ///     token.resume();
    ///     assert_eq!(sum.join().unwrap(), 999_000);
    /// });
    /// ```
    pub fn pause(&self) {
        self.set_paused(true);
    }

    /// Lets the sources of the runs of this token go on.
    pub fn resume(&self) {
        self.set_paused(false);
    }

    /// Whether the sources of the runs of this token wait: [`pause`](Self::pause) was called last.
    pub fn is_paused(&self) -> bool {
        self.lock().is_paused
    }

    fn set_paused(&self, paused: bool) {
        // Under the lock, so that a run that is attached meanwhile is told the last word.
        let mut shared = self.lock();
        shared.is_paused = paused && shared.asked == Asked::Nothing;
        for run in &shared.runs {
            run.set_paused(shared.is_paused);
        }
    }

    /// Whether `cancel` or `drain` was called.
    pub fn is_stopping(&self) -> bool {
        self.lock().asked != Asked::Nothing
    }

    /// The fate of the items of the run that was stopped last. `None` while no stopped run has ended.
    pub fn stopped(&self) -> Option<Stopped> {
        self.lock().stopped
    }

    /// Waits until a stopped run has ended and no run of this token goes on, but not longer than `limit`.
    /// Returns the same as [`stopped`](Self::stopped) then, or `None` if `limit` has passed.
    ///
    /// Call it on another thread than the one that runs the stream: that thread would wait for itself.
    pub fn wait(&self, limit: Duration) -> Option<Stopped> {
        let is_running = |shared: &mut Token| {
            shared.stopped.is_none() || shared.runs.iter().any(|run| !run.birth.is_forked())
        };
        let waited = self.shared.1.wait_timeout_while(self.lock(), limit, is_running);
        let (shared, timed_out) = waited.unwrap_or_else(PoisonError::into_inner);
        if timed_out.timed_out() { None } else { shared.stopped }
    }

    fn ask(&self, asked: Asked) {
        let mut shared = self.lock();
        shared.asked = shared.asked.max(asked);
        shared.is_paused = false;
        let runs = shared.runs.clone();
        drop(shared);
        for run in runs {
            // First the order: a paused source that went on before it would give more items.
            apply(asked, &run);
            run.set_paused(false);
        }
    }

    /// Connects the token with a run that is about to start.
    pub(crate) fn attach(&self, run: &Arc<Run>) {
        let mut shared = self.lock();
        shared.runs.push(Arc::clone(run));
        let asked = shared.asked;
        if shared.is_paused {
            run.set_paused(true);
        }
        drop(shared);
        apply(asked, run);
    }

    /// Whether a run of this token must not ask its source again.
    pub(crate) fn has_stopped_runs(&self) -> bool {
        self.lock().runs.iter().any(|run| run.is_stopping())
    }

    /// Disconnects the token from a run that is over. `counts` is what became of its items, unless the stream around it counts
    /// them.
    pub(crate) fn detach(&self, run: &Arc<Run>, counts: Option<Stopped>) {
        let mut shared = self.lock();
        shared.runs.retain(|other| !Arc::ptr_eq(other, run));
        if shared.asked != Asked::Nothing && counts.is_some() {
            shared.stopped = counts;
        }
        drop(shared);
        self.shared.1.notify_all();
    }
}

fn apply(asked: Asked, run: &Run) {
    match asked {
        Asked::Nothing => {}
        Asked::Drain => run.drain(),
        Asked::Cancel => run.finish(),
    }
}

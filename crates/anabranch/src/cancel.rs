//! Stopping a run from outside.

use std::fmt;
use std::sync::{Arc as StdArc, Mutex, PoisonError};

use anabranch_record::sync::Arc;

use crate::engine::Run;

/// Stops runs from outside, from any thread.
///
/// [`cancel`](Self::cancel) drops what is in flight; [`drain`](Self::drain) stops the source and finishes.
/// Either way the end returns, with what has been delivered, and no thread outlives the call. A `next` of the
/// source, or a call of a stage, that is already running is waited for; a source that waits for what is
/// [posted](crate::Stream::channel), or for an asynchronous stream, is not.
///
/// ```
/// use anabranch::{CancelToken, Stream};
///
/// let token = CancelToken::new();
/// let seen = Stream::from_iter(0u64..)      // would never end
///     .cancel(&token)
///     .map(|n| n + 1)
///     .inspect(|&n| if n == 1_000 { token.drain() })
///     .count();
/// let stopped = token.stopped().unwrap();
/// assert_eq!(stopped.delivered, seen as u64);
/// assert_eq!(stopped.dropped, 0); // a drained run drops nothing
/// ```
#[derive(Clone, Default)]
pub struct CancelToken {
    shared: StdArc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    asked: Asked,
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

/// What became of the items of a run that a token stopped. Where a stage has made others of them
/// ([`serial_flat_map`](crate::Stream::serial_flat_map), [`spread`](crate::Stream::spread)), those count at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// Items that came as far as the end, or would have if no stage had dropped or kept them.
    pub delivered: u64,
    /// So many more were asked of the source: they were on their way.
    pub dropped: u64,
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shared = self.lock();
        f.debug_struct("CancelToken").field("asked", &shared.asked).field("stopped", &shared.stopped).finish()
    }
}

impl CancelToken {
    /// A token that stops nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the runs of this token now: what is in flight is dropped.
    pub fn cancel(&self) {
        self.ask(Asked::Cancel);
    }

    /// Stops the sources of the runs of this token: what is in flight is finished and delivered.
    pub fn drain(&self) {
        self.ask(Asked::Drain);
    }

    /// Whether the token was asked to stop its runs.
    pub fn is_stopping(&self) -> bool {
        self.lock().asked != Asked::Nothing
    }

    /// What became of the items of the run that was stopped last; `None` before it has ended.
    pub fn stopped(&self) -> Option<Stopped> {
        self.lock().stopped
    }

    fn ask(&self, asked: Asked) {
        let mut shared = self.lock();
        shared.asked = shared.asked.max(asked);
        let runs = shared.runs.clone();
        drop(shared);
        for run in runs {
            apply(asked, &run);
        }
    }

    /// Lets the token reach a run that is about to start.
    pub(crate) fn attach(&self, run: &Arc<Run>) {
        let mut shared = self.lock();
        shared.runs.push(Arc::clone(run));
        let asked = shared.asked;
        drop(shared);
        apply(asked, run);
    }

    /// Whether the run that it reaches is not to ask its source again.
    pub(crate) fn has_stopped_runs(&self) -> bool {
        self.lock().runs.iter().any(|run| run.is_stopping())
    }

    /// The run is over.
    pub(crate) fn detach(&self, run: &Arc<Run>, counts: Stopped) {
        let mut shared = self.lock();
        shared.runs.retain(|other| !Arc::ptr_eq(other, run));
        if shared.asked != Asked::Nothing {
            shared.stopped = Some(counts);
        }
    }
}

fn apply(asked: Asked, run: &Run) {
    match asked {
        Asked::Nothing => {}
        Asked::Drain => run.drain(),
        Asked::Cancel => run.finish(),
    }
}

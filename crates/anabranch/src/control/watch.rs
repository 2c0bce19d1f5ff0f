//! Watchers of a run while it goes on.

use std::fmt;
use std::time::Duration;

use super::Snapshot;
use super::monitor::{Monitor, MonitorThread};
use crate::engine::Progress;
use crate::engine::state::progress::Callback;

/// A watcher of a run while it goes on: a [`Monitor`], or a function that is called [as the run gets on](Self::progress) or
/// [while it stalls](Self::stalls). [`Stream::watch`](crate::Stream::watch) takes it.
pub struct Watch<'env>(pub(crate) Watcher<'env>);

pub(crate) enum Watcher<'env> {
    /// A thread of its own looks at the line.
    Line(MonitorThread<'env>),
    /// The end tells how far it is.
    End(Callback<'env>),
}

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Watcher::Line(_) => "Watch(line)",
            Watcher::End(_) => "Watch(end)",
        })
    }
}

impl<'env> Watch<'env> {
    /// Calls `f` while the stream runs, at most ten times a second, and once at its end.
    ///
    /// ```
    /// use anabranch::{Stream, Watch};
    ///
    /// let mut last = None;
    /// let progress = Watch::progress(|progress| last = Some(progress.items));
    /// Stream::from_iter(0..1_000).watch(progress).for_each(drop);
    /// assert_eq!(last, Some(1_000));
    /// ```
    pub fn progress(f: impl FnMut(Progress) + Send + 'env) -> Self {
        Self(Watcher::End(Box::new(f)))
    }

    /// Calls `f` with a snapshot whenever no node takes an item for the time `after`. The call may come later, up to twice that
    /// time. The snapshot shows which stage hangs. `f` must not ask a [`Monitor`] of the same stream, because it would wait for
    /// its own answer. If `f` panics, the run is cancelled and the caller gets the panic.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    /// use std::time::Duration;
    /// use anabranch::{Stream, Watch};
    ///
    /// let stalls = AtomicU32::new(0);
    /// Stream::from_iter(0..3)
    ///     .watch(Watch::stalls(Duration::from_millis(20), |snapshot| {
    ///         eprintln!("no progress: {snapshot}");
    ///         stalls.fetch_add(1, Ordering::Relaxed);
    ///     }))
    ///     .workers(2)
    ///     .for_each(|n| {
    ///         // An item that takes until the stall is seen.
    ///         while n == 1 && stalls.load(Ordering::Relaxed) == 0 {
    ///             std::thread::sleep(Duration::from_millis(1));
    ///         }
    ///     });
    /// assert!(stalls.into_inner() > 0);
    /// ```
    pub fn stalls(after: Duration, f: impl FnMut(&Snapshot) + Send + 'env) -> Self {
        Self(Watcher::Line(MonitorThread::calling(after, Box::new(f))))
    }
}

/// Lets the monitor take snapshots of the stream while it runs.
impl From<&Monitor> for Watch<'_> {
    fn from(monitor: &Monitor) -> Self {
        Self(Watcher::Line(MonitorThread::answering(monitor.clone())))
    }
}

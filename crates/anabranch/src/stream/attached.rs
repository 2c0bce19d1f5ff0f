//! The settings of a stream that a plan cannot hold, and those of them that hold for the streams inside of it.

use std::sync::Arc as StdArc;
use std::time::Duration;

use anabranch_plan::Plan;

use super::account::{Account, Joins};
#[cfg(feature = "futures")]
use crate::control::Runtime;
use crate::control::waiter::Waiter;
use crate::control::{CancelToken, Monitor, MonitorThread, Pool, PoolShare, Watch, Watcher, Workers};
use crate::engine::state::progress::{Bytes, Callback};
use crate::engine::{Feed, Run, Supply};
use crate::report::{Report, ReportSlot};

/// The settings that are not plain data, which a plan cannot hold.
#[derive(Default)]
pub(crate) struct Attached<'env> {
    pub(crate) pool: Option<PoolShare<'env>>,
    pub(crate) handle: Option<Workers>,
    /// Present if a thread watches the run.
    pub(crate) watch: Option<MonitorThread<'env>>,
    /// Whether the report is to have the events of the run.
    pub(crate) traces: bool,
    pub(crate) tokens: Vec<CancelToken>,
    /// The tokens of the streams around this one. These count what became of the items.
    pub(crate) outer_tokens: Vec<CancelToken>,
    /// The streams inside of this one.
    pub(crate) inner: Vec<Inner<'env>>,
    /// Present if this stream is inside of another one, which counts its items.
    pub(crate) account: Option<StdArc<Account>>,
    /// Present if the run is reported.
    pub(crate) finish: Option<Finish>,
    /// The place of the report, if it does not only go to the stream around this one.
    pub(crate) slot: Option<ReportSlot>,
    pub(crate) progress: Option<Callback<'env>>,
    pub(crate) bytes: Bytes,
    /// Present if the items of the source come from outside. Workers do not wait in such a source.
    pub(crate) feed: Option<StdArc<dyn Feed>>,
    /// Present if the items of the source were accepted before it gives them.
    pub(crate) supply: Option<StdArc<Supply>>,
    /// Present if the source waits for items from outside on a thread of its own.
    pub(crate) outside: Option<Outside<'env>>,
    /// The largest number of items that the source gives, if it is known.
    pub(crate) most: Option<usize>,
    /// The user's functions that change the plan before it runs.
    pub(crate) changes: Vec<Change<'env>>,
    /// The runtime in which futures are polled.
    #[cfg(feature = "futures")]
    pub(crate) runtime: Runtime,
    /// Make texts for the report.
    pub(crate) remarks: Vec<Remark<'env>>,
    /// Hand errors over from each place where the type of the stream's error changes, once the run is over.
    pub(crate) handovers: Vec<Handover<'env>>,
}

/// A source that waits for items from outside.
pub(crate) struct Outside<'env> {
    /// The waiter at which the source's own thread waits.
    pub(crate) waiter: Waiter,
    /// The feed that tells a detached run whether the source has items. `None` if the source needs a thread.
    pub(crate) feed: Option<StdArc<dyn Feed + 'env>>,
}

/// Hands the error of one part of a stream over to the next, once the run is over.
pub(crate) type Handover<'env> = Box<dyn FnOnce() + Send + 'env>;

/// Makes a text for the report, once the run is over.
pub(crate) type Remark<'env> = Box<dyn FnOnce() -> String + Send + 'env>;

/// The user's function that changes a plan before it runs.
pub(crate) type Change<'env> = Box<dyn Fn(&mut Plan) + Send + 'env>;

impl<'env> Attached<'env> {
    /// Lets `watch` look at the run, besides those who look at it already.
    pub(crate) fn watch_by(&mut self, watch: Watch<'env>) {
        match watch.0 {
            Watcher::End(callback) => self.progress = Some(callback),
            Watcher::Line(thread) => {
                self.watch = Some(match self.watch.take() {
                    Some(before) => before.and(thread),
                    None => thread,
                });
            }
        }
    }

    /// Whether somebody is told how many items have gone how far. Items then travel one by one.
    pub(crate) fn is_counted(&self) -> bool {
        self.is_watched()
            || self.progress.is_some()
            || !self.tokens.is_empty()
            || !self.outer_tokens.is_empty()
    }

    /// Tells those who send items from outside that the stream is about to run in this process.
    pub(crate) fn begin(&self) {
        if let Some(outside) = &self.outside {
            outside.waiter.begin();
        }
    }

    /// Whether a thread watches the run: for a monitor, or for stalls.
    pub(crate) fn is_watched(&self) -> bool {
        self.watch.is_some()
    }
}

/// Creates the report of a run that is over and was measured.
pub(crate) type Finish = fn(Plan, Duration, &Run) -> Report;

/// The settings of a stream that hold for the streams inside of it.
#[derive(Default)]
pub(crate) struct Handed {
    /// They stop the streams inside too. Their items are counted for the stream around them.
    pub(super) tokens: Vec<CancelToken>,
    pub(super) pool: Option<StdArc<Pool>>,
    pub(super) monitor: Option<Monitor>,
    /// Present if the stream is reported.
    pub(super) finish: Option<Finish>,
    #[cfg(feature = "tokio")]
    pub(super) runtime: Option<tokio::runtime::Handle>,
    /// The window of the stream, in items.
    pub(crate) window: usize,
}

impl Handed {
    /// The settings that a stream hands to the streams inside of it.
    pub(crate) fn of(attached: &Attached<'_>, plan: &Plan) -> Self {
        Self {
            tokens: attached.tokens.iter().chain(&attached.outer_tokens).cloned().collect(),
            pool: attached.pool.as_ref().map(PoolShare::again),
            monitor: attached.watch.as_ref().and_then(|watch| watch.monitor().cloned()),
            finish: attached.finish,
            #[cfg(feature = "tokio")]
            runtime: attached.runtime.wanted.clone(),
            window: plan.domains[0].window,
        }
    }
}

/// A stream inside of another one, or several that are its source together.
pub(crate) struct Inner<'env> {
    pub(crate) joins: Joins,
    pub(crate) account: StdArc<Account>,
    /// Lets the stream run.
    pub(crate) start: Box<dyn FnOnce(&Handed) + Send + 'env>,
}

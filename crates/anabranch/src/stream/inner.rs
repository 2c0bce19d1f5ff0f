//! Streams inside of a stream: the sources of `select_all`, or the other items of `chain`. They begin to run when the stream
//! around them does, with those of its settings that hold for all of it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use anabranch_record::fork;

use anabranch_plan::Plan;

use super::defaults::Attached;
use super::run::Finish;
use super::{Mode, Stream};
use crate::control::{CancelToken, Monitor, Pool, PoolShare, Stopped, Watch};
use crate::engine::Supply;
use crate::report::Report;

/// The settings of a stream that hold for the streams inside of it.
#[derive(Default)]
pub(crate) struct Handed {
    /// They stop the streams inside too. What became of the items is counted for the stream around them.
    tokens: Vec<CancelToken>,
    pool: Option<Arc<Pool>>,
    monitor: Option<Monitor>,
    /// Present if the stream is reported.
    finish: Option<Finish>,
    #[cfg(feature = "tokio")]
    runtime: Option<tokio::runtime::Handle>,
    /// The window of the stream, in items.
    pub(crate) window: usize,
}

impl Handed {
    /// What a stream hands to the streams inside of it.
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

/// How the items of an inner stream enter the stream around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joins {
    /// As the source, alone or with others.
    Source,
    /// Behind the items of the source or between them.
    Beside,
    /// In pairs with the items of the source.
    Pairs,
}

/// A stream inside of another one, or several that are its source together.
pub(crate) struct Inner<'env> {
    pub(crate) joins: Joins,
    pub(crate) account: Arc<Account>,
    /// Lets the stream run.
    pub(crate) start: Box<dyn FnOnce(&Handed) + Send + 'env>,
}

/// What became of the items of inner streams.
#[derive(Debug, Default)]
pub(crate) struct Account {
    /// How many items have reached the end of an inner stream.
    delivered: AtomicU64,
    /// How many items were dropped in an inner stream.
    dropped: AtomicU64,
    /// How many items the inner streams have sent to the stream around them: some of those that have reached the end, or more.
    sent: AtomicU64,
    /// Present if the items of the stream around them are chunks.
    chunks: Mutex<Option<Chunks>>,
    reports: Mutex<Vec<Report>>,
}

/// The lengths of the chunks that may be under way.
#[derive(Debug)]
struct Chunks {
    lengths: VecDeque<usize>,
    /// How many chunks may be under way.
    most: usize,
    /// How many items all chunks had.
    items: u64,
    count: u64,
}

/// Counts the items that an inner stream sends. Tells the account when it is dropped.
pub(crate) struct Sent {
    account: Arc<Account>,
    items: u64,
}

impl Sent {
    #[inline]
    pub(crate) fn add(&mut self) {
        self.items += 1;
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        self.account.sent.fetch_add(self.items, Ordering::Relaxed);
    }
}

impl Account {
    /// Counts what one of the inner streams sends.
    pub(crate) fn sent(self: &Arc<Self>) -> Sent {
        Sent { account: Arc::clone(self), items: 0 }
    }

    /// Notes what became of the items of one of the inner streams, which is over.
    pub(super) fn add(&self, stopped: Stopped) {
        self.delivered.fetch_add(stopped.delivered, Ordering::Relaxed);
        self.dropped.fetch_add(stopped.dropped, Ordering::Relaxed);
    }

    /// Keeps the report of one of the inner streams.
    pub(super) fn keep(&self, report: Report) {
        lock(&self.reports).push(report);
    }

    /// The reports of the inner streams, which are over.
    pub(super) fn reports(&self) -> Vec<Report> {
        std::mem::take(&mut lock(&self.reports))
    }

    /// Says that the items of the stream around are chunks, of which up to `most` are under way.
    pub(crate) fn begin_chunks(&self, most: usize) {
        *lock(&self.chunks) = Some(Chunks { lengths: VecDeque::new(), most, items: 0, count: 0 });
    }

    /// Notes the length of the next chunk.
    pub(crate) fn add_chunk(&self, length: usize) {
        if let Some(chunks) = &mut *lock(&self.chunks) {
            if chunks.lengths.len() == chunks.most {
                chunks.lengths.pop_front();
            }
            chunks.lengths.push_back(length);
            chunks.items += length as u64;
            chunks.count += 1;
        }
    }

    /// The number of items of the inner streams that are in the first `count` items of the stream around.
    fn items_of(&self, count: u64) -> u64 {
        match &*lock(&self.chunks) {
            None => count,
            Some(chunks) => {
                let left = chunks.count.saturating_sub(count) as usize;
                chunks.items
                    - chunks.lengths.iter().rev().take(left).map(|&length| length as u64).sum::<u64>()
            }
        }
    }
}

/// Adds what became of the items of inner streams to what became of those of the stream around them, which gave `pulled`
/// items and delivered `delivered`. With `is_one_domain`, each item that is delivered is one that the source gave.
pub(super) fn stopped(
    accounts: &[(Joins, Arc<Account>)],
    pulled: u64,
    delivered: u64,
    is_one_domain: bool,
) -> Stopped {
    let (mut came, mut reached, mut dropped, mut absorbed) = (pulled, delivered, 0, 0);
    if accounts.iter().any(|(joins, _)| *joins == Joins::Source) {
        came = 0;
    }
    for (joins, account) in accounts {
        let sent = account.sent.load(Ordering::Relaxed);
        absorbed += account.delivered.load(Ordering::Relaxed).saturating_sub(sent);
        dropped += account.dropped.load(Ordering::Relaxed);
        match joins {
            Joins::Source | Joins::Beside => came += sent,
            Joins::Pairs => dropped += sent.saturating_sub(delivered),
        }
        if *joins == Joins::Source && is_one_domain {
            reached = account.items_of(delivered);
        }
    }
    Stopped { delivered: reached + absorbed, dropped: dropped + came.saturating_sub(reached) }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    fork::lock(mutex)
}

thread_local! {
    /// Where streams leave themselves that become iterators: the innermost [`adopt`] on this thread.
    static ADOPTING: RefCell<Option<(&'static str, Left)>> = const { RefCell::new(None) };
}

/// Lets a stream run that became an iterator.
type Start = Box<dyn FnOnce(&Handed) + Send>;

/// The streams that have become iterators.
type Left = Vec<(Arc<Account>, Start)>;

/// Turns `items` into an iterator, for a `call` of the user. Also returns the streams that it is made of. They are not running yet.
pub(crate) fn adopt<I: IntoIterator>(
    items: I,
    joins: Joins,
    call: &'static str,
) -> (I::IntoIter, Vec<Inner<'static>>) {
    /// Puts the list of the calls around this one back, even if `into_iter` panics.
    struct Around(Option<(&'static str, Left)>);
    impl Drop for Around {
        fn drop(&mut self) {
            ADOPTING.set(self.0.take());
        }
    }
    let around = Around(ADOPTING.replace(Some((call, Vec::new()))));
    let items = items.into_iter();
    let streams = ADOPTING.take().map(|(_, streams)| streams).unwrap_or_default();
    drop(around);
    (items, streams.into_iter().map(|(account, start)| Inner { joins, account, start }).collect())
}

/// The call that makes a stream which becomes an iterator on this thread a part of another stream, if there is one.
pub(crate) fn adopter() -> Option<&'static str> {
    ADOPTING.with_borrow(|adopting| adopting.as_ref().map(|(call, _)| *call))
}

/// Leaves a stream that has an [adopter] to the stream around it, which lets it run.
pub(crate) fn leave(account: Arc<Account>, start: Start) {
    ADOPTING.with_borrow_mut(|adopting| {
        if let Some((_, streams)) = adopting {
            streams.push((account, start));
        }
    });
}

impl<T: Send, M: Mode> Stream<'static, T, M> {
    /// Takes the settings of the stream around, which is about to run. Those of this stream go before. Tokens add up.
    pub(crate) fn inside(mut self, handed: &Handed, account: &Arc<Account>) -> Self {
        let attached = &mut self.draft.attached;
        attached.outer_tokens.extend(handed.tokens.iter().cloned());
        if attached.pool.is_none() {
            attached.pool = handed.pool.clone().map(PoolShare::Shared);
        }
        if let Some(monitor) = &handed.monitor
            && attached.watch.as_ref().is_none_or(|watch| watch.monitor().is_none())
        {
            attached.watch_by(Watch::from(monitor));
        }
        attached.finish = handed.finish;
        attached.account = Some(Arc::clone(account));
        #[cfg(feature = "tokio")]
        if attached.runtime.wanted.is_none() {
            attached.runtime.wanted.clone_from(&handed.runtime);
        }
        self
    }
}

impl<'env, T: Send, M: Mode> Stream<'env, T, M> {
    /// Adds streams that are a part of this one.
    pub(crate) fn with_inner(mut self, inner: Vec<Inner<'env>>) -> Self {
        self.draft.attached.inner.extend(inner);
        self
    }

    /// Says that the items of the source are those of inner streams. What drains or pauses this stream does so with them.
    pub(crate) fn fed_by_inner(mut self, inner: Vec<Inner<'env>>) -> Self {
        if !inner.is_empty() {
            self.draft.attached.supply = Some(Arc::new(Supply::of_streams()));
        }
        self.with_inner(inner)
    }
}

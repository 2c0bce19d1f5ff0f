//! The fates of the items of the streams inside of a stream.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use anabranch_record::fork;

use crate::control::Stopped;
use crate::report::Report;

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

/// The fates of the items of inner streams.
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

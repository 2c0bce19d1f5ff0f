//! Measurements of a run.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::batches::Sent;
use crate::report::{CallReport, WorkerReport};
use crate::wire::Times;

#[derive(Debug, Default)]
pub(super) struct Stats {
    items: u64,
    batches: u64,
    queue: Duration,
    transport: Duration,
    compute: Duration,
    /// The time of the processor for the thread of the connection.
    thread: Duration,
    workers: BTreeMap<u64, WorkerReport>,
}

/// The calls of some outcomes, added up.
#[derive(Debug, Default)]
struct Landed {
    items: u64,
    queue: Duration,
    transport: Duration,
    compute: Duration,
    fetch: Duration,
}

impl Landed {
    fn new(times: &Times) -> Self {
        let Times { computed, fetched, .. } = *times;
        Self {
            compute: Duration::from_nanos(computed),
            fetch: Duration::from_nanos(fetched),
            ..Self::default()
        }
    }

    fn add(&mut self, queue: Duration, transport: Duration) {
        self.items += 1;
        self.queue += queue;
        self.transport += transport;
    }
}

impl Stats {
    fn worker(&mut self, id: u64, name: &str, threads: u32) {
        let worker = self.workers.entry(id).or_default();
        worker.id = id;
        if worker.name != name {
            worker.name = name.to_owned();
        }
        worker.threads = threads;
    }

    /// Counts outcomes from a worker. The thread of the connection has had the processor for `thread` since the run began.
    fn landed(&mut self, worker: u64, landed: &Landed, thread: Duration) {
        self.thread = thread;
        self.items += landed.items;
        self.batches += 1;
        self.queue += landed.queue;
        self.transport += landed.transport;
        self.compute += landed.compute;
        let worker = self
            .workers
            .entry(worker)
            .or_insert_with(|| WorkerReport { id: worker, ..WorkerReport::default() });
        worker.items += landed.items;
        worker.compute += landed.compute;
        worker.fetch += landed.fetch;
    }

    /// `coding` is the time of the processor for encoding and decoding.
    pub(super) fn report(&self, function: &str, coding: Duration) -> CallReport {
        CallReport {
            function: function.to_owned(),
            items: self.items,
            batches: self.batches,
            queue: self.queue,
            transport: self.transport,
            compute: self.compute,
            program: self.thread + coding,
            workers: self.workers.values().cloned().collect(),
        }
    }
}

/// Keeps what a run measures, on the thread of the connection.
pub(super) struct Book {
    stats: Arc<Mutex<Stats>>,
    /// The least time that a batch was outside of program and worker. A longer one has waited in the queue of the server.
    least: Duration,
    /// How long the thread had had the processor when the run began.
    began: Duration,
}

/// How a batch has travelled.
pub(super) struct Way {
    sent: Instant,
    queued: Duration,
    transport: Duration,
}

impl Book {
    pub(super) fn new(stats: Arc<Mutex<Stats>>) -> Self {
        Self { stats, least: Duration::MAX, began: Duration::ZERO }
    }

    /// Says that the run begins on this thread.
    pub(super) fn begin(&mut self) {
        self.began = processor();
    }

    fn stats(&self) -> MutexGuard<'_, Stats> {
        self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn worker(&self, id: u64, name: &str, threads: u32) {
        self.stats().worker(id, name, threads);
    }

    /// Adds the times of outcomes to their batch, and says how it has travelled.
    pub(super) fn way(&mut self, batch: &mut Sent, times: &Times) -> Way {
        batch.computed += times.computed;
        batch.waited = batch.waited.max(times.waited);
        batch.fetched = batch.fetched.max(times.fetched);
        let fetched = Duration::from_nanos(batch.fetched);
        let inside = Duration::from_nanos(batch.computed + batch.waited) + fetched;
        let outside = batch.sent.elapsed().saturating_sub(inside);
        self.least = self.least.min(outside);
        let queued = outside - self.least + Duration::from_nanos(batch.waited);
        Way { sent: batch.sent, queued, transport: self.least + fetched }
    }

    /// Counts outcomes from a worker, and the calls among them that were not answered before, by the times when they were made.
    pub(super) fn landed(
        &self,
        worker: u64,
        times: &Times,
        way: Option<Way>,
        calls: impl Iterator<Item = Instant>,
    ) {
        let mut counted = Landed::new(times);
        if let Some(Way { sent, queued, transport }) = way {
            for made in calls {
                counted.add(sent.saturating_duration_since(made) + queued, transport);
            }
        }
        self.stats().landed(worker, &counted, processor().saturating_sub(self.began));
    }
}

/// How long this thread has had the processor. Zero where the system does not tell.
fn processor() -> Duration {
    #[cfg(all(target_os = "linux", not(portable)))]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
    }
    #[cfg(not(all(target_os = "linux", not(portable))))]
    Duration::ZERO
}

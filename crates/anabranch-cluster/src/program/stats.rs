//! What a run measures.

use std::collections::BTreeMap;
use std::time::Duration;

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
pub(super) struct Landed {
    items: u64,
    queue: Duration,
    transport: Duration,
    compute: Duration,
    fetch: Duration,
}

impl Landed {
    pub(super) fn new(times: &Times) -> Self {
        let Times { computed, fetched, .. } = *times;
        Self {
            compute: Duration::from_nanos(computed),
            fetch: Duration::from_nanos(fetched),
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, queue: Duration, transport: Duration) {
        self.items += 1;
        self.queue += queue;
        self.transport += transport;
    }
}

impl Stats {
    pub(super) fn worker(&mut self, id: u64, name: &str, threads: u32) {
        let worker = self.workers.entry(id).or_default();
        worker.id = id;
        if worker.name != name {
            worker.name = name.to_owned();
        }
        worker.threads = threads;
    }

    /// Counts outcomes from a worker. The thread of the connection has had the processor for `thread` since the run began.
    pub(super) fn landed(&mut self, worker: u64, landed: &Landed, thread: Duration) {
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

/// How long this thread has had the processor. Zero where the system does not tell.
pub(super) fn processor() -> Duration {
    #[cfg(all(target_os = "linux", not(portable)))]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
    }
    #[cfg(not(all(target_os = "linux", not(portable))))]
    Duration::ZERO
}

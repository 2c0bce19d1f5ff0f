//! The report on the calls of a function.

use std::fmt;
use std::time::Duration;

/// The report on the calls of a [`Function`](crate::Function): how long the items were on their way, and which workers served
/// them. Its [`Display`](fmt::Display) prints a table.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct CallReport {
    /// The name of the function.
    pub function: String,
    /// How many items have come back.
    pub items: u64,
    /// In how many messages.
    pub batches: u64,
    /// How long items waited: in the program until a worker had room, in the queue of the server, and in the worker for a thread. All
    /// items are added up.
    pub queue: Duration,
    /// How long items and results were on their way. This is the least time that a message took so far, since the rest of it may be
    /// waiting, and the time in which large bodies were fetched. All items are added up.
    pub transport: Duration,
    /// How long workers computed. All items are added up.
    pub compute: Duration,
    /// How long the processor of the program was busy with calls: it encoded, sent, received and decoded. All items are added up.
    /// The thread of the connection counts for each function of the cluster. Zero where the system does not tell.
    pub program: Duration,
    /// The workers that have served the function.
    pub workers: Vec<WorkerReport>,
}

/// A worker in a [`CallReport`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct WorkerReport {
    pub(crate) id: u64,
    /// Its name: [`ClusterOptions::name`](crate::ClusterOptions::name).
    pub name: String,
    /// How many threads it has.
    pub threads: u32,
    /// How many items came back from it.
    pub items: u64,
    /// How long it computed, added up over its threads.
    pub compute: Duration,
    /// How long it waited for the bodies of large items.
    pub fetch: Duration,
}

/// The number of items that advice needs.
const ENOUGH: u64 = 100;

impl CallReport {
    fn each(&self, time: Duration) -> Duration {
        time / u32::try_from(self.items.max(1)).unwrap_or(u32::MAX)
    }

    /// Says that the items are too cheap for the network, if calling costs the program more than computing would.
    pub fn advice(&self) -> Option<String> {
        let (call, item) = (self.each(self.program), self.each(self.compute));
        (self.items >= ENOUGH && call > item).then(|| {
            format!("A call costs {call:.1?} of the program's processor, an item {item:.1?}: run it here.")
        })
    }

    /// The calls since an earlier report of the same function.
    pub(crate) fn since(mut self, earlier: &Self) -> Self {
        self.items -= earlier.items;
        self.batches -= earlier.batches;
        self.queue -= earlier.queue;
        self.transport -= earlier.transport;
        self.compute -= earlier.compute;
        self.program -= earlier.program;
        for before in &earlier.workers {
            if let Some(worker) = self.workers.iter_mut().find(|worker| worker.id == before.id) {
                worker.items -= before.items;
                worker.compute -= before.compute;
                worker.fetch -= before.fetch;
            }
        }
        self
    }
}

impl fmt::Display for CallReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Calls of {}: {} items in {} messages", self.function, self.items, self.batches)?;
        write!(
            f,
            "  An item waits {:.1?}, travels {:.1?} and is computed for {:.1?}.",
            self.each(self.queue),
            self.each(self.transport),
            self.each(self.compute)
        )?;
        for WorkerReport { name, threads, items, compute, fetch, .. } in &self.workers {
            let threads = if *threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
            write!(
                f,
                "\n  {name}, {threads}: {items} items, computed for {compute:.1?}, fetched for {fetch:.1?}"
            )?;
        }
        self.advice().map_or(Ok(()), |advice| write!(f, "\n  {advice}"))
    }
}

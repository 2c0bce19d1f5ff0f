//! What is known of the calls of a function.

use std::fmt;
use std::time::Duration;

/// What is known of the calls of a [`Function`](crate::Function): how long the items were on their way, and which workers served
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
    /// How long items waited: in the program until a worker had room, and in the worker for a thread. All items are added up.
    pub queue: Duration,
    /// How long items and results were on their way, which is the rest of the time. All items are added up.
    pub transport: Duration,
    /// How long workers computed. All items are added up.
    pub compute: Duration,
    /// The workers that have served the function.
    pub workers: Vec<WorkerReport>,
}

/// A worker in a [`CallReport`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct WorkerReport {
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

impl fmt::Display for CallReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each = |time: Duration| time / u32::try_from(self.items.max(1)).unwrap_or(u32::MAX);
        writeln!(f, "{}: {} items in {} messages", self.function, self.items, self.batches)?;
        write!(
            f,
            "an item waits {:.1?}, travels {:.1?} and is computed for {:.1?}",
            each(self.queue),
            each(self.transport),
            each(self.compute)
        )?;
        for WorkerReport { name, threads, items, compute, fetch } in &self.workers {
            write!(
                f,
                "\n  {name}, {threads} threads: {items} items, {compute:.1?} of work, {fetch:.1?} of fetching"
            )?;
        }
        Ok(())
    }
}

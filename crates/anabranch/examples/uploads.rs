//! Sends records to two servers: not too many at a time, again when a server is busy, and in groups where they come quickly.
//!
//!     cargo run --release -p anabranch --example uploads

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anabranch::{Retry, Stream, TimeLimit};

/// A server, which is busy now and then.
#[derive(Debug, Default)]
pub struct Server {
    calls: AtomicU64,
    records: AtomicU64,
}

impl Server {
    /// Stores records and returns how many.
    ///
    /// # Errors
    /// If the server is busy. Nothing was stored then.
    fn store(&self, group: &[u64]) -> io::Result<usize> {
        if self.calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(3) {
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, "busy"));
        }
        self.records.fetch_add(group.len() as u64, Ordering::Relaxed);
        Ok(group.len())
    }

    /// How many records the server has.
    pub fn records(&self) -> u64 {
        self.records.load(Ordering::Relaxed)
    }
}

/// The most records in a group.
const GROUP: usize = 50;

/// Sends the records, each to one of the servers. Returns how many were sent.
///
/// # Errors
/// The first error that is no busy server, or of a server that stays busy. Records behind it may have been sent too.
pub fn send(records: impl Iterator<Item = u64> + Send, servers: &[Arc<Server>]) -> io::Result<usize> {
    let retry = Retry::new(6).backoff(Duration::from_micros(200), Duration::from_millis(20));
    let limit = TimeLimit::new(Duration::from_secs(30)); // for all six calls together
    let busy = |error: &io::Error| error.kind() == io::ErrorKind::ResourceBusy;
    // Each server has one group at a time, and whichever is free gets the next.
    let workers = servers.iter().map(|server| {
        move |group: Vec<u64>| -> io::Result<usize> {
            limit.call(|| retry.call_if(|| server.store(&group), busy))?
        }
    });
    Stream::from_iter(records)
        .ready_chunks(GROUP) // what is there goes on, and nothing waits for a full group
        .throttle(200, Duration::from_secs(1)) // at most 200 groups in any second
        .try_farm(workers)
        .sum()
}

fn main() -> io::Result<()> {
    let servers = [Arc::<Server>::default(), Arc::<Server>::default()];
    let sent = send(0..2_000, &servers)?;
    let of_each: Vec<u64> = servers.iter().map(|server| server.records()).collect();
    println!("{sent} records, {of_each:?} of each server");
    Ok(())
}

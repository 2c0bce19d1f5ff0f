//! Counts what goes into a system and what comes out of it.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread::sleep;
use std::time::Duration;

/// The counts of a run. They live as long as the process, because some libraries borrow nothing shorter.
#[derive(Debug, Default)]
pub struct Watch {
    pulled: AtomicU64,
    out: AtomicU64,
    most: AtomicU64,
}

impl Watch {
    pub fn new() -> &'static Self {
        Box::leak(Box::default())
    }

    /// The numbers below `items`, each of them after a pause.
    pub fn source(
        &'static self,
        items: u64,
        pause: Option<Duration>,
    ) -> impl Iterator<Item = u64> + Send + 'static {
        (0..items).inspect(move |&item| {
            if let Some(pause) = pause.filter(|_| item > 0) {
                sleep(pause);
            }
            let pulled = self.pulled.fetch_add(1, SeqCst) + 1;
            self.most.fetch_max(pulled.saturating_sub(self.out()), SeqCst);
        })
    }

    /// A result has come out. Returns how many had come out before.
    pub fn result(&self) -> u64 {
        self.out.fetch_add(1, SeqCst)
    }

    pub fn pulled(&self) -> u64 {
        self.pulled.load(SeqCst)
    }

    pub fn out(&self) -> u64 {
        self.out.load(SeqCst)
    }

    /// The most items that were inside at the same time.
    pub fn most(&self) -> u64 {
        self.most.load(SeqCst)
    }
}

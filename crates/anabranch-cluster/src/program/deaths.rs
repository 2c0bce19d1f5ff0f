//! Whether a batch that was delivered once more was lost with its worker, or on its way.

use std::time::Instant;

use super::member::Members;

/// A call of a batch that was delivered once more at `at`, and for the first time after `since`.
#[derive(Debug, Clone, Copy)]
struct Doubt {
    call: u64,
    since: Instant,
    at: Instant,
}

/// The calls that may have ended their workers. A line that breaks is not taken for a worker that ends: a worker has ended only if
/// nothing is heard of it any more.
#[derive(Debug, Default)]
pub(super) struct Deaths {
    doubts: Vec<Doubt>,
    /// Calls that wait for the verdict on all their deaths.
    waiting: Vec<u64>,
}

impl Deaths {
    pub(super) fn suspect(&mut self, call: u64, since: Instant) {
        self.doubts.push(Doubt { call, since, at: Instant::now() });
    }

    /// How many deaths of a call are not known yet.
    pub(super) fn doubts(&self, call: u64) -> u32 {
        self.doubts.iter().filter(|doubt| doubt.call == call).count() as u32
    }

    /// Lets a call wait.
    pub(super) fn wait(&mut self, call: u64) {
        self.waiting.push(call);
    }

    /// The calls that wait, for another look at them.
    pub(super) fn take_waiting(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.waiting)
    }

    /// The calls that were lost with a worker, each as often as it was.
    pub(super) fn judge(&mut self, members: &Members) -> Vec<u64> {
        let mut deaths = Vec::new();
        self.doubts.retain(|doubt| match members.has_one_ended(doubt.since, doubt.at) {
            Some(true) => {
                deaths.push(doubt.call);
                false
            }
            Some(false) => false,
            None => true,
        });
        deaths
    }
}

//! The batches of a run, on their way to the queue, in it, or at a worker.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::wire::Pass;

/// After this time without an answer of the server, the program looks whether the queue is there.
const WONDER: Duration = Duration::from_secs(2);

/// A batch whose answer is missing is sent again after so many looks, between which there was time for the answer.
const LOOKS: u32 = 2;

pub(super) struct Sent {
    pub(super) calls: Vec<u64>,
    pub(super) is_alone: bool,
    /// Whether none of its bodies is in the message, because the server had no room for it.
    pub(super) is_shelved: bool,
    pub(super) sent: Instant,
    pub(super) place: Place,
    /// When a worker last said that it runs it alone.
    pub(super) taken: Option<Instant>,
    // The time that the worker has told, in nanoseconds.
    pub(super) computed: u64,
    pub(super) waited: u64,
    pub(super) fetched: u64,
}

/// The place of a batch.
pub(super) enum Place {
    /// In the program.
    Here,
    /// The server has not answered. This was looked at so many times.
    UnderWay(Pass, u32),
    /// In the queue, with its number there.
    Stored(u64),
    /// In the program, because the server did not take it.
    Refused,
}

#[derive(Default)]
pub(super) struct Batches {
    batches: BTreeMap<u64, Sent>,
}

impl Batches {
    pub(super) fn add(&mut self, id: u64, calls: Vec<u64>, is_alone: bool) {
        let sent = Sent {
            calls,
            is_alone,
            is_shelved: false,
            sent: Instant::now(),
            place: Place::Here,
            taken: None,
            computed: 0,
            waited: 0,
            fetched: 0,
        };
        self.batches.insert(id, sent);
    }

    pub(super) fn len(&self) -> usize {
        self.batches.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    pub(super) fn get_mut(&mut self, id: u64) -> Option<&mut Sent> {
        self.batches.get_mut(&id)
    }

    pub(super) fn remove(&mut self, id: u64) -> Option<Sent> {
        self.batches.remove(&id)
    }

    pub(super) fn clear(&mut self) {
        self.batches.clear();
    }

    /// The first batch that is to be sent.
    pub(super) fn next(&self) -> Option<u64> {
        self.batches.iter().find(|(_, batch)| matches!(batch.place, Place::Here)).map(|(id, _)| *id)
    }

    /// How many batches wait that must run alone.
    pub(super) fn alone(&self, lease: Duration) -> u32 {
        let waits = |batch: &&Sent| batch.is_alone && batch.taken.is_none_or(|taken| taken.elapsed() > lease);
        self.batches.values().filter(waits).count() as u32
    }

    /// Takes out the batches without calls. Returns their numbers, and those that they have in the queue.
    pub(super) fn take_empty(&mut self, has: impl Fn(u64) -> bool) -> (Vec<u64>, Vec<u64>) {
        let (mut over, mut stored) = (Vec::new(), Vec::new());
        self.batches.retain(|id, batch| {
            let stays = batch.calls.iter().any(|call| has(*call));
            if !stays {
                over.push(*id);
                if let Place::Stored(sequence) = batch.place {
                    stored.push(sequence);
                }
            }
            stays
        });
        (over, stored)
    }

    /// Whether the server has not answered for long.
    pub(super) fn wonders(&self) -> bool {
        let waits =
            |batch: &Sent| matches!(batch.place, Place::UnderWay(..)) && batch.sent.elapsed() > WONDER;
        self.batches.values().any(waits)
    }

    /// The queue is there, although the answer to some batches is missing.
    pub(super) fn look(&mut self) {
        for batch in self.batches.values_mut().filter(|batch| batch.sent.elapsed() > WONDER) {
            if let Place::UnderWay(_, looks) = &mut batch.place {
                *looks += 1;
                if *looks >= LOOKS {
                    batch.place = Place::Here;
                }
            }
        }
    }

    /// Messages that were under way may be lost.
    pub(super) fn send_again(&mut self) {
        for batch in self.batches.values_mut().filter(|batch| matches!(batch.place, Place::UnderWay(..))) {
            batch.place = Place::Here;
        }
    }

    /// The queue is a new one.
    pub(super) fn send_all_again(&mut self) {
        for batch in self.batches.values_mut() {
            batch.place = Place::Here;
        }
    }

    /// Lets one of those that were refused be tried again, or all of them.
    pub(super) fn retry(&mut self, all: bool) {
        let refused = self.batches.values_mut().filter(|batch| matches!(batch.place, Place::Refused));
        for batch in refused.take(if all { usize::MAX } else { 1 }) {
            batch.place = Place::Here;
        }
    }

    pub(super) fn any_refused(&self) -> bool {
        self.batches.values().any(|batch| matches!(batch.place, Place::Refused))
    }
}

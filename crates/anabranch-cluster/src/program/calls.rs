//! The calls of a run that have no outcome yet.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::oneshot;

use super::order::{Answer, NewCall};
use crate::wire::{Batch, Body, ENVELOPE_OF_CALL, Shelf, message};

/// A batch is so large that its items are computed for about this time.
const BATCH_TIME: Duration = Duration::from_millis(2);

/// The most calls of a batch.
const MOST_CALLS: usize = 1024;

pub(super) struct Call {
    body: Bytes,
    pub(super) made: Instant,
    answer: oneshot::Sender<Answer>,
    /// How many workers were lost with it.
    pub(super) deaths: u32,
}

#[derive(Default)]
pub(super) struct Calls {
    calls: HashMap<u64, Call>,
    /// The calls that are not in a batch, in their order.
    waiting: VecDeque<u64>,
    /// The bodies that workers may ask for, by the numbers of their calls.
    pub(super) shelf: Shelf,
    next: u64,
    /// The mean time that an item is computed, in nanoseconds.
    cost: Option<f64>,
}

impl Calls {
    /// A number for a call or a batch.
    pub(super) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(super) fn add(&mut self, call: NewCall) {
        let NewCall { body, made, answer } = call;
        let id = self.number();
        self.calls.insert(id, Call { body, made, answer, deaths: 0 });
        self.waiting.push_back(id);
    }

    pub(super) fn get(&self, id: u64) -> Option<&Call> {
        self.calls.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: u64) -> Option<&mut Call> {
        self.calls.get_mut(&id)
    }

    pub(super) fn has(&self, id: u64) -> bool {
        self.calls.contains_key(&id)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// How many are in no batch.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Items were computed for so long, on the average of `count`.
    pub(super) fn cost(&mut self, computed: f64, count: usize) {
        let cost = computed / count.max(1) as f64;
        self.cost = Some(self.cost.map_or(cost, |mean| 0.8 * mean + 0.2 * cost));
    }

    /// Takes at most `share` calls that wait, and no more than a batch may have. Their bodies and envelopes have at most `limit` bytes,
    /// apart from one that is longer.
    pub(super) fn gather(&mut self, share: usize, limit: usize) -> Vec<u64> {
        let by_cost = self.cost.map_or(1.0, |cost| BATCH_TIME.as_nanos() as f64 / cost.max(1.0));
        let most = share.min(by_cost as usize).clamp(1, MOST_CALLS);
        let mut bytes = 0;
        let mut gathered = Vec::new();
        while gathered.len() < most
            && let Some(&id) = self.waiting.front()
        {
            let Some(call) = self.calls.get(&id).filter(|call| !call.answer.is_closed()) else {
                self.calls.remove(&id);
                self.waiting.pop_front();
                continue;
            };
            bytes += call.body.len() + ENVELOPE_OF_CALL;
            if bytes > limit && !gathered.is_empty() {
                break;
            }
            gathered.push(id);
            self.waiting.pop_front();
        }
        gathered
    }

    /// The message of a batch. Its bodies and envelopes have at most `limit` bytes, and the other bodies are put on the shelf.
    pub(super) fn message(&mut self, batch: u64, ids: &[u64], limit: usize) -> Bytes {
        let mut calls = Vec::with_capacity(ids.len());
        let mut bytes = ids.len() * ENVELOPE_OF_CALL;
        for &id in ids {
            let Some(call) = self.calls.get(&id) else { continue };
            let length = call.body.len();
            let body = if bytes + length > limit {
                self.shelf.put(id, call.body.clone());
                Body::Shelved { ticket: id, length: length as u64 }
            } else {
                bytes += length;
                Body::Here(call.body.clone())
            };
            calls.push((id, body));
        }
        message(&Batch { id: batch, calls })
    }

    pub(super) fn answer(&mut self, id: u64, answer: Answer) {
        self.shelf.remove(id);
        if let Some(call) = self.calls.remove(&id) {
            // Nobody waits for it if the stream has ended.
            let _ = call.answer.send(answer);
        }
    }

    /// Answers all calls, and forgets them.
    pub(super) fn answer_all(&mut self, answer: impl Fn() -> Answer) {
        let all: Vec<u64> = self.calls.keys().copied().collect();
        for id in all {
            self.answer(id, answer());
        }
        self.waiting.clear();
    }

    /// Forgets the calls whose futures were dropped. Returns whether there were any.
    pub(super) fn drop_closed(&mut self) -> bool {
        let closed: Vec<u64> =
            self.calls.iter().filter(|(_, call)| call.answer.is_closed()).map(|(id, _)| *id).collect();
        for id in &closed {
            self.shelf.remove(*id);
            self.calls.remove(id);
        }
        !closed.is_empty()
    }
}

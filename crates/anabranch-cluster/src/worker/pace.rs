//! How many messages of queues a worker should hold.

use std::time::Duration;

use crate::wire::{Mark, Meter};

/// An item that takes less than so many times its transport is fetched while another one is computed.
const FETCH_AHEAD: f64 = 16.0;

/// The part of the transport that is not seen here, in nanoseconds.
const LEAST_TRANSPORT: f64 = 500_000.0;

/// A thread gets no more messages than one in this time, in seconds, so that small items travel together.
const LEAST_TIME: f64 = 0.01;

/// A worker asks for this many times the work that is confirmed while a message is computed.
const AHEAD: f64 = 1.5;

/// A worker asks for this many times the work that is confirmed while messages travel. The time of the travel is the shortest, and on
/// a busy line a message and its results wait besides for those before them, 250 ms each.
const AHEAD_OF_TRAVEL: f64 = 3.0;

/// The most messages for each thread.
const MOST: usize = 128;

#[derive(Debug)]
pub(super) struct Pace {
    /// The messages that have been confirmed.
    meter: Meter,
    /// The mean times of a message, in nanoseconds.
    computed: f64,
    transport: f64,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { meter: Meter::new(), computed: f64::MAX, transport: LEAST_TRANSPORT }
    }

    pub(super) fn begin(&self) -> Mark {
        self.meter.sent()
    }

    /// A message that was there since `mark` is confirmed.
    pub(super) fn end(&mut self, mark: Mark, is_limited: bool) {
        self.meter.arrived(mark, 1.0, is_limited);
    }

    /// The bodies of a message were fetched for so long.
    pub(super) fn fetched(&mut self, time: Duration) {
        self.transport = 0.8 * self.transport + 0.2 * (time.as_nanos() as f64 + LEAST_TRANSPORT);
    }

    /// The items of a message were computed for so long.
    pub(super) fn computed(&mut self, time: Duration) {
        let nanos = time.as_nanos() as f64;
        self.computed = if self.computed == f64::MAX { nanos } else { 0.8 * self.computed + 0.2 * nanos };
    }

    /// How many messages the worker may hold, computed or to be computed. A message is asked for in `ask` at least, and its outcome is
    /// confirmed in `confirm` at least, or in twice the time if its body is fetched.
    ///
    /// Items that take long are not fetched ahead, since another worker may be free earlier. On a line with long round trips, as many are
    /// fetched ahead as are confirmed meanwhile.
    pub(super) fn slots(&self, threads: usize, ask: Duration, confirm: Duration) -> usize {
        let trip = (ask + 2 * confirm).as_nanos() as f64;
        if self.computed >= FETCH_AHEAD * self.transport.max(trip) {
            return threads;
        }
        let rate = self.meter.rate().min(threads as f64 / LEAST_TIME);
        let computed = if self.computed == f64::MAX { 0.0 } else { self.computed };
        let ahead = AHEAD_OF_TRAVEL * trip + AHEAD * computed;
        ((rate * ahead / 1e9) as usize).clamp(2 * threads, MOST * threads)
    }
}

//! Work that a worker has taken from the queues of runs.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::task::{AbortHandle, JoinSet};

use crate::wire::{Delivery, Ended, Flow, Mark};

/// A request for work is valid for so long.
pub(super) const ASKS_FOR: Duration = Duration::from_secs(30);

/// After a request that failed at once, the next one is sent so much later.
pub(super) const PAUSE: Duration = Duration::from_millis(50);

/// The answer to a request for an item that runs alone is waited for so long.
pub(super) const ALONE_PATIENCE: Duration = Duration::from_secs(1);

/// The length of a message before any has arrived, in bytes.
pub(super) const FIRST_LENGTH: f64 = 32_768.0;

/// A message from the queue of a run. Its lease is renewed until it is acknowledged.
pub(super) struct Held {
    pub(super) run: u64,
    pub(super) batch: u64,
    pub(super) delivery: Delivery,
    pub(super) is_alone: bool,
    /// Whether the batch takes one of the places of the worker.
    pub(super) is_open: bool,
    pub(super) fetch: Option<AbortHandle>,
    /// Whether a thread has it.
    pub(super) is_computed_now: bool,
    pub(super) is_given_up: Arc<AtomicBool>,
    pub(super) received: Instant,
    pub(super) mark: Mark,
    pub(super) fetched: Duration,
    /// Times that were not told yet.
    pub(super) waited: Duration,
    /// How many messages about it are not confirmed.
    pub(super) unconfirmed: usize,
}

/// Bodies that were fetched for a message.
pub(super) type Fetched = (u64, Vec<(u64, Result<Bytes, Ended>)>);

/// Whether an item runs alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Alone {
    #[default]
    No,
    /// The queue of this run was asked for one.
    Asked(u64, Instant),
    /// This message is being computed.
    Running(u64),
}

pub(super) struct Work {
    pub(super) held: HashMap<u64, Held>,
    pub(super) ready: VecDeque<(u64, Vec<(u64, Bytes)>)>,
    /// How many threads compute.
    pub(super) computing: usize,
    pub(super) alone: Alone,
    pub(super) next: u64,
    /// The messages that were asked for, whose mean length is `length`. A lease begins when the server sends a message, so a message
    /// must not wait on the line for long.
    pub(super) pulls: Flow,
    pub(super) length: f64,
    /// The parts that were asked for.
    pub(super) flow: Flow,
    pub(super) fetches: JoinSet<Fetched>,
}

impl Work {
    pub(super) fn new() -> Self {
        Self {
            held: HashMap::new(),
            ready: VecDeque::new(),
            computing: 0,
            alone: Alone::No,
            next: 0,
            pulls: Flow::new(),
            length: FIRST_LENGTH,
            flow: Flow::new(),
            fetches: JoinSet::new(),
        }
    }

    /// How many bytes of messages may be on their way to the worker at once.
    pub(super) fn window(&self) -> usize {
        self.pulls.window()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}

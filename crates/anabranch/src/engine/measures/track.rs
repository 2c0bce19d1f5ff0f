//! What one thread did: where its time went, and, if asked for, each piece of work.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Thread, ThreadId};

use super::{Reading, Series};

/// Where a track is full, events are kept of whole stretches of so many nanoseconds: of every second one, then of
/// every fourth, and so on.
const KEPT: u64 = 1 << 22;

/// A piece of work, or a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    /// Nanoseconds since the run began.
    pub(crate) at: u64,
    pub(crate) nanos: u64,
    pub(crate) what: What,
    /// Items that were taken.
    pub(crate) items: u64,
}

/// What a thread did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// It worked in a node: pulled, carried a claim, or served.
    Node(u32),
    /// It had nothing to do.
    Waiting,
}

/// What one thread did.
#[derive(Debug, Clone)]
pub(crate) struct Track {
    pub(crate) thread: ThreadId,
    pub(crate) name: String,
    /// The time in each node, and behind the nodes the time spent waiting.
    pub(crate) time: Series,
    nodes: Vec<Reading>,
    pub(crate) events: Events,
}

/// Events of a thread: all, or those of stretches that are evenly spread over the run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Events {
    pub(crate) kept: Vec<Event>,
    most: usize,
    /// Of 2^sparseness stretches one is kept.
    pub(crate) sparseness: u32,
    /// How many there were.
    pub(crate) all: u64,
}

impl Track {
    pub(crate) fn new(thread: &Thread, columns: usize, events: usize) -> Self {
        Self {
            thread: thread.id(),
            name: thread.name().unwrap_or("caller").to_owned(),
            time: Series::new(columns),
            nodes: vec![Reading::default(); columns - 1],
            events: Events::new(events),
        }
    }

    /// Counts what was done in node `id`.
    pub(crate) fn count(&mut self, id: usize, reading: Reading) {
        if let Some(node) = self.nodes.get_mut(id) {
            node.add(reading);
        }
    }

    /// What was counted of node `id`.
    pub(crate) fn read(&self, id: usize) -> Reading {
        self.nodes.get(id).copied().unwrap_or_default()
    }

    /// Adds an event, whose time stands for that of `weight` like it.
    pub(crate) fn add(&mut self, event: Event, weight: u64) {
        let column = match event.what {
            What::Node(id) => id as usize,
            What::Waiting => self.nodes.len(),
        };
        match weight {
            1 => self.time.add_time(event.at, event.nanos, column),
            _ => self.time.add(event.at, column, event.nanos.saturating_mul(weight)),
        }
        self.events.add(event);
    }
}

impl Events {
    fn new(most: usize) -> Self {
        Self { kept: Vec::with_capacity(most), most, ..Self::default() }
    }

    fn add(&mut self, event: Event) {
        if self.most == 0 {
            return;
        }
        self.all += 1;
        if self.is_kept(&event) {
            while self.kept.len() >= self.most && self.sparseness < 40 {
                self.thin(self.sparseness + 1);
            }
            if self.kept.len() < self.most && self.is_kept(&event) {
                self.kept.push(event);
            }
        }
    }

    fn is_kept(&self, event: &Event) -> bool {
        (event.at / KEPT).is_multiple_of(1 << self.sparseness)
    }

    /// Keeps one of 2^`sparseness` stretches.
    pub(crate) fn thin(&mut self, sparseness: u32) {
        self.sparseness = self.sparseness.max(sparseness);
        let stretches = 1 << self.sparseness;
        self.kept.retain(|event| (event.at / KEPT).is_multiple_of(stretches));
    }
}

thread_local! {
    /// The track of the run that this thread works for.
    static CURRENT: RefCell<Option<Arc<Mutex<Track>>>> = const { RefCell::new(None) };
}

/// Calls `f` with the track of the calling thread, if it has one.
pub(super) fn on_current(f: impl FnOnce(&mut Track)) {
    CURRENT.with_borrow(|current| {
        if let Some(track) = current {
            f(&mut track.lock().unwrap_or_else(PoisonError::into_inner));
        }
    });
}

/// A thread works for a run: until this is dropped, what it does goes to its track. Runs nest.
#[derive(Debug)]
pub(crate) struct OnTrack {
    before: Option<Arc<Mutex<Track>>>,
}

impl OnTrack {
    pub(super) fn new(track: Arc<Mutex<Track>>) -> Self {
        Self { before: CURRENT.replace(Some(track)) }
    }
}

impl Drop for OnTrack {
    fn drop(&mut self) {
        CURRENT.set(self.before.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_track_keeps_whole_stretches_spread_over_the_run() {
        let mut events = Events::new(2_048);
        let each = 10_000;
        for at in (0..2_000_000_000).step_by(each as usize) {
            events.add(Event { at, nanos: each, what: What::Waiting, items: 0 });
        }
        assert_eq!(events.all, 200_000);
        assert!((512..=2_048).contains(&events.kept.len()), "{}", events.kept.len());
        let stretches: Vec<&[Event]> = events.kept.chunk_by(|a, b| a.at / KEPT == b.at / KEPT).collect();
        assert!(stretches.len() >= 2);
        for stretch in &stretches[..stretches.len() - 1] {
            assert!(stretch.windows(2).all(|pair| pair[1].at - pair[0].at == each), "gaps inside a stretch");
        }
        assert!(events.kept.last().unwrap().at > 1_000_000_000);
    }
}

//! Tracks: where the time of one thread went and, if that was asked for, each piece of its work.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Thread, ThreadId};

use super::{Reading, Series, Tally};
use crate::engine::clock::processor_time;

/// Where a track is full, events are kept of whole stretches of so many nanoseconds: of every second one, then of
/// every fourth, and so on.
const KEPT: u64 = 1 << 22;

/// A piece of work of fewer nanoseconds cannot have waited for a timer, a disk or a network, and is unlikely to have been
/// interrupted.
const MAY_WAIT: u64 = 50_000;

/// A wait for work of fewer nanoseconds was spent spinning.
const MAY_PARK: u64 = 5_000;

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

/// The kind of a piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// It worked in a node: pulled, carried a claim, or served.
    Node(u32),
    /// It had nothing to do.
    Waiting,
}

/// The work of one thread.
#[derive(Debug, Clone)]
pub(crate) struct Track {
    pub(crate) thread: ThreadId,
    pub(crate) name: String,
    /// The time in each node, and behind the nodes the time spent waiting.
    pub(crate) time: Series,
    nodes: Vec<Reading>,
    pub(crate) events: Events,
    /// A moment, and how long the thread had had a processor by then.
    clocks: (u64, Option<u64>),
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
            clocks: (0, None),
        }
    }

    /// Adds a piece of work that stands for `weight` like it.
    pub(super) fn work(&mut self, event: Event, tally: Tally, weight: u64) {
        let What::Node(id) = event.what else { return };
        // All that the thread was without a processor since the last look was in this piece: the ones between were
        // too short, and it looks after each wait for work.
        let off = match event.nanos {
            0..MAY_WAIT => 0,
            nanos => self.look_at_clocks(event.at + nanos).min(nanos),
        };
        let slept = if off > 0 && 2 * off >= event.nanos { weight } else { 0 };
        let (spent, off) = (event.nanos * weight, off * weight);
        self.count(id as usize, Reading { tally, spent, off, pieces: weight, slept });
        self.add(event, weight);
    }

    /// Adds a wait for work.
    pub(super) fn idle(&mut self, event: Event) {
        if event.nanos >= MAY_PARK {
            self.look_at_clocks(event.at + event.nanos);
        }
        self.add(event, 1);
    }

    /// Gives for how many nanoseconds the thread was without a processor since the last look; to be called by it.
    pub(super) fn look_at_clocks(&mut self, now: u64) -> u64 {
        let (then, before) = std::mem::replace(&mut self.clocks, (now, processor_time()));
        let (Some(before), Some(used)) = (before, self.clocks.1) else { return 0 };
        now.saturating_sub(then).saturating_sub(used.saturating_sub(before))
    }

    /// Counts what was done in node `id`.
    pub(super) fn count(&mut self, id: usize, reading: Reading) {
        if let Some(node) = self.nodes.get_mut(id) {
            node.add(reading);
        }
    }

    /// The counts of node `id`.
    pub(crate) fn read(&self, id: usize) -> Reading {
        self.nodes.get(id).copied().unwrap_or_default()
    }

    /// Adds an event, whose time stands for that of `weight` like it.
    fn add(&mut self, event: Event, weight: u64) {
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

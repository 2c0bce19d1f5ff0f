//! Tracks: how one thread spent its time, and, if the run is traced, each piece of its work.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::thread::{Thread, ThreadId};

use anabranch_record::fork;

use super::{Reading, Series, Tally};
use crate::clock::{processor_time, run_delay};

/// The length of a stretch of events, in nanoseconds. A track that is full keeps the events of every second
/// stretch, then of every fourth, and so on.
const STRETCH_NS: u64 = 1 << 22;

/// The shortest piece of work for which the processor time is read, in nanoseconds. A shorter piece cannot
/// have waited for a timer, a disk or a network, and is unlikely to have been interrupted.
const MAY_WAIT_NS: u64 = 50_000;

/// The shortest time without a processor of which is asked how much of it the thread was ready to run, in nanoseconds. Asking takes some
/// microseconds.
const MAY_BE_DELAYED_NS: u64 = 10_000;

/// The shortest wait for work in which a thread may have parked, in nanoseconds. A shorter wait was spent
/// spinning.
const MAY_PARK_NS: u64 = 5_000;

/// A piece of work, or a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    /// When it began, in nanoseconds since the run began.
    pub(crate) at: u64,
    /// How long it took, in nanoseconds.
    pub(crate) nanos: u64,
    pub(crate) what: What,
    /// How many items were taken.
    pub(crate) items: u64,
}

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// The thread worked in the node with this id: it pulled, carried a claim across, or served.
    Node(u32),
    /// The thread waited for work.
    Waiting,
}

/// The work of one thread.
#[derive(Debug, Clone)]
pub(crate) struct Track {
    pub(crate) thread: ThreadId,
    pub(crate) name: String,
    /// One column for each node, with the time spent in it. The last column has the time spent waiting.
    pub(crate) time: Series,
    nodes: Vec<Reading>,
    pub(crate) events: Events,
    /// When the processor time was last read, in nanoseconds since the run began, and the processor time of
    /// the thread then.
    clocks: (u64, Option<u64>),
    /// How long the thread had been ready to run without a processor when that was last read, in nanoseconds.
    delay: Option<u64>,
}

/// The events of a thread: all of them, or those of stretches that are evenly spread over the run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Events {
    pub(crate) kept: Vec<Event>,
    /// The largest number of events to keep.
    most: usize,
    /// One of 2^`sparseness` stretches is kept.
    pub(crate) sparseness: u32,
    /// How many events there were, including those that are not kept.
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
            delay: None,
        }
    }

    /// Whether the thread of this track has the same name as `thread`.
    pub(crate) fn is_of_name(&self, thread: &Thread) -> bool {
        thread.name().is_some_and(|name| name == self.name)
    }

    /// Gives the track to `thread`, which continues it.
    pub(crate) fn take_over(&mut self, thread: &Thread) {
        if self.thread != thread.id() {
            self.thread = thread.id();
            self.clocks = (0, None);
            self.delay = None;
        }
    }

    /// Adds a piece of work.
    pub(crate) fn work(&mut self, event: Event, tally: Tally) {
        self.spend(event, (1, 1), tally);
        self.events.add(event);
    }

    /// Adds work that stands for `weight` times as much. It is a piece of work if `is_piece`, else a part of one.
    pub(crate) fn sample(&mut self, event: Event, weight: u64, is_piece: bool) {
        self.spend(event, (weight, weight * u64::from(is_piece)), Tally::default());
        if is_piece {
            self.events.add(event);
        }
    }

    /// Adds the time of work that stands for `weight` times as much, and for so many pieces of work.
    fn spend(&mut self, event: Event, (weight, pieces): (u64, u64), tally: Tally) {
        let What::Node(id) = event.what else { return };
        // All the time without a processor since the last reading belongs to this piece. The pieces in
        // between were too short to have any, and the processor time is read after each wait for work.
        let off = match event.nanos {
            0..MAY_WAIT_NS => 0,
            nanos => self.look_at_clocks(event.at + nanos).min(nanos),
        };
        let delayed = if event.nanos < MAY_WAIT_NS { Some(0) } else { self.look_at_delay(off) };
        let waited = off - delayed.unwrap_or(0);
        let slept = if waited > 0 && 2 * waited >= event.nanos - delayed.unwrap_or(0) { pieces } else { 0 };
        let untold = if delayed.is_none() { off.max(1) * weight } else { 0 };
        let (spent, off, delayed) = (event.nanos * weight, off * weight, delayed.unwrap_or(0) * weight);
        self.count(id as usize, Reading { tally, spent, off, delayed, untold, pieces, slept });
        self.time.add_time(event.at, spent, id as usize);
    }

    /// Adds a wait for work.
    pub(crate) fn idle(&mut self, event: Event) {
        if event.nanos >= MAY_PARK_NS {
            let off = self.look_at_clocks(event.at + event.nanos);
            // A thread that was woken may have waited for a processor. This time is no part of its next piece of work.
            if event.nanos >= MAY_WAIT_NS {
                self.look_at_delay(off);
            }
        }
        self.time.add_time(event.at, event.nanos, self.nodes.len());
        self.events.add(event);
    }

    /// Reads the processor time. Returns how many nanoseconds the thread had no processor since the last
    /// reading. To be called on the thread of the track.
    fn look_at_clocks(&mut self, now: u64) -> u64 {
        let (then, before) = std::mem::replace(&mut self.clocks, (now, processor_time()));
        let (Some(before), Some(used)) = (before, self.clocks.1) else { return 0 };
        now.saturating_sub(then).saturating_sub(used.saturating_sub(before))
    }

    /// Returns how much of the `off` nanoseconds without a processor since the last reading the thread was ready to run. `None` if the
    /// system does not tell it. To be called on the thread of the track.
    fn look_at_delay(&mut self, off: u64) -> Option<u64> {
        if off < MAY_BE_DELAYED_NS {
            return self.delay.and(Some(0));
        }
        let before = std::mem::replace(&mut self.delay, run_delay());
        Some(self.delay?.saturating_sub(before?).min(off))
    }

    /// Notes where the clocks of the calling thread are, which begins or goes on to work on the track.
    pub(crate) fn start(&mut self, now: u64) {
        self.look_at_clocks(now);
        self.delay = run_delay();
    }

    /// Adds `reading` to the counts of node `id`.
    pub(crate) fn count(&mut self, id: usize, reading: Reading) {
        if let Some(node) = self.nodes.get_mut(id) {
            node.add(reading);
        }
    }

    /// The counts of node `id`.
    pub(crate) fn read(&self, id: usize) -> Reading {
        self.nodes.get(id).copied().unwrap_or_default()
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
        (event.at / STRETCH_NS).is_multiple_of(1 << self.sparseness)
    }

    /// Keeps only the events of one of 2^`sparseness` stretches.
    pub(crate) fn thin(&mut self, sparseness: u32) {
        self.sparseness = self.sparseness.max(sparseness);
        let stretches = 1 << self.sparseness;
        self.kept.retain(|event| (event.at / STRETCH_NS).is_multiple_of(stretches));
    }
}

thread_local! {
    /// The track of the run that this thread works for.
    static CURRENT: RefCell<Option<Arc<Mutex<Track>>>> = const { RefCell::new(None) };
}

/// Calls `f` with the track of the calling thread, if it has one.
pub(crate) fn on_current(f: impl FnOnce(&mut Track)) {
    CURRENT.with_borrow(|current| {
        if let Some(track) = current {
            f(&mut fork::lock(track));
        }
    });
}

/// A guard: until it is dropped, the work of the calling thread is added to the track. Guards of nested runs
/// nest.
#[derive(Debug)]
pub(crate) struct OnTrack {
    before: Option<Arc<Mutex<Track>>>,
}

impl OnTrack {
    pub(crate) fn new(track: Arc<Mutex<Track>>) -> Self {
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
        let stretches: Vec<&[Event]> =
            events.kept.chunk_by(|a, b| a.at / STRETCH_NS == b.at / STRETCH_NS).collect();
        assert!(stretches.len() >= 2);
        for stretch in &stretches[..stretches.len() - 1] {
            assert!(stretch.windows(2).all(|pair| pair[1].at - pair[0].at == each), "gaps inside a stretch");
        }
        assert!(events.kept.last().unwrap().at > 1_000_000_000);
    }
}

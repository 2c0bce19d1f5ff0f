//! The measurements of one run, by node and by thread.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError};

use anabranch_record::fork;

use super::meter::{Reading, Tally};
use super::series::Series;
use super::track::{self, Event, OnTrack, Track, What};
use super::transit::Transit;
use crate::clock::Moment;

/// The number of events that all threads of a run keep together. It is divided among them.
const EVENTS: usize = 1 << 18;
/// The range of the number of events that one thread keeps.
const EVENTS_A_THREAD: std::ops::RangeInclusive<usize> = 1 << 11..=1 << 14;

/// The measurements of a run. They are stored by the ids of the nodes. A unit has the id of its first node.
#[derive(Debug)]
pub(crate) struct Measures {
    began: Moment,
    nodes: usize,
    /// For each node that opens a domain, how long indices are in that domain. Created on first use.
    transits: Vec<OnceLock<Arc<Transit>>>,
    /// The widest window of the run, in items.
    window: u64,
    /// How many items wait before each node, over time.
    waiting: Mutex<Waiting>,
    tracks: Mutex<Vec<Arc<Mutex<Track>>>>,
    /// How many events a thread keeps.
    events: usize,
    /// How long it takes to read the clock, in nanoseconds.
    clock: u64,
}

/// How many items wait, over time.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// One column for each node, with the number of its waiting items times nanoseconds. The last column has
    /// the nanoseconds.
    pub(crate) series: Series,
    /// The largest number of items that were seen before each node.
    pub(crate) fullest: Vec<u64>,
    /// The number of items that were last seen before each node.
    last: Vec<u64>,
    /// When they were last seen, in nanoseconds since the run began.
    at: u64,
}

impl Measures {
    /// Creates the measurements of a run with `nodes` nodes, windows of at most `window` items, and `workers`
    /// workers. Threads keep events if `traces` is true.
    pub(crate) fn new(nodes: usize, window: usize, workers: usize, traces: bool) -> Self {
        let (least, most) = (*EVENTS_A_THREAD.start(), *EVENTS_A_THREAD.end());
        let events = if traces { (EVENTS / workers.max(1)).clamp(least, most) } else { 0 };
        Self {
            began: Moment::now(),
            nodes,
            transits: std::iter::repeat_with(OnceLock::new).take(nodes).collect(),
            window: window as u64,
            waiting: Mutex::new(Waiting::new(nodes)),
            tracks: Mutex::default(),
            events,
            clock: (0..8).map(|_| Moment::now().elapsed()).min().unwrap_or(0),
        }
    }

    /// When the run began.
    pub(crate) fn began(&self) -> Moment {
        self.began
    }

    /// How long it takes to read the clock, in nanoseconds.
    pub(crate) fn clock(&self) -> u64 {
        self.clock
    }

    /// Nanoseconds since the run began.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.began.elapsed()
    }

    /// Adds a piece of work of node `id` that took `nanos` nanoseconds.
    pub(crate) fn end(&self, id: usize, tally: Tally, began: Moment, nanos: u64) {
        if id < self.nodes {
            let at = began.since(self.began);
            let event = Event { at, nanos, what: What::Node(id as u32), items: tally.items };
            track::on_current(|track| track.work(event, tally));
        }
    }

    /// Adds a wait of the calling thread that began at `began` and took `nanos` nanoseconds.
    pub(crate) fn idled(&self, began: Moment, nanos: u64) {
        let event = Event { at: began.since(self.began), nanos, what: What::Waiting, items: 0 };
        track::on_current(|track| track.idle(event));
    }

    /// The counts of node `id`, on all threads together.
    pub(crate) fn read(&self, id: usize) -> Reading {
        let mut sum = Reading::default();
        let tracks = fork::lock(&self.tracks);
        for track in tracks.iter() {
            sum.add(fork::lock(track).read(id));
        }
        sum
    }

    /// How long indices are in the domain that node `id` opens.
    pub(crate) fn transit(&self, id: usize) -> Option<&Arc<Transit>> {
        Some(self.transits.get(id)?.get_or_init(|| Arc::new(Transit::new(self.window))))
    }

    /// The transits, by the nodes that open their domains.
    pub(crate) fn transits(&self) -> impl Iterator<Item = (usize, &Transit)> {
        self.transits.iter().enumerate().filter_map(|(id, transit)| Some((id, &**transit.get()?)))
    }

    /// Locks the record of waiting items.
    pub(crate) fn waiting(&self) -> MutexGuard<'_, Waiting> {
        fork::lock(&self.waiting)
    }

    /// Locks the record of waiting items. `None` if another thread has locked it.
    pub(crate) fn try_waiting(&self) -> Option<MutexGuard<'_, Waiting>> {
        match self.waiting.try_lock() {
            Ok(waiting) => Some(waiting),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Gives the calling thread a track until the guard is dropped. A thread that had a track in this run
    /// gets the same track again. A thread with the same name as one that has left continues the track of that
    /// thread. There are therefore never more tracks than there were threads at the same time.
    pub(crate) fn on_track(&self) -> OnTrack {
        let mut tracks = fork::lock(&self.tracks);
        let thread = std::thread::current();
        let is_of_thread = |track: &Arc<Mutex<Track>>| fork::lock(track).thread == thread.id();
        let is_left_behind = |track: &Arc<Mutex<Track>>| {
            // No thread uses the track, because only this list refers to it.
            Arc::strong_count(track) == 1 && fork::lock(track).is_of_name(&thread)
        };
        let of_thread = tracks.iter().find(|track| is_of_thread(track));
        let track = match of_thread.or_else(|| tracks.iter().find(|track| is_left_behind(track))) {
            Some(track) => {
                let track = Arc::clone(track);
                fork::lock(&track).take_over(&thread);
                track
            }
            None => {
                let track = Arc::new(Mutex::new(Track::new(&thread, self.nodes + 1, self.events)));
                tracks.push(Arc::clone(&track));
                track
            }
        };
        fork::lock(&track).start(self.now());
        OnTrack::new(track)
    }

    /// The tracks of all threads, in the order in which they were created.
    pub(crate) fn tracks(&self) -> Vec<Track> {
        let tracks = fork::lock(&self.tracks);
        tracks.iter().map(|track| fork::lock(track).clone()).collect()
    }
}

impl Waiting {
    fn new(nodes: usize) -> Self {
        Self { series: Series::new(nodes + 1), fullest: vec![0; nodes], last: vec![0; nodes], at: 0 }
    }

    /// Adds the time until `now`. Since the last note as many items have waited as were seen then.
    fn pass(&mut self, now: u64) {
        let nanos = now.saturating_sub(self.at);
        self.series.add_time(self.at, nanos, self.last.len());
        for (id, &items) in self.last.iter().enumerate().filter(|(_, items)| **items > 0) {
            self.series.add_product(self.at, nanos, id, items);
        }
        self.at = self.at.max(now);
    }

    /// Notes how many items wait before each node at time `now`. `items` yields pairs of a node's id and a
    /// number of items.
    pub(crate) fn note(&mut self, now: u64, items: impl Iterator<Item = (usize, u64)>) {
        self.pass(now);
        for (id, items) in items {
            if let Some(fullest) = self.fullest.get_mut(id) {
                *fullest = (*fullest).max(items);
                self.last[id] = items;
            }
        }
    }

    /// Like [`note`](Self::note), for a thread that is about to take an item. The item is taken from the last
    /// node before which items wait, so one item fewer waits there.
    pub(crate) fn note_and_take(&mut self, now: u64, items: impl Iterator<Item = (usize, u64)>) {
        self.note(now, items);
        if let Some(items) = self.last.iter_mut().rfind(|items| **items > 0) {
            *items -= 1;
        }
    }
}

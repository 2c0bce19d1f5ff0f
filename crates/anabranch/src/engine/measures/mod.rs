//! Measurements of a run that is reported or watched. Other runs count nothing.
//!
//! Clocks are read and counters raised a few times a claim or a serving, never once an item. Everything is bounded,
//! however long the run: counters ([`meter`]), series of a fixed number of stretches ([`series`]), a histogram
//! ([`transit`]), and events that make room for later ones ([`track`]).

mod meter;
mod series;
mod stride;
mod track;
mod transit;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

pub(crate) use meter::{Reading, Tally};
pub(crate) use series::Series;
pub(crate) use stride::Stride;
pub(crate) use track::{Event, OnTrack, Track, What};
pub(crate) use transit::{Crossing, Latencies, Mark, Transit};

use super::clock::Moment;

/// Events of all threads together, at most, and of one.
const EVENTS: usize = 1 << 18;
const EVENTS_OF_ONE: std::ops::RangeInclusive<usize> = 1 << 11..=1 << 14;

/// The measurements of a run. Nodes are known by their ids; a unit has the id of its first node.
#[derive(Debug)]
pub(crate) struct Measures {
    began: Moment,
    nodes: usize,
    /// By the node that opens a domain: how long indices are in it. Made when the first one enters.
    transits: Vec<OnceLock<Arc<Transit>>>,
    window: u64,
    /// How many items wait before each node, over time.
    waiting: Mutex<Waiting>,
    tracks: Mutex<Vec<Arc<Mutex<Track>>>>,
    /// How many events a thread keeps.
    events: usize,
    /// For how many items the one stands that the inline executor has in hand: 0 if it is not measured.
    weight: AtomicU64,
    /// The length of a measurement of nothing, in nanoseconds.
    clock: u64,
}

/// Items that wait, over time: for each node the number of items times the nanoseconds that they waited, and behind the
/// nodes the nanoseconds.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) series: Series,
    /// The most that were seen before each node.
    pub(crate) fullest: Vec<u64>,
    /// The number of items that were seen last before each node, and when.
    last: Vec<u64>,
    at: u64,
}

impl Measures {
    /// Of `nodes` nodes, with windows of at most `window`; `workers` threads keep events if it `traces`.
    pub(crate) fn new(nodes: usize, window: usize, workers: usize, traces: bool) -> Self {
        let (least, most) = (*EVENTS_OF_ONE.start(), *EVENTS_OF_ONE.end());
        let events = if traces { (EVENTS / workers.max(1)).clamp(least, most) } else { 0 };
        Self {
            began: Moment::now(),
            nodes,
            transits: std::iter::repeat_with(OnceLock::new).take(nodes).collect(),
            window: window as u64,
            waiting: Mutex::new(Waiting::new(nodes)),
            tracks: Mutex::default(),
            events,
            weight: AtomicU64::new(1),
            clock: (0..8).map(|_| Moment::now().elapsed()).min().unwrap_or(0),
        }
    }

    /// When the run began.
    pub(crate) fn began(&self) -> Moment {
        self.began
    }

    /// Nanoseconds since the run began.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.began.elapsed()
    }

    /// Adds a piece of work of node `id` that took `nanos`.
    pub(crate) fn end(&self, id: usize, tally: Tally, began: Moment, nanos: u64) {
        if id < self.nodes {
            let at = began.since(self.began);
            let event = Event { at, nanos, what: What::Node(id as u32), items: tally.items };
            track::on_current(|track| track.work(event, tally, 1));
        }
    }

    /// For how many items the one stands that the inline executor has in hand.
    #[inline]
    pub(crate) fn weight(&self) -> u64 {
        self.weight.load(Ordering::Relaxed)
    }

    /// The inline executor takes up an item that stands for `weight`; 0 if it is not measured.
    #[inline]
    pub(crate) fn set_weight(&self, weight: u64) {
        self.weight.store(weight, Ordering::Relaxed);
    }

    /// The inline executor takes up the next item that a source or a spreading stage gives, of one that stands for `outer`.
    /// Gives for how many items it stands: 0 if it is not measured.
    pub(crate) fn take_up(&self, outer: u64, stride: &mut Stride) -> u64 {
        let weight = if outer == 0 { 0 } else { outer * stride.next() };
        self.set_weight(weight);
        weight
    }

    /// The item that was taken up has come to its end in the domain that node `id` opens.
    pub(crate) fn put_down(&self, id: usize, weight: u64, began: Moment, stride: &mut Stride) {
        let nanos = began.elapsed();
        stride.took(nanos);
        if let Some(transit) = self.transit(id) {
            transit.count(nanos, weight);
        }
    }

    /// As [`end`](Self::end), for one item of the inline executor, which is measured and stands for others; `tally` is
    /// what was counted since the one before.
    #[cold]
    pub(crate) fn end_alone(&self, id: usize, tally: Tally, began: Moment) {
        let (nanos, weight) = (began.elapsed().saturating_sub(self.clock), self.weight());
        let at = began.since(self.began);
        let event = Event { at, nanos, what: What::Node(id as u32), items: tally.items };
        track::on_current(|track| track.work(event, tally, weight));
    }

    /// Counts what went through node `id` on this thread.
    pub(crate) fn count(&self, id: usize, tally: Tally) {
        track::on_current(|track| track.count(id, Reading { tally, ..Reading::default() }));
    }

    /// Adds that this thread had nothing to do for `nanos` since `began`.
    pub(crate) fn idled(&self, began: Moment, nanos: u64) {
        let event = Event { at: began.since(self.began), nanos, what: What::Waiting, items: 0 };
        track::on_current(|track| track.idle(event));
    }

    /// The counts of node `id`.
    pub(crate) fn read(&self, id: usize) -> Reading {
        let mut sum = Reading::default();
        let tracks = self.tracks.lock().unwrap_or_else(PoisonError::into_inner);
        for track in tracks.iter() {
            sum.add(track.lock().unwrap_or_else(PoisonError::into_inner).read(id));
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

    /// The items that wait, to be looked at.
    pub(crate) fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The items that wait, to be added to; `None` if somebody else is adding.
    pub(crate) fn try_waiting(&self) -> Option<MutexGuard<'_, Waiting>> {
        match self.waiting.try_lock() {
            Ok(waiting) => Some(waiting),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Lets the calling thread have a track until the guard is dropped: a new one, or the one that it had before.
    pub(crate) fn on_track(&self) -> OnTrack {
        let mut tracks = self.tracks.lock().unwrap_or_else(PoisonError::into_inner);
        let thread = std::thread::current();
        let of_thread = |track: &&Arc<Mutex<Track>>| {
            track.lock().unwrap_or_else(PoisonError::into_inner).thread == thread.id()
        };
        let track = match tracks.iter().find(of_thread) {
            Some(track) => Arc::clone(track),
            None => {
                let track = Arc::new(Mutex::new(Track::new(&thread, self.nodes + 1, self.events)));
                tracks.push(Arc::clone(&track));
                track
            }
        };
        track.lock().unwrap_or_else(PoisonError::into_inner).look_at_clocks(self.now());
        OnTrack::new(track)
    }

    /// The tracks of all threads, in the order in which the threads came.
    pub(crate) fn tracks(&self) -> Vec<Track> {
        let tracks = self.tracks.lock().unwrap_or_else(PoisonError::into_inner);
        tracks.iter().map(|track| track.lock().unwrap_or_else(PoisonError::into_inner).clone()).collect()
    }
}

impl Waiting {
    fn new(nodes: usize) -> Self {
        Self { series: Series::new(nodes + 1), fullest: vec![0; nodes], last: vec![0; nodes], at: 0 }
    }

    /// Adds the time until `now`, in which as many items waited as were seen last.
    fn pass(&mut self, now: u64) {
        let nanos = now.saturating_sub(self.at);
        self.series.add_time(self.at, nanos, self.last.len());
        for (id, &items) in self.last.iter().enumerate().filter(|(_, items)| **items > 0) {
            self.series.add_product(self.at, nanos, id, items);
        }
        self.at = self.at.max(now);
    }

    /// Notes at time `now` how many items wait before each of the nodes: pairs of an id and a number.
    pub(crate) fn note(&mut self, now: u64, items: impl Iterator<Item = (usize, u64)>) {
        self.pass(now);
        for (id, items) in items {
            if let Some(fullest) = self.fullest.get_mut(id) {
                *fullest = (*fullest).max(items);
                self.last[id] = items;
            }
        }
    }

    /// As [`note`](Self::note), where the thread that notes is about to take one item before the first node at which any
    /// wait.
    pub(crate) fn note_and_take(&mut self, now: u64, items: impl Iterator<Item = (usize, u64)>) {
        self.note(now, items);
        if let Some(items) = self.last.iter_mut().rfind(|items| **items > 0) {
            *items -= 1;
        }
    }
}

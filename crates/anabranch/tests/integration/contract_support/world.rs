//! Items that are counted, and the faults and delays that are planted on their way.

use std::cell::Cell;
use std::collections::HashSet;
use std::panic::panic_any;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use super::case::{Case, Delay, Fault, Kind};
use anabranch::Unmet;

/// The node number of the source.
pub const SOURCE: usize = 0;
/// The node number of the sink.
pub const SINK: usize = usize::MAX;

/// The error or panic payload of a planted fault. The payload must come back unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planted {
    pub node: usize,
    pub origin: u64,
    pub path: u64,
    pub bomb: Bomb,
}

/// Panics when it is dropped, unless it was disarmed. A stream drops the failures that do not count: the one that does comes
/// through all the same.
#[derive(Debug, Default)]
pub struct Bomb(AtomicBool);

impl Bomb {
    pub fn armed() -> Self {
        Self(AtomicBool::new(true))
    }

    pub fn disarm(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// A copy is for tests to look at.
impl Clone for Bomb {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Bomb {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Bomb {}

impl Drop for Bomb {
    fn drop(&mut self) {
        if *self.0.get_mut() && !thread::panicking() {
            panic_any(Planted { node: DROPPED, origin: 0, path: 0, bomb: Self::default() });
        }
    }
}

/// Mixes a number into a key. Every stage leaves such a mark in the key of an item.
pub fn mix(key: u64, mark: u64) -> u64 {
    let mut x = key ^ mark.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// The most items in one world.
const ITEMS: usize = 1 << 16;

/// Records which items were created and dropped.
#[derive(Debug)]
pub struct Ledger {
    /// How many times each item was dropped.
    drops: Vec<AtomicU8>,
    made: AtomicUsize,
    dropped: AtomicUsize,
    dropped_twice: AtomicUsize,
    /// How many items of the source have a part between source and sink.
    in_flight: AtomicUsize,
    /// Whether a stage may clone items.
    clones: bool,
}

impl Default for Ledger {
    fn default() -> Self {
        Self {
            drops: (0..ITEMS).map(|_| AtomicU8::new(0)).collect(),
            made: AtomicUsize::new(0),
            dropped: AtomicUsize::new(0),
            dropped_twice: AtomicUsize::new(0),
            in_flight: AtomicUsize::new(0),
            clones: false,
        }
    }
}

impl Ledger {
    pub fn made(&self) -> usize {
        self.made.load(Ordering::SeqCst)
    }

    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::SeqCst)
    }

    /// Checks that every item was dropped exactly once.
    pub fn check_dropped(&self) -> Result<(), String> {
        let (made, dropped) = (self.made(), self.dropped.load(Ordering::SeqCst));
        let twice = self.dropped_twice.load(Ordering::SeqCst);
        if made != dropped || twice != 0 || self.in_flight() != 0 {
            return Err(format!("{made} items made, {dropped} dropped, {twice} of them again"));
        }
        Ok(())
    }
}

/// Counts an item of the source as in flight for as long as a part of it lives.
#[derive(Debug)]
struct Flight<'w>(&'w Ledger);

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::SeqCst);
    }
}

/// An item of a run. It borrows from the caller's stack, as items may (C7).
#[derive(Debug)]
pub struct Item<'w> {
    /// A digest of what the stages did to it.
    pub key: u64,
    /// The index that it, or the last of its parts, had in the source.
    pub origin: u64,
    /// Which child of which child it is, with two bits for each level.
    pub path: u64,
    number: usize,
    flights: Vec<Arc<Flight<'w>>>,
    ledger: &'w Ledger,
}

/// Windows that do not overlap need items that could be cloned, and clone none.
impl Clone for Item<'_> {
    fn clone(&self) -> Self {
        assert!(self.ledger.clones, "an item is cloned");
        Self::make(self.ledger, self.flights.clone(), self.key, self.origin, self.path)
    }
}

/// The node of the panic of a failure that was dropped.
const DROPPED: usize = usize::MAX - 2;
/// The node of the error of an item that waits for one that does not come.
pub const UNMET: usize = usize::MAX - 1;

impl From<Unmet> for Planted {
    fn from(_: Unmet) -> Self {
        Self { node: UNMET, origin: 0, path: 0, bomb: Bomb::default() }
    }
}

impl<'w> Item<'w> {
    fn make(ledger: &'w Ledger, flights: Vec<Arc<Flight<'w>>>, key: u64, origin: u64, path: u64) -> Self {
        let number = ledger.made.fetch_add(1, Ordering::SeqCst);
        assert!(number < ITEMS, "too many items for the ledger");
        Self { key, origin, path, number, flights, ledger }
    }

    /// A new item of a source.
    pub fn of_source(ledger: &'w Ledger, origin: u64) -> Self {
        ledger.in_flight.fetch_add(1, Ordering::SeqCst);
        Self::make(ledger, vec![Arc::new(Flight(ledger))], mix(origin, 0), origin, 0)
    }

    /// A part of this item.
    pub fn child(&self, number: u64) -> Self {
        let path = self.path << 2 | number;
        Self::make(self.ledger, self.flights.clone(), mix(self.key, number), self.origin, path)
    }

    /// One item made of several.
    pub fn merge(items: Vec<Self>) -> Self {
        let last = items.last().expect("a batch is not empty");
        let (ledger, origin, path) = (last.ledger, last.origin, last.path);
        let key = items.iter().fold(items.len() as u64, |key, item| mix(key, item.key));
        let flights = items.iter().flat_map(|item| item.flights.clone()).collect();
        Self::make(ledger, flights, key, origin, path)
    }

    /// This item with the mark of a node.
    pub fn marked(mut self, mark: u64) -> Self {
        self.key = mix(self.key, mark);
        self
    }
}

impl Drop for Item<'_> {
    fn drop(&mut self) {
        if self.ledger.drops[self.number].fetch_add(1, Ordering::SeqCst) != 0 {
            self.ledger.dropped_twice.fetch_add(1, Ordering::SeqCst);
        }
        self.ledger.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

/// One run of a case: what its closures use, and what they record.
#[derive(Debug)]
pub struct World<'c> {
    number: usize,
    pub case: &'c Case,
    pub ledger: Ledger,
    delays: bool,
    /// The most items in flight when the source is asked. `None` if this is not checked.
    bound: Option<usize>,
    pub asked: AtomicUsize,
    source_over: AtomicBool,
    states: AtomicUsize,
    threads: Mutex<HashSet<ThreadId>>,
    /// The items that each serial stage has seen, by the position of the stage among the serial stages.
    pub serial: Vec<Mutex<Vec<u64>>>,
    pub delivered: Mutex<Vec<u64>>,
    violations: Mutex<Vec<String>>,
}

impl<'c> World<'c> {
    /// A world for a run that may have `more` items in flight than the case says.
    pub fn wider(case: &'c Case, more: usize) -> Self {
        let world = Self::new(case, true);
        Self { bound: world.bound.map(|bound| bound + more), ..world }
    }

    pub fn new(case: &'c Case, threads: bool) -> Self {
        static WORLDS: AtomicUsize = AtomicUsize::new(0);
        Self {
            number: WORLDS.fetch_add(1, Ordering::Relaxed),
            case,
            ledger: Ledger { clones: case.clones(), ..Ledger::default() },
            delays: threads,
            bound: threads.then(|| case.bound()),
            asked: AtomicUsize::new(0),
            source_over: AtomicBool::new(false),
            states: AtomicUsize::new(0),
            threads: Mutex::default(),
            serial: case.segments.iter().map(|_| Mutex::default()).collect(),
            delivered: Mutex::default(),
            violations: Mutex::default(),
        }
    }

    /// Records a violation. It does not panic, since such a panic could be taken for a planted one.
    pub fn violation(&self, what: String) {
        self.violations.lock().unwrap().push(what);
    }

    pub fn violations(&self) -> Vec<String> {
        let mut all = self.violations.lock().unwrap().clone();
        if let Err(what) = self.ledger.check_dropped() {
            all.push(what);
        }
        let states = self.states.load(Ordering::SeqCst);
        if states != 0 {
            all.push(format!("{states} states of workers are not dropped"));
        }
        all
    }

    /// On how many threads user code has run.
    pub fn threads(&self) -> usize {
        self.threads.lock().unwrap().len()
    }

    /// A thread records itself once in each world, so that the record does not order all calls.
    fn note_thread(&self) {
        thread_local!(static NOTED: Cell<usize> = const { Cell::new(usize::MAX) });
        if NOTED.replace(self.number) != self.number {
            self.threads.lock().unwrap().insert(thread::current().id());
        }
    }

    fn linger(&self, node: usize, origin: u64) {
        if !self.delays {
            return;
        }
        let dice = mix(origin, node as u64);
        match self.case.delay {
            Delay::None => {}
            Delay::Yield => thread::yield_now(),
            Delay::First { micros } => {
                if origin == 0 {
                    thread::sleep(Duration::from_micros(micros));
                }
            }
            Delay::Now { one_in, micros } => {
                if dice.is_multiple_of(one_in) {
                    thread::sleep(Duration::from_micros(micros));
                }
            }
            Delay::Work { rounds } => {
                let rounds = dice % rounds;
                std::hint::black_box((0..rounds).fold(dice, mix));
            }
            Delay::At { node: slow, micros } => {
                if slow == node {
                    thread::sleep(Duration::from_micros(micros));
                }
            }
        }
    }

    /// A fallible call of `node` for an item. It returns or panics with the planted fault.
    pub fn try_visit(&self, node: usize, origin: u64, path: u64, child: bool) -> Result<(), Planted> {
        self.note_thread();
        self.linger(node, origin);
        match self.case.fault(node, origin, path, child) {
            None => Ok(()),
            Some(Fault { kind: Kind::Error, .. }) => Err(Planted { node, origin, path, bomb: Bomb::armed() }),
            Some(Fault { kind: Kind::Panic, .. }) => {
                panic_any(Planted { node, origin, path, bomb: Bomb::armed() })
            }
        }
    }

    /// A call of `node` that can fail only by a panic.
    pub fn visit(&self, node: usize, origin: u64, path: u64) {
        if let Err(planted) = self.try_visit(node, origin, path, false) {
            panic_any(planted);
        }
    }

    /// The sink's call.
    pub fn deliver(&self, item: &Item<'_>) -> Result<(), Planted> {
        self.delivered.lock().unwrap().push(item.key);
        self.try_visit(SINK, item.origin, item.path, false)
    }
}

/// Checks that a serial stage sees its items in order.
#[derive(Debug, Default)]
pub struct InOrder(Option<(u64, u64)>);

impl InOrder {
    pub fn check(&mut self, world: &World<'_>, node: usize, item: &Item<'_>) {
        let place = (item.origin, item.path);
        if self.0.is_some_and(|before| before >= place) {
            world.violation(format!("node {node} saw {place:?} after {:?}", self.0));
        }
        self.0 = Some(place);
    }
}

/// The source of a case.
#[derive(Debug)]
pub struct Source<'w> {
    world: &'w World<'w>,
    next: u64,
}

impl<'w> Source<'w> {
    pub fn new(world: &'w World<'w>) -> Self {
        Self { world, next: 0 }
    }
}

impl<'w> Iterator for Source<'w> {
    type Item = Result<Item<'w>, Planted>;

    fn next(&mut self) -> Option<Self::Item> {
        let world = self.world;
        if world.source_over.load(Ordering::SeqCst) {
            world.violation("the source was asked after its end or its failure".into());
        }
        let in_flight = world.ledger.in_flight();
        if let Some(bound) = world.bound
            && in_flight >= bound
        {
            world.violation(format!("the source was asked with {in_flight} items in flight, bound {bound}"));
        }
        let origin = self.next;
        self.next += 1;
        if origin == world.case.items {
            world.source_over.store(true, Ordering::SeqCst);
            return None;
        }
        world.asked.fetch_add(1, Ordering::SeqCst);
        if world.case.fault(SOURCE, origin, 0, false).is_some() {
            world.source_over.store(true, Ordering::SeqCst);
        }
        Some(world.try_visit(SOURCE, origin, 0, false).map(|()| Item::of_source(&world.ledger, origin)))
    }
}

/// The state of a worker: created, used and dropped on one thread, and not `Send` (C8).
#[derive(Debug)]
pub struct Local<'w> {
    world: &'w World<'w>,
    home: ThreadId,
    not_send: std::marker::PhantomData<*const ()>,
}

impl<'w> Local<'w> {
    pub fn new(world: &'w World<'w>) -> Self {
        world.states.fetch_add(1, Ordering::SeqCst);
        Self { world, home: thread::current().id(), not_send: std::marker::PhantomData }
    }

    pub fn check(&self) {
        if self.home != thread::current().id() {
            self.world.violation("a worker's state was met on another thread".into());
        }
    }
}

impl Drop for Local<'_> {
    fn drop(&mut self) {
        self.check();
        self.world.states.fetch_sub(1, Ordering::SeqCst);
    }
}

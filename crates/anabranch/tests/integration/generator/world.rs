//! The record of a run: items that are counted, the calls of each node, and the faults and delays that are planted on the way.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::panic::panic_any;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, ThreadId};
use std::time::Duration;

use anabranch::CancelToken;

use super::case::{Case, Delay, From, How, Kind, Lie, SINK, SOURCE};
use super::model::{INSIDE, Loop, OTHERS};
use crate::contract_support::planted::{Bomb, Planted, mix};
use crate::contract_support::watchdog;

/// Values that are made when they are needed.
type Blocks<T> = OnceLock<Box<[T]>>;

/// Records which items were made and dropped.
#[derive(Debug, Default)]
pub struct Ledger {
    /// How many times each item was dropped, in blocks of blocks that are made when they are needed.
    drops: [Blocks<Blocks<AtomicU8>>; 32],
    made: AtomicUsize,
    dropped: AtomicUsize,
    dropped_twice: AtomicUsize,
    /// How many items of the source have a part between source and sink.
    in_flight: AtomicUsize,
    /// Whether items may be cloned.
    clones: bool,
}

impl Ledger {
    const BLOCK: usize = 1024;
    const BLOCKS: usize = 64;

    fn note_drop(&self, number: usize) {
        let blank = || (0..Self::BLOCK).map(|_| AtomicU8::new(0)).collect();
        let blocks = self.drops[number / Self::BLOCK / Self::BLOCKS]
            .get_or_init(|| (0..Self::BLOCKS).map(|_| OnceLock::new()).collect());
        let block = blocks[number / Self::BLOCK % Self::BLOCKS].get_or_init(blank);
        if block[number % Self::BLOCK].fetch_add(1, Ordering::SeqCst) != 0 {
            self.dropped_twice.fetch_add(1, Ordering::SeqCst);
        }
        self.dropped.fetch_add(1, Ordering::SeqCst);
    }

    /// Checks that every item was dropped exactly once.
    fn check(&self) -> Result<(), String> {
        let [made, dropped, twice, in_flight] =
            [&self.made, &self.dropped, &self.dropped_twice, &self.in_flight]
                .map(|n| n.load(Ordering::SeqCst));
        if made != dropped || twice != 0 || in_flight != 0 {
            return Err(format!("{made} items made, {dropped} dropped, {twice} of them again"));
        }
        Ok(())
    }
}

/// Counts an item of the source as in flight for as long as a part of it lives.
#[derive(Debug)]
struct Flight(&'static Ledger);

impl Drop for Flight {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::SeqCst);
    }
}

/// An item of a run.
#[derive(Debug)]
pub struct Item {
    /// A digest of what the steps did to it.
    pub key: u64,
    /// The index that it, or the last of its parts, had in the source.
    pub origin: u64,
    /// Which child of which child it is, with two bits for each level.
    pub path: u64,
    number: usize,
    flights: Vec<Arc<Flight>>,
    ledger: &'static Ledger,
}

impl Clone for Item {
    fn clone(&self) -> Self {
        assert!(self.ledger.clones, "an item is cloned");
        self.part(self.key, self.path)
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        self.ledger.note_drop(self.number);
    }
}

impl Item {
    fn make(ledger: &'static Ledger, flights: Vec<Arc<Flight>>, key: u64, origin: u64, path: u64) -> Self {
        let number = ledger.made.fetch_add(1, Ordering::SeqCst);
        Self { key, origin, path, number, flights, ledger }
    }

    fn part(&self, key: u64, path: u64) -> Self {
        Self::make(self.ledger, self.flights.clone(), key, self.origin, path)
    }

    /// The same once more, for a loop that lets it out twice.
    pub fn copy(&self) -> Self {
        self.part(self.key, self.path)
    }

    /// A part of this item.
    pub fn child(&self, number: u64) -> Self {
        self.part(mix(self.key, number), self.path << 2 | number)
    }

    /// One item made of several.
    pub fn merge(items: &[Self]) -> Self {
        let last = items.last().expect("several items are not none");
        let key = items.iter().fold(items.len() as u64, |key, item| mix(key, item.key));
        // The copies of an item meet again in each lap of a loop with branches. Each flight is kept once, or they would multiply.
        let mut flights: Vec<_> = items.iter().flat_map(|item| item.flights.clone()).collect();
        flights.sort_unstable_by_key(Arc::as_ptr);
        flights.dedup_by_key(|flight| Arc::as_ptr(flight));
        Self::make(last.ledger, flights, key, last.origin, last.path)
    }

    /// This item with the mark of a node.
    pub fn marked(mut self, mark: usize) -> Self {
        self.key = mix(self.key, mark as u64);
        self
    }
}

/// One run of a case: what its closures use, and what they record. It stays in memory, because streams behind iterators own
/// what they use.
#[derive(Debug)]
pub struct World {
    number: usize,
    pub case: Case,
    ledger: Ledger,
    /// Nothing asks the nodes before this one for anything.
    closed: usize,
    /// The most items in flight when the source is asked. `None` if this is not checked.
    bound: Option<usize>,
    /// How many items the sink has in the loop, when the source is asked and when a call that needs results begins.
    before: Vec<usize>,
    pub calls: HashMap<(usize, u64), usize>,
    pub asked: AtomicUsize,
    source_over: AtomicBool,
    /// Whether the source is dropped.
    source_gone: AtomicBool,
    /// How many threads send the items of a channel.
    pub senders: AtomicUsize,
    /// How many states of workers live.
    states: AtomicUsize,
    threads: Mutex<HashSet<ThreadId>>,
    /// The items that each serial step has seen, by its node.
    pub logs: Vec<Mutex<Vec<u64>>>,
    pub delivered: Mutex<Vec<u64>>,
    /// How many items the sink has.
    count: AtomicUsize,
    pub token: CancelToken,
    is_cancelled: AtomicBool,
    is_drained: AtomicBool,
    /// How many times the source was asked after the run was drained.
    pub asked_late: AtomicUsize,
    /// How many calls began after the run was cancelled.
    pub after: AtomicUsize,
    /// Whether the source has waited in vain. Then it does not wait again.
    is_late: AtomicBool,
    violations: Mutex<Vec<String>>,
}

pub type Tried = Result<Item, Planted>;

impl World {
    pub fn new(case: &Case, plain: &Loop) -> &'static Self {
        static WORLDS: AtomicUsize = AtomicUsize::new(0);
        Box::leak(Box::new(Self {
            number: WORLDS.fetch_add(1, Ordering::Relaxed),
            case: case.clone(),
            closed: case.closed(),
            ledger: Ledger { clones: case.clones(), ..Ledger::default() },
            bound: if case.how == How::Inline { None } else { case.bound() },
            before: plain.before.clone(),
            calls: plain.calls.clone(),
            asked: AtomicUsize::new(0),
            source_over: AtomicBool::new(false),
            source_gone: AtomicBool::new(false),
            senders: AtomicUsize::new(0),
            states: AtomicUsize::new(0),
            threads: Mutex::default(),
            logs: (0..case.count_nodes()).map(|_| Mutex::default()).collect(),
            delivered: Mutex::default(),
            count: AtomicUsize::new(0),
            token: CancelToken::new(),
            is_cancelled: AtomicBool::new(false),
            is_drained: AtomicBool::new(false),
            asked_late: AtomicUsize::new(0),
            after: AtomicUsize::new(0),
            is_late: AtomicBool::new(false),
            violations: Mutex::default(),
        }))
    }

    /// Records a violation. It does not panic, since such a panic could be taken for a planted one.
    pub fn violation(&self, what: String) {
        self.violations.lock().unwrap().push(what);
    }

    /// The faults during the run, and the things that are left after it.
    pub fn violations(&self) -> Vec<String> {
        let mut all = self.violations.lock().unwrap().clone();
        // Another thread sends the items of a channel, and those of a stream behind an iterator may end later. Until the source is
        // gone, another item may follow a moment in which all that were made are dropped.
        let leaves = |world: &Self| {
            world.senders.load(Ordering::SeqCst) == 0
                && world.source_gone.load(Ordering::SeqCst)
                && world.ledger.check().is_ok()
                && world.states.load(Ordering::SeqCst) == 0
        };
        let ends_later = self.case.has_iterator() || matches!(self.case.from, From::Channel(_));
        if ends_later && watchdog::comes_true(watchdog::LIMIT / 4, || leaves(self)) {
            return all;
        }
        if !self.source_gone.load(Ordering::SeqCst) {
            all.push("the source is not dropped".into());
        }
        all.extend(self.ledger.check().err());
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

    /// The name of the threads of a run.
    pub fn title(&self) -> String {
        format!("g{:x}", self.number)
    }

    /// A thread records itself once in each world, so that the record does not order all calls.
    fn note_thread(&self) {
        thread_local!(static NOTED: Cell<usize> = const { Cell::new(usize::MAX) });
        if NOTED.replace(self.number) != self.number {
            self.threads.lock().unwrap().insert(thread::current().id());
        }
    }

    fn linger(&self, node: usize, origin: u64) {
        if self.case.how == How::Inline {
            return;
        }
        let dice = mix(origin, node as u64);
        let sleep = |micros| thread::sleep(Duration::from_micros(micros));
        match self.case.delay {
            Delay::Yield => thread::yield_now(),
            Delay::First { micros } if origin == 0 => sleep(micros),
            Delay::Now { one_in, micros } if dice.is_multiple_of(one_in) => sleep(micros),
            Delay::Work { rounds } => _ = std::hint::black_box((0..dice % rounds).fold(dice, mix)),
            Delay::Up { micros } => sleep(dice % micros),
            Delay::At { node: slow, micros } if slow == node => sleep(micros),
            Delay::None | Delay::First { .. } | Delay::Now { .. } | Delay::At { .. } => {}
        }
    }

    /// A new item of a source.
    fn item_of_source(&'static self, origin: u64) -> Item {
        self.ledger.in_flight.fetch_add(1, Ordering::SeqCst);
        Item::make(&self.ledger, vec![Arc::new(Flight(&self.ledger))], mix(origin, 0), origin, 0)
    }

    /// An item that does not come from the source.
    fn item(&'static self, origin: u64) -> Item {
        Item::make(&self.ledger, Vec::new(), mix(origin, 0), origin, 0)
    }

    /// An item that is in a loop from the start.
    pub fn inside(&'static self, number: u64) -> Item {
        self.item(INSIDE + number)
    }

    /// An item of a stream that is put behind or between this one, at `node`.
    pub fn other(&'static self, node: usize, number: u64) -> Item {
        self.note_call(node);
        self.item(OTHERS + number)
    }

    /// Notes that something is asked of a node.
    fn note_call(&self, node: usize) {
        // The thread that sends the items of a channel goes on while there is room.
        if node < self.closed && !(node == SOURCE && matches!(self.case.from, From::Channel(_))) {
            self.violation(format!("node {node} is called, and node {} takes no item", self.closed));
        }
    }

    /// A call of `node` for an item, which may fail. It returns or panics with the planted fault.
    fn try_call(&self, node: usize, origin: u64, path: u64, child: bool) -> Result<(), Planted> {
        self.note_thread();
        self.note_call(node);
        // The token does not stop the stream of which another one takes the items. It ends with that one.
        let is_of_run = node != SOURCE || self.case.from != From::Select;
        if is_of_run && self.is_cancelled.load(Ordering::SeqCst) {
            self.after.fetch_add(1, Ordering::SeqCst);
        }
        self.linger(node, origin);
        let planted = || Planted { node, origin, path, bomb: Bomb::armed() };
        match self.case.fault(node, origin, path, child).map(|fault| fault.kind) {
            None => Ok(()),
            Some(Kind::Error) => Err(planted()),
            Some(Kind::Panic) => panic_any(planted()),
            Some(Kind::Drain) => {
                self.token.drain();
                self.is_drained.store(true, Ordering::SeqCst);
                Ok(())
            }
            Some(kind) => {
                self.token.cancel();
                self.is_cancelled.store(true, Ordering::SeqCst);
                if kind == Kind::CancelAndPanic { panic_any(planted()) } else { Ok(()) }
            }
        }
    }

    pub fn try_visit(&self, node: usize, item: &Item) -> Result<(), Planted> {
        self.try_call(node, item.origin, item.path, false)
    }

    /// A call of `node` that can fail only by a panic.
    pub fn visit(&self, node: usize, item: &Item) {
        self.try_visit(node, item).unwrap_or_else(|planted| panic_any(planted));
    }

    /// A child of an item is made at `node`.
    pub fn try_child(&self, node: usize, parent: &Item, number: u64) -> Tried {
        let child = parent.child(number);
        self.try_call(node, child.origin, child.path, true).map(|()| child)
    }

    /// A call of the serial step `node`.
    pub fn try_meet(&self, node: usize, item: &Item) -> Result<(), Planted> {
        self.logs[node].lock().unwrap().push(item.key);
        self.try_visit(node, item)
    }

    pub fn meet(&self, node: usize, item: &Item) {
        self.try_meet(node, item).unwrap_or_else(|planted| panic_any(planted));
    }

    /// The sink's call.
    pub fn try_deliver(&self, item: &Item) -> Result<(), Planted> {
        self.delivered.lock().unwrap().push(item.key);
        self.count.fetch_add(1, Ordering::SeqCst);
        self.try_visit(SINK, item)
    }

    pub fn deliver(&self, item: &Item) {
        self.try_deliver(item).unwrap_or_else(|planted| panic_any(planted));
    }

    /// Whether the sink has so many items, or nothing is to wait for it.
    pub fn has_come(&self, before: Option<usize>) -> bool {
        let waits = self.case.is_gated && !self.is_late.load(Ordering::Relaxed);
        !waits || before.is_none_or(|before| self.count.load(Ordering::SeqCst) >= before)
    }

    /// Waits until the sink has what the loop would have delivered before `what` happened.
    pub fn pass_gate(&self, before: Option<usize>, what: &str) {
        if !watchdog::comes_true(watchdog::LIMIT / 12, || self.has_come(before)) {
            self.is_late.store(true, Ordering::Relaxed);
            let came = self.count.load(Ordering::SeqCst);
            self.violation(format!("{what} waits: the sink has {came} items, the loop's {before:?}"));
        }
    }

    /// How many items the sink has when the loop asks its source for the item `number`.
    pub fn before(&self, number: u64) -> Option<usize> {
        self.before.get(number as usize).copied()
    }
}

/// The source of a run.
#[derive(Debug)]
pub struct Source {
    pub world: &'static World,
    pub next: u64,
}

impl Drop for Source {
    fn drop(&mut self) {
        self.world.source_gone.store(true, Ordering::SeqCst);
    }
}

impl Iterator for Source {
    type Item = Tried;

    fn next(&mut self) -> Option<Tried> {
        let world = self.world;
        if world.source_over.load(Ordering::SeqCst) {
            world.violation("the source was asked after its end or its failure".into());
        }
        if world.is_drained.load(Ordering::SeqCst) {
            world.asked_late.fetch_add(1, Ordering::SeqCst);
        }
        world.pass_gate(world.before(self.next), "the source");
        let in_flight = world.ledger.in_flight.load(Ordering::SeqCst);
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
        if origin > world.case.items && world.case.lie != Lie::GoesOn {
            return None;
        }
        world.asked.fetch_add(1, Ordering::SeqCst);
        let fault = world.case.fault(SOURCE, origin, 0, false);
        if fault.is_some_and(|fault| matches!(fault.kind, Kind::Error | Kind::Panic)) {
            world.source_over.store(true, Ordering::SeqCst);
        }
        Some(world.try_call(SOURCE, origin, 0, false).map(|()| world.item_of_source(origin)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self.world.case.lie {
            Lie::None | Lie::GoesOn => (0, None),
            Lie::Most(most) => (0, Some(most)),
            Lie::Least(least) => (least, None),
        }
    }
}

/// The state of a worker: made, used and dropped on one thread, and not `Send` (C8).
#[derive(Debug)]
pub struct Local {
    world: &'static World,
    home: ThreadId,
    not_send: std::marker::PhantomData<*const ()>,
}

impl Local {
    pub fn new(world: &'static World) -> Self {
        world.states.fetch_add(1, Ordering::SeqCst);
        Self { world, home: thread::current().id(), not_send: std::marker::PhantomData }
    }

    pub fn check(&self) {
        if self.home != thread::current().id() {
            self.world.violation("a worker's state was met on another thread".into());
        }
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.check();
        self.world.states.fetch_sub(1, Ordering::SeqCst);
    }
}

//! The world of annotated loops. It is a part of a program that the generator writes: it reads runs from a file, and writes a
//! record of each.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use anabranch::{CancelToken, Pool, Report};

use crate::contract_support::planted::{Bomb, Planted, mix};
pub use crate::keys::{children, keeps};

const SOURCE: usize = 0;
const SINK: usize = usize::MAX;

/// How a function ends that does not fail.
pub enum Ended {
    Complete,
    Found(u64),
}

pub type Tried<T> = Result<T, Planted>;
pub type Function = fn(&World) -> Tried<Ended>;

/// How many items live.
static ITEMS: AtomicUsize = AtomicUsize::new(0);

#[derive(Debug)]
pub struct Item {
    pub key: u64,
    pub origin: u64,
    path: u64,
}

impl Item {
    fn new(key: u64, origin: u64, path: u64) -> Self {
        ITEMS.fetch_add(1, Ordering::SeqCst);
        Self { key, origin, path }
    }

    fn child(&self, number: u64) -> Self {
        Self::new(mix(self.key, number), self.origin, self.path << 2 | number)
    }

    pub fn marked(mut self, mark: usize) -> Self {
        self.key = mix(self.key, mark as u64);
        self
    }

    pub fn with_key(mut self, key: u64) -> Self {
        self.key = key;
        self
    }

    /// As it comes out of one branch of several.
    pub fn joined(mut self) -> Self {
        self.key = mix(1, self.key);
        self
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        ITEMS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The state of a worker: used on one thread.
pub struct Local(ThreadId);

impl Local {
    pub fn new() -> Self {
        Self(thread::current().id())
    }

    pub fn check(&self, world: &World) {
        if self.0 != thread::current().id() {
            world.violation("a worker's state was met on another thread".into());
        }
    }
}

struct Fault {
    node: usize,
    origin: u64,
    child: Option<u64>,
    kind: u64,
}

/// The data of a run, and its record.
pub struct World {
    items: u64,
    pub window: usize,
    pub workers: usize,
    pub burst: usize,
    rounds: u64,
    nap_micros: u64,
    before: Vec<usize>,
    faults: Vec<Fault>,
    pub token: CancelToken,
    pub pool: Pool,
    logs: Vec<Mutex<Vec<u64>>>,
    delivered: Mutex<Vec<u64>>,
    count: AtomicUsize,
    asked: AtomicUsize,
    is_over: AtomicBool,
    violations: Mutex<Vec<String>>,
}

impl World {
    fn read(mut next: impl FnMut() -> u64) -> Self {
        let (items, window, workers) = (next(), next() as usize, next() as usize);
        let (burst, rounds, nap_micros, nodes) = (next() as usize, next(), next(), next());
        let before = (0..next()).map(|_| next() as usize).collect();
        let faults = (0..next()).map(|_| Fault {
            node: next() as usize,
            origin: next(),
            child: Some(next()).filter(|&child| child != u64::MAX),
            kind: next(),
        });
        Self {
            items,
            window,
            workers,
            burst,
            rounds,
            nap_micros,
            before,
            faults: faults.collect(),
            token: CancelToken::new(),
            pool: Pool::new(workers),
            logs: (0..nodes).map(|_| Mutex::default()).collect(),
            delivered: Mutex::default(),
            count: AtomicUsize::new(0),
            asked: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            violations: Mutex::default(),
        }
    }

    fn violation(&self, what: String) {
        self.violations.lock().unwrap().push(what);
    }

    pub fn check_report(&self, report: &Report) {
        if report.to_string().is_empty() {
            self.violation("the report is empty".into());
        }
    }

    /// The source. It waits before each item until the sink has what the loop would have given it by then.
    pub fn source(&self) -> impl Iterator<Item = Tried<Item>> + Send {
        let (mut next, mut is_late) = (0, false);
        std::iter::from_fn(move || {
            let begun = Instant::now();
            let before = self.before.get(next as usize).copied().unwrap_or(0);
            // After it has waited in vain, it does not wait again.
            while self.count.load(Ordering::SeqCst) < before && !is_late {
                if begun.elapsed() > Duration::from_secs(30) {
                    self.violation(format!("the source waits: the loop's sink has {before} items"));
                    is_late = true;
                }
                thread::yield_now();
            }
            if self.is_over.load(Ordering::SeqCst) {
                self.violation("the source was asked after its end or its failure".into());
            }
            let origin = next;
            next += 1;
            if origin >= self.items {
                self.is_over.store(true, Ordering::SeqCst);
                return None;
            }
            self.asked.fetch_add(1, Ordering::SeqCst);
            if self.fault(SOURCE, origin, 0, false).is_some_and(|kind| kind < 2) {
                self.is_over.store(true, Ordering::SeqCst);
            }
            Some(self.call(SOURCE, origin, 0, false).map(|()| Item::new(mix(origin, 0), origin, 0)))
        })
    }

    fn fault(&self, node: usize, origin: u64, path: u64, child: bool) -> Option<u64> {
        let is_asked = |fault: &&Fault| {
            (fault.node, fault.origin) == (node, origin) && fault.child.map_or(!child, |number| number == path & 3)
        };
        self.faults.iter().find(is_asked).map(|fault| fault.kind)
    }

    fn call(&self, node: usize, origin: u64, path: u64, child: bool) -> Tried<()> {
        let dice = mix(origin, node as u64);
        if self.rounds > 0 {
            std::hint::black_box((0..dice % self.rounds).fold(dice, mix));
        }
        if self.nap_micros > 0 {
            thread::sleep(Duration::from_micros(dice % self.nap_micros));
        }
        let planted = || Planted { node, origin, path, bomb: Bomb::armed() };
        match self.fault(node, origin, path, child) {
            None => Ok(()),
            Some(0) => Err(planted()),
            Some(1) => panic_any(planted()),
            Some(4) => {
                self.token.drain();
                Ok(())
            }
            Some(kind) => {
                self.token.cancel();
                if kind == 3 { panic_any(planted()) } else { Ok(()) }
            }
        }
    }

    pub fn try_visit(&self, node: usize, item: &Item) -> Tried<()> {
        self.call(node, item.origin, item.path, false)
    }

    pub fn visit(&self, node: usize, item: &Item) {
        self.try_visit(node, item).unwrap_or_else(|planted| panic_any(planted));
    }

    /// A call of a serial step.
    pub fn try_meet(&self, node: usize, item: &Item) -> Tried<()> {
        self.logs[node].lock().unwrap().push(item.key);
        self.try_visit(node, item)
    }

    pub fn meet(&self, node: usize, item: &Item) {
        self.try_meet(node, item).unwrap_or_else(|planted| panic_any(planted));
    }

    pub fn try_child(&self, node: usize, parent: &Item, number: u64) -> Tried<Item> {
        let child = parent.child(number);
        self.call(node, child.origin, child.path, true).map(|()| child)
    }

    pub fn child(&self, node: usize, parent: &Item, number: u64) -> Item {
        self.try_child(node, parent, number).unwrap_or_else(|planted| panic_any(planted))
    }

    pub fn try_deliver(&self, item: &Item) -> Tried<()> {
        self.delivered.lock().unwrap().push(item.key);
        self.count.fetch_add(1, Ordering::SeqCst);
        self.try_visit(SINK, item)
    }

    pub fn deliver(&self, item: &Item) {
        self.try_deliver(item).unwrap_or_else(|planted| panic_any(planted));
    }

    /// Runs a function and writes the record.
    fn run(&self, function: Function) {
        let place = |planted: Planted| {
            planted.bomb.disarm();
            format!("{} {} {}", planted.node, planted.origin, planted.path)
        };
        let ended = match catch_unwind(AssertUnwindSafe(|| function(self))) {
            Ok(Ok(Ended::Complete)) => "complete".to_owned(),
            Ok(Ok(Ended::Found(key))) => format!("found {key}"),
            Ok(Err(planted)) => format!("error {}", place(planted)),
            Err(payload) => match payload.downcast::<Planted>() {
                Ok(planted) => format!("panic {}", place(*planted)),
                Err(payload) => resume_unwind(payload),
            },
        };
        let items = ITEMS.load(Ordering::SeqCst);
        if items != 0 {
            self.violation(format!("{items} items are left"));
        }
        let line = |name: String, numbers: &Mutex<Vec<u64>>| {
            let numbers = numbers.lock().unwrap();
            let words: Vec<String> = numbers.iter().map(u64::to_string).collect();
            println!("{name} {}", words.join(" "));
        };
        line("delivered".into(), &self.delivered);
        self.logs.iter().enumerate().for_each(|(node, log)| line(format!("log {node}"), log));
        println!("asked {}", self.asked.load(Ordering::SeqCst));
        self.violations.lock().unwrap().iter().for_each(|what| println!("violation {what}"));
        println!("{ended}");
    }
}

/// Runs the functions as the file says that the first argument names. Each of its lines has the number of a function first.
pub fn run(functions: &[Function]) {
    std::panic::set_hook(Box::new(|info| {
        if !info.payload().is::<Planted>() {
            eprintln!("{info}");
        }
    }));
    let file = std::env::args().nth(1).expect("a file of runs");
    for line in std::fs::read_to_string(file).expect("a file of runs").lines() {
        let mut numbers = line.split_whitespace().map(|word| word.parse::<u64>().expect("a number"));
        let mut next = || numbers.next().expect("one number more");
        let function = functions[next() as usize];
        World::read(next).run(function);
    }
}

//! Streams with branches keep the contract: random graphs are compared with the loop that each of them stands for.
//!
//! `GRAPHS=20000 cargo test -p anabranch --release --test integration branches::` runs more graphs.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::contract_support::watchdog::{PLANTED, hush, message, within};
use anabranch::{Pool, Stream, TryBoxStream};

/// A stage of a random graph. Each has a number, which faults name.
#[derive(Debug, Clone)]
enum Stage {
    Map(u64),
    /// Drops every item whose value is divisible by the second number.
    Filter(u64, u64),
    TryMap(u64),
    /// Adds the values so far.
    Serial(u64),
    /// Drops every item whose number in this stage is divisible by the second number.
    SerialFilter(u64, u64),
    /// Passes on so many items.
    Take(u64, usize),
    Fork(u64, Fork, Vec<Vec<Stage>>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fork {
    Zip,
    Join,
    InTurn,
}

/// A token that knows how many of its kind live.
#[derive(Debug)]
struct Token {
    origin: u64,
    value: u64,
    live: Arc<AtomicI64>,
}

impl Token {
    fn new(origin: u64, value: u64, live: &Arc<AtomicI64>) -> Self {
        live.fetch_add(1, Ordering::Relaxed);
        Self { origin, value, live: Arc::clone(live) }
    }

    fn with(&self, value: u64) -> Self {
        Self::new(self.origin, value, &self.live)
    }
}

impl Clone for Token {
    fn clone(&self) -> Self {
        self.with(self.value)
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        self.live.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a stage does when it sees the item of an origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fault {
    stage: u64,
    origin: u64,
    panics: bool,
}

#[derive(Debug, Clone)]
struct Graph {
    items: u64,
    stages: Vec<Stage>,
    /// Branches that are merged at the end. The first of them gives each result twice.
    merge: Option<Vec<Vec<Stage>>>,
    faults: Vec<Fault>,
    /// How many stages have numbers. The end has the next number.
    numbers: u64,
}

struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) % n
    }
}

impl Graph {
    fn new(seed: u64) -> Self {
        let random = &mut Random::new(seed);
        let mut numbers = 0;
        let stages = Self::stages(random, &mut numbers, 2);
        let merge = (random.below(3) == 0).then(|| Self::branches(random, &mut numbers, 1));
        let items = random.below(60);
        let fault = |random: &mut Random| Fault {
            stage: random.below(numbers + 1),
            origin: random.below(items + 1),
            panics: random.below(2) == 0,
        };
        let faults = (0..random.below(5)).map(|_| fault(random)).collect();
        Self { items, stages, merge, faults, numbers }
    }

    fn branches(random: &mut Random, numbers: &mut u64, depth: u32) -> Vec<Vec<Stage>> {
        (0..1 + random.below(3)).map(|_| Self::stages(random, numbers, depth)).collect()
    }

    fn stages(random: &mut Random, numbers: &mut u64, depth: u32) -> Vec<Stage> {
        (0..random.below(4)).map(|_| Self::stage(random, numbers, depth)).collect()
    }

    fn stage(random: &mut Random, numbers: &mut u64, depth: u32) -> Stage {
        let number = *numbers;
        *numbers += 1;
        match random.below(if depth > 0 { 12 } else { 9 }) {
            0 | 1 => Stage::Map(number),
            2 => Stage::Filter(number, 2 + random.below(4)),
            3 | 4 => Stage::TryMap(number),
            5 | 6 => Stage::Serial(number),
            7 => Stage::SerialFilter(number, 2 + random.below(4)),
            8 => Stage::Take(number, 1 + random.below(60) as usize),
            fork => {
                let fork = [Fork::Zip, Fork::Join, Fork::InTurn][fork as usize - 9];
                Stage::Fork(number, fork, Self::branches(random, numbers, depth - 1))
            }
        }
    }
}

fn mixed(value: u64, number: u64) -> u64 {
    (value ^ (number + 1).wrapping_mul(0x2545_F491_4F6C_DD1D)).rotate_left(17)
}

/// What the end has seen, and how the run ended.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    seen: Vec<(u64, u64)>,
    end: Result<(), Fault>,
}

/// The loop that a graph stands for.
struct Loop<'g> {
    graph: &'g Graph,
    /// What serial stages keep.
    states: HashMap<u64, u64>,
}

impl Loop<'_> {
    fn run(graph: &Graph) -> Outcome {
        let mut this = Loop { graph, states: HashMap::new() };
        let mut seen = Vec::new();
        let end = (0..graph.items).try_for_each(|origin| this.item(origin, &mut seen));
        Outcome { seen, end: end.or_else(|stopped| stopped.map_or(Ok(()), Err)) }
    }

    /// Breaks with the fault, or with none if the loop is over.
    fn item(&mut self, origin: u64, seen: &mut Vec<(u64, u64)>) -> Result<(), Option<Fault>> {
        let (value, mut ends) = self.through(&self.graph.stages, origin, origin)?;
        let results = match (&self.graph.merge, value) {
            (Some(branches), Some(value)) => {
                let mut results = Vec::new();
                for (number, branch) in branches.iter().enumerate() {
                    let (value, ends_here) = self.through(branch, origin, value)?;
                    ends |= ends_here;
                    results.extend(
                        value.into_iter().flat_map(|value| vec![value; if number == 0 { 2 } else { 1 }]),
                    );
                }
                results
            }
            (_, value) => Vec::from_iter(value),
        };
        for value in results {
            self.fault(self.graph.numbers, origin, true)?;
            seen.push((origin, value));
        }
        if ends { Err(None) } else { Ok(()) }
    }

    fn fault(&self, stage: u64, origin: u64, may_fail: bool) -> Result<(), Option<Fault>> {
        match fault_at(&self.graph.faults, stage, origin).filter(|fault| may_fail || fault.panics) {
            Some(fault) => Err(Some(fault)),
            None => Ok(()),
        }
    }

    /// What the stages give for an item, and whether the stream ends with it.
    fn through(
        &mut self,
        stages: &[Stage],
        origin: u64,
        value: u64,
    ) -> Result<(Option<u64>, bool), Option<Fault>> {
        let (mut value, mut ends) = (value, false);
        for stage in stages {
            let (&number, may_fail) = match stage {
                Stage::TryMap(number) => (number, true),
                Stage::Map(number)
                | Stage::Filter(number, _)
                | Stage::Serial(number)
                | Stage::SerialFilter(number, _)
                | Stage::Take(number, _)
                | Stage::Fork(number, ..) => (number, false),
            };
            if !matches!(stage, Stage::Take(..) | Stage::Fork(..)) {
                self.fault(number, origin, may_fail)?;
            }
            let state = self.states.entry(number).or_default();
            match stage {
                Stage::Map(_) | Stage::TryMap(_) => value = mixed(value, number),
                Stage::Filter(_, divisor) if value.is_multiple_of(*divisor) => return Ok((None, ends)),
                Stage::Filter(..) => {}
                Stage::Serial(_) => {
                    *state = state.wrapping_add(value);
                    value = *state;
                }
                Stage::SerialFilter(_, divisor) => {
                    *state += 1;
                    if state.is_multiple_of(*divisor) {
                        return Ok((None, ends));
                    }
                }
                Stage::Take(_, count) => {
                    *state += 1;
                    ends |= *state == *count as u64;
                }
                Stage::Fork(_, fork, branches) => {
                    *state += 1;
                    let chosen = match fork {
                        Fork::Join => Some(value % branches.len() as u64),
                        Fork::InTurn => Some((*state - 1) % branches.len() as u64),
                        Fork::Zip => None,
                    };
                    let mut results = Vec::new();
                    for (at, branch) in branches.iter().enumerate() {
                        if chosen.is_none_or(|chosen| chosen == at as u64) {
                            let (result, ends_here) = self.through(branch, origin, value)?;
                            ends |= ends_here;
                            results.push(result);
                        }
                    }
                    let Some(results) = results.into_iter().collect::<Option<Vec<u64>>>() else {
                        return Ok((None, ends));
                    };
                    value = results.into_iter().fold(number, mixed);
                }
            }
        }
        Ok((Some(value), ends))
    }
}

fn fault_at(faults: &[Fault], stage: u64, origin: u64) -> Option<Fault> {
    faults.iter().copied().find(|fault| fault.stage == stage && fault.origin == origin)
}

/// The faults of a run, and a seed for how long stages take.
struct World {
    faults: Vec<Fault>,
    seed: u64,
}

impl World {
    /// Takes some time, and fails if that is planted here.
    fn meet(&self, stage: u64, item: &Token) -> Result<(), Fault> {
        let mut random = Random::new(self.seed ^ mixed(item.origin, stage));
        match random.below(8) {
            0 => std::thread::yield_now(),
            1 => (0..random.below(2_000)).for_each(|n| _ = std::hint::black_box(n)),
            _ => {}
        }
        match fault_at(&self.faults, stage, item.origin) {
            Some(fault) if fault.panics => panic!("{PLANTED}{stage} at {}", item.origin),
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }
}

type Line<'w> = TryBoxStream<'w, Token, Fault>;

/// Adds stages to a stream.
fn add<'w>(stages: &'w [Stage], mut line: Line<'w>, world: &'w World) -> Line<'w> {
    for stage in stages {
        line = match *stage {
            Stage::Map(number) => line
                .map(move |item| {
                    let _ = world.meet(number, &item);
                    item.with(mixed(item.value, number))
                })
                .boxed(),
            Stage::TryMap(number) => line
                .try_map(move |item| world.meet(number, &item).map(|()| item.with(mixed(item.value, number))))
                .boxed(),
            Stage::Filter(number, divisor) => line
                .filter(move |item| {
                    let _ = world.meet(number, item);
                    !item.value.is_multiple_of(divisor)
                })
                .boxed(),
            Stage::Serial(number) => {
                let mut sum = 0u64;
                line.serial(move |item| {
                    let _ = world.meet(number, &item);
                    sum = sum.wrapping_add(item.value);
                    item.with(sum)
                })
            }
            Stage::SerialFilter(number, divisor) => {
                let mut count = 0u64;
                line.serial_filter_map(move |item| {
                    let _ = world.meet(number, &item);
                    count += 1;
                    (!count.is_multiple_of(divisor)).then_some(item)
                })
            }
            Stage::Take(_, count) => line.take(count),
            Stage::Fork(number, fork, ref branches) => {
                let joined = match fork {
                    Fork::Zip => zipped(line, branches, world),
                    Fork::Join => {
                        let count = branches.len() as u64;
                        joined(line.split(move |item| (item.value % count) as usize), branches, world)
                    }
                    _ => joined(line.split_in_turn(), branches, world),
                };
                joined
                    .map(move |items| {
                        let value = items.iter().fold(number, |value, item| mixed(value, item.value));
                        items[0].with(value)
                    })
                    .boxed()
            }
        };
    }
    line
}

type Several<'w> = TryBoxStream<'w, Vec<Token>, Fault>;

fn zipped<'w>(line: Line<'w>, branches: &'w [Vec<Stage>], world: &'w World) -> Several<'w> {
    let fork = line.broadcast();
    match branches {
        [a] => fork.branch(|line| add(a, line, world)).zip().map(|(a,)| vec![a]).boxed(),
        [a, b] => fork
            .branch(|line| add(a, line, world))
            .branch(|line| add(b, line, world))
            .zip()
            .map(|(a, b)| vec![a, b])
            .boxed(),
        [a, b, c] => fork
            .branch(|line| add(a, line, world))
            .branch(|line| add(b, line, world))
            .branch(|line| add(c, line, world))
            .zip()
            .map(|(a, b, c)| vec![a, b, c])
            .boxed(),
        _ => unreachable!("a fork has 1 to 3 branches"),
    }
}

fn joined<'w, R: 'w>(
    fork: anabranch::Branches<
        'w,
        anabranch::Split<R>,
        Token,
        anabranch::May<Fault>,
        anabranch::May<Fault>,
        (),
    >,
    branches: &'w [Vec<Stage>],
    world: &'w World,
) -> Several<'w> {
    let joined = match branches {
        [a] => fork.branch(|line| add(a, line, world)).join(),
        [a, b] => fork.branch(|line| add(a, line, world)).branch(|line| add(b, line, world)).join(),
        [a, b, c] => fork
            .branch(|line| add(a, line, world))
            .branch(|line| add(b, line, world))
            .branch(|line| add(c, line, world))
            .join(),
        _ => unreachable!("a fork has 1 to 3 branches"),
    };
    joined.map(|item| vec![item]).boxed()
}

/// Where a graph runs.
#[derive(Debug, Clone, Copy)]
enum On<'p> {
    Inline,
    Threads(usize),
    Pool(&'p Pool, usize),
}

fn run(graph: &Graph, on: On<'_>, window: usize, seed: u64) -> Outcome {
    let world = &World { faults: graph.faults.clone(), seed };
    let live = Arc::new(AtomicI64::new(0));
    let mut seen = Vec::new();
    let end = catch_unwind(AssertUnwindSafe(|| {
        let count = Arc::clone(&live);
        let source = Stream::from_iter((0..graph.items).map(move |n| Token::new(n, n, &count)));
        let source = TryBoxStream::<Token, Fault>::from(source);
        let source = match on {
            On::Inline => source.inline(),
            On::Threads(workers) => source.workers(workers),
            On::Pool(pool, workers) => source.pool(pool).workers(workers),
        };
        let line = add(&graph.stages, source.window(window), world);
        let end = |item: Token| {
            world.meet(graph.numbers, &item)?;
            seen.push((item.origin, item.value));
            Ok(())
        };
        let Some(branches) = &graph.merge else { return line.try_for_each(end) };
        let fork = line.broadcast();
        let twice = |item: Token| [item.clone(), item];
        match &branches[..] {
            [a] => fork.branch(|line| add(a, line, world).flat_map(twice)).merge().try_for_each(end),
            [a, b] => fork
                .branch(|line| add(a, line, world).flat_map(twice))
                .branch(|line| add(b, line, world))
                .merge()
                .try_for_each(end),
            [a, b, c] => fork
                .branch(|line| add(a, line, world).flat_map(twice))
                .branch(|line| add(b, line, world))
                .branch(|line| add(c, line, world))
                .merge()
                .try_for_each(end),
            _ => unreachable!("a fork has 1 to 3 branches"),
        }
    }));
    let end = end.unwrap_or_else(|payload| {
        let text = message(&*payload);
        let fault =
            |fault: &&Fault| fault.panics && text == format!("{PLANTED}{} at {}", fault.stage, fault.origin);
        Err(*graph.faults.iter().find(fault).unwrap_or_else(|| panic!("an unplanned panic: {text}")))
    });
    assert_eq!(live.load(Ordering::Relaxed), 0, "every item is dropped exactly once");
    Outcome { seen, end }
}

/// How many random graphs a test runs.
fn graphs(usual: u64) -> u64 {
    std::env::var("GRAPHS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn random_graphs_give_what_the_loop_gives() {
    hush();
    let pool = Arc::new(Pool::new(3));
    for seed in 0..graphs(600) {
        let pool = Arc::clone(&pool);
        within(move || {
            let graph = Graph::new(seed);
            let expected = Loop::run(&graph);
            let random = &mut Random::new(!seed);
            let window = 1 + random.below(9) as usize;
            let workers = 2 + random.below(3) as usize;
            for on in [On::Inline, On::Threads(workers), On::Pool(&pool, workers)] {
                let outcome = run(&graph, on, window, seed);
                assert_eq!(outcome, expected, "seed {seed} on {on:?}, window {window}: {graph:#?}");
            }
        });
    }
}

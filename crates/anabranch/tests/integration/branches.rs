//! Streams with branches keep the contract: random graphs are compared with the loop that each of them stands for.
//!
//! `PROPTEST_RNG_SEED=$RANDOM PROPTEST_CASES=20000 cargo test -p anabranch --release --test integration branches::` runs more and
//! other graphs.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};

use crate::contract_support::random;
use crate::contract_support::watchdog::{Gate, PLANTED, hush, message, panic_of, within};
use anabranch::{CancelToken, InTurn, Lap, Monitor, Pool, Stream, TryStream};
use proptest::prelude::*;

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

/// A feedback behind the stages of the main line.
#[derive(Debug, Clone)]
struct Feedback {
    places: usize,
    /// How many items are in the loop from the start.
    first: u64,
    stages: Vec<Stage>,
    /// Whether some items become two.
    doubles: bool,
}

impl Feedback {
    /// The laps of an item that has come through the stages.
    fn laps(&self, value: u64) -> Vec<Lap<u64, u64>> {
        match value % 8 {
            0..3 => vec![Lap::Done(value)],
            3 => vec![],
            4 if self.doubles => {
                vec![Lap::Again(mixed(value, 1)), Lap::Done(value), Lap::Again(mixed(value, 2))]
            }
            _ => vec![Lap::Again(mixed(value, 3))],
        }
    }
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
    feedback: Option<Feedback>,
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
        let feedback = (random.below(2) == 0).then(|| Feedback {
            places: match random.below(8) {
                0 => usize::MAX - random.below(3) as usize,
                _ => 1 + random.below(12) as usize,
            },
            first: random.below(4),
            stages: Self::stages(random, &mut numbers, 1),
            doubles: random.below(2) == 0,
        });
        let merge = (random.below(3) == 0).then(|| Self::branches(random, &mut numbers, 1));
        let items = random.below(60);
        let fault = |random: &mut Random| Fault {
            stage: random.below(numbers + 1),
            origin: random.below(items + 1),
            panics: random.below(2) == 0,
        };
        let faults = (0..random.below(5)).map(|_| fault(random)).collect();
        Self { items, stages, feedback, merge, faults, numbers }
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
        let end = match &graph.feedback {
            Some(feedback) => this.rounds(feedback, &mut seen),
            None => (0..graph.items).try_for_each(|origin| {
                let (value, ends) = this.through(&graph.stages, origin, origin)?;
                this.merged(origin, Vec::from_iter(value), ends, &mut seen)
            }),
        };
        Outcome { seen, end: end.or_else(|stopped| stopped.map_or(Ok(()), Err)) }
    }

    /// The loop of a feedback. Breaks with the fault, or with none if the loop is over.
    fn rounds(&mut self, feedback: &Feedback, seen: &mut Vec<(u64, u64)>) -> Result<(), Option<Fault>> {
        let first = |n: u64| (0, FIRST + n, mixed(n, 5));
        let mut waiting: VecDeque<(u64, u64, u64)> = (0..feedback.first).map(first).collect();
        let (mut origins, mut source_ends) = (0..self.graph.items, false);
        for place in 0u64.. {
            let due = waiting.front().is_some_and(|&(due, ..)| due <= place);
            let mut item = None;
            while !due && !source_ends && item.is_none() {
                let Some(origin) = origins.next() else { break };
                let (value, ends) = self.through(&self.graph.stages, origin, origin)?;
                item = value.map(|value| (origin, value));
                source_ends = ends;
            }
            let again = |(_, origin, value)| (origin, value);
            let Some((origin, value)) = item.or_else(|| waiting.pop_front().map(again)) else { break };
            let (value, ends) = self.through(&feedback.stages, origin, value)?;
            let mut results = Vec::new();
            for lap in value.map_or(Vec::new(), |value| feedback.laps(value)) {
                match lap {
                    Lap::Again(value) => {
                        waiting.push_back((place.saturating_add(feedback.places as u64), origin, value));
                    }
                    Lap::Done(value) => results.push(value),
                }
            }
            self.merged(origin, results, ends, seen)?;
        }
        Ok(())
    }

    /// The end of the main line, for the items of one index. The stream ends behind them if it `ends`.
    fn merged(
        &mut self,
        origin: u64,
        values: Vec<u64>,
        ends: bool,
        seen: &mut Vec<(u64, u64)>,
    ) -> Result<(), Option<Fault>> {
        for value in values {
            let Some(branches) = &self.graph.merge else {
                self.end(origin, value, seen)?;
                continue;
            };
            let (mut results, mut ends_here) = (Vec::new(), false);
            for (number, branch) in branches.iter().enumerate() {
                let (value, ends) = self.through(branch, origin, value)?;
                ends_here |= ends;
                results
                    .extend(value.into_iter().flat_map(|value| vec![value; if number == 0 { 2 } else { 1 }]));
            }
            results.into_iter().try_for_each(|value| self.end(origin, value, seen))?;
            if ends_here {
                return Err(None);
            }
        }
        if ends { Err(None) } else { Ok(()) }
    }

    fn end(&self, origin: u64, value: u64, seen: &mut Vec<(u64, u64)>) -> Result<(), Option<Fault>> {
        self.fault(self.graph.numbers, origin, true)?;
        seen.push((origin, value));
        Ok(())
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

/// The origin of the first item that is in a loop from the start.
const FIRST: u64 = 1_000;

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

type Line<'w> = TryStream<'w, Token, Fault>;

/// Adds stages to a stream.
fn add<'w>(stages: &'w [Stage], mut line: Line<'w>, world: &'w World) -> Line<'w> {
    for stage in stages {
        line = match *stage {
            Stage::Map(number) => line.map(move |item| {
                let _ = world.meet(number, &item);
                item.with(mixed(item.value, number))
            }),
            Stage::TryMap(number) => line.try_map(move |item| {
                world.meet(number, &item).map(|()| item.with(mixed(item.value, number)))
            }),
            Stage::Filter(number, divisor) => line.filter(move |item| {
                let _ = world.meet(number, item);
                !item.value.is_multiple_of(divisor)
            }),
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
                        joined(line.split(move |item: &Token| (item.value % count) as usize), branches, world)
                    }
                    _ => joined(line.split(InTurn::new()), branches, world),
                };
                joined.map(move |items| {
                    let value = items.iter().fold(number, |value, item| mixed(value, item.value));
                    items[0].with(value)
                })
            }
        };
    }
    line
}

type Several<'w> = TryStream<'w, Vec<Token>, Fault>;

fn zipped<'w>(line: Line<'w>, branches: &'w [Vec<Stage>], world: &'w World) -> Several<'w> {
    let fork = line.broadcast();
    match branches {
        [a] => fork.branch(|line| add(a, line, world)).zip().map(|(a,)| vec![a]),
        [a, b] => fork
            .branch(|line| add(a, line, world))
            .branch(|line| add(b, line, world))
            .zip()
            .map(|(a, b)| vec![a, b]),
        [a, b, c] => fork
            .branch(|line| add(a, line, world))
            .branch(|line| add(b, line, world))
            .branch(|line| add(c, line, world))
            .zip()
            .map(|(a, b, c)| vec![a, b, c]),
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
    joined.map(|item| vec![item])
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
        let source = TryStream::<Token, Fault>::from(source);
        let source = match on {
            On::Inline => source.inline(),
            On::Threads(workers) => source.workers(workers),
            On::Pool(pool, workers) => source.pool(pool).workers(workers),
        };
        let mut line = add(&graph.stages, source.window(window), world);
        if let Some(feedback) = &graph.feedback {
            let first = (0..feedback.first).map(|n| Token::new(FIRST + n, mixed(n, 5), &live));
            let lap = |item: Token| {
                let lap = |lap| match lap {
                    Lap::Again(value) => Lap::Again(item.with(value)),
                    Lap::Done(value) => Lap::Done(item.with(value)),
                };
                feedback.laps(item.value).into_iter().map(lap).collect::<Vec<_>>()
            };
            let laps = line.feedback_from(first, feedback.places, |line| {
                add(&feedback.stages, line, world).flat_map(lap)
            });
            line = laps;
        }
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

#[test]
fn random_graphs_give_what_the_loop_gives() {
    hush();
    let pool = Arc::new(Pool::new(3));
    random::for_all(random::config(600), any::<u64>().no_shrink(), |seed| {
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
        Ok(())
    });
}

#[test]
fn serial_stages_of_two_branches_run_at_the_same_time() {
    within(|| {
        let meeting = Barrier::new(2);
        let meet = |n: u32| {
            meeting.wait();
            n
        };
        let pairs = Stream::from_iter(0..100)
            .workers(2)
            .broadcast()
            .branch(|items| items.serial(meet))
            .branch(|items| items.serial(meet))
            .zip();
        assert_eq!(pairs.count(), 100);
    });
}

#[test]
fn a_branch_is_at_most_one_window_ahead() {
    within(|| {
        let (slow, ahead) = (AtomicU64::new(0), AtomicU64::new(0));
        let pairs = Stream::from_iter(0..2_000u64)
            .workers(3)
            .window(16)
            .broadcast()
            .branch(|items| {
                items.serial(|n| {
                    ahead.fetch_max(n - slow.load(Ordering::SeqCst).min(n), Ordering::SeqCst);
                })
            })
            .branch(|items| {
                items.serial(|n| {
                    (0..200).for_each(|n| _ = std::hint::black_box(n));
                    slow.store(n, Ordering::SeqCst);
                })
            })
            .zip();
        assert_eq!(pairs.count(), 2_000);
        assert!(ahead.load(Ordering::SeqCst) <= 16, "{ahead:?}");
    });
}

#[test]
fn a_result_of_branches_does_not_wait_for_the_source() {
    within(|| {
        for workers in [1, 2, 3] {
            let seen = Gate::default();
            let mut given = 0;
            // The source gives its second item only after the result of the first one was seen.
            let source = Stream::from_iter(std::iter::from_fn(|| {
                given += 1;
                if given == 2 {
                    seen.pass();
                }
                (given <= 2).then_some(given)
            }));
            let pairs = source
                .workers(workers)
                .broadcast()
                .branch(|items| items.map(|n| n + 1))
                .branch(|items| items.serial(|n| n + 2))
                .zip();
            pairs.for_each(|_| seen.open());
        }
    });
}

#[test]
fn an_item_in_a_loop_does_not_wait_for_the_source() {
    within(|| {
        for workers in [1, 2] {
            let seen = Gate::default();
            let mut given = 0;
            let source = Stream::from_iter(std::iter::from_fn(|| {
                given += 1;
                if given == 2 {
                    seen.pass();
                }
                (given <= 2).then_some(given)
            }));
            let lap = |n: i32| if n < 100 { Lap::Again(n + 10) } else { Lap::Done(n) };
            source.workers(workers).feedback(1, |laps| laps.map(lap)).for_each(|_| seen.open());
        }
    });
}

#[test]
fn an_end_that_breaks_off_stops_branches_and_loops() {
    within(|| {
        let live = Arc::new(AtomicI64::new(0));
        let count = Arc::clone(&live);
        let numbers = Stream::from_iter((0..).map(move |n| Token::new(n, n, &count)));
        let lap = |item: Token| {
            if item.value.is_multiple_of(3) { Lap::Done(item) } else { Lap::Again(item.with(item.value + 1)) }
        };
        let found = numbers
            .workers(3)
            .window(32)
            .broadcast()
            .branch(|items| items.map(|item| item))
            .branch(|items| items.serial(|item| item))
            .merge()
            .feedback(8, |laps| laps.map(lap))
            .find(|item| item.origin == 500);
        assert_eq!(found.map(|item| item.origin), Some(500));
        assert_eq!(live.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn a_token_stops_branches_and_loops() {
    within(|| {
        let token = CancelToken::new();
        let stop = token.clone();
        let lap = |n: u64| Lap::<u64, u64>::Again(n + 1);
        let endless = Stream::from_iter(0..10u64).workers(2).cancel(&token);
        let endless = endless.broadcast().branch(|items| items).branch(|items| items.map(|n| n)).merge();
        let endless = endless.feedback(4, |laps| laps.map(lap).inspect(move |_| stop.cancel()));
        assert_eq!(endless.count(), 0);
        assert!(token.stopped().is_some());
    });
}

#[test]
fn many_items_come_of_one_in_a_loop() {
    within(|| {
        // A tree of 2^15 leaves.
        let grow = |(depth, n): (u32, u64)| {
            if depth == 15 {
                vec![Lap::Done(n)]
            } else {
                vec![Lap::Again((depth + 1, 2 * n)), Lap::Again((depth + 1, 2 * n + 1))]
            }
        };
        let leaves = |workers: usize| {
            let stream = Stream::from_iter([(0, 0u64)]).workers(workers).window(64);
            stream.feedback(64, |nodes| nodes.flat_map(grow)).collect::<Vec<_>>()
        };
        let alone = leaves(1);
        assert_eq!(leaves(3), alone);
        let mut sorted = alone;
        sorted.sort_unstable();
        assert_eq!(sorted, (0..1 << 15).collect::<Vec<u64>>());
    });
}

#[test]
fn a_farm_of_workers_that_differ_keeps_the_order() {
    within(|| {
        let mut calls = [0, 0, 0];
        let workers: Vec<Box<dyn FnMut(u64) -> u64 + Send>> = calls
            .iter_mut()
            .map(|calls| -> Box<dyn FnMut(u64) -> u64 + Send> {
                Box::new(move |n| {
                    *calls += 1;
                    n * n
                })
            })
            .collect();
        let squares = Stream::from_iter(0..1_000).workers(4).farm(workers).collect::<Vec<_>>();
        assert_eq!(squares, (0..1_000).map(|n| n * n).collect::<Vec<_>>());
        assert_eq!(calls.iter().sum::<u64>(), 1_000);
    });
}

#[test]
fn a_farm_fails_as_the_loop_would() {
    hush();
    within(|| {
        for workers in 1..4 {
            let fails = |n: u64| if n % 50 == 49 { Err(n) } else { Ok(n) };
            let failed = Stream::from_iter(0..1_000).workers(workers).try_farm([fails; 3]).count();
            assert_eq!(failed, Err(49));
            let panics = |n: u64| assert!(n % 50 != 49, "{PLANTED}{n}");
            let run = || Stream::from_iter(0..1_000).workers(workers).farm([panics; 3]).count();
            assert_eq!(message(&*panic_of(run)), format!("{PLANTED}49"));
        }
    });
}

#[test]
fn errors_of_branches_become_one_error() {
    let parse = |text: &str| text.parse::<u32>().map_err(|_| text.len());
    let run = |texts: [&'static str; 2]| {
        Stream::from_iter(texts)
            .broadcast()
            .branch(|texts| texts.try_map(parse))
            .branch(|texts| texts.map(str::len))
            .branch(|texts| texts.try_serial(|text| text.parse::<i8>()).map_err(|_| 0))
            .zip()
            .collect::<Vec<_>>()
    };
    assert_eq!(run(["1", "20"]), Ok(vec![(1, 1, 1), (20, 2, 20)]));
    assert_eq!(run(["1", "x"]), Err(1));
    assert_eq!(run(["300", "x"]), Err(0));
}

#[test]
fn what_cannot_be_in_a_branch_says_so() {
    hush();
    let told = |body: &mut dyn FnMut()| message(&*panic_of(body));
    let spread = told(&mut || {
        let _ = Stream::from_iter(0..2).broadcast().branch(|items| items.serial_flat_map(|n| 0..n));
    });
    assert!(spread.contains("use `flat_map` in the branch"), "{spread}");
    let unordered = told(&mut || {
        let _ = Stream::from_iter(0..2).broadcast().branch(|items| items.unordered());
    });
    assert!(unordered.contains("use `unordered` before the fork"), "{unordered}");
    let other = told(&mut || {
        let _ = Stream::from_iter(0..2).broadcast().branch(|_| Stream::from_iter(0..2));
    });
    assert!(other.contains("must return the stream that it was given"), "{other}");
    let looped = told(&mut || {
        let lap = Lap::<i32, i32>::Done;
        let _ = Stream::from_iter(0..2).feedback(1, |laps| laps.spread().map(lap));
    });
    assert!(looped.contains("a stage of a feedback must not"), "{looped}");
}

#[test]
fn a_plan_shows_branches_and_loops() {
    let stream = Stream::from_iter(0..10u64)
        .broadcast()
        .branch(|items| items.map(|n| n).name("double"))
        .branch(|items| items.serial(|n| n).name("count"))
        .zip()
        .map(|(n, _)| n)
        .feedback(8, |laps| laps.map(Lap::<u64, u64>::Done));
    let plan = stream.plan();
    assert_eq!(plan.validate(), Ok(()));
    let text = plan.to_string();
    for part in
        ["branch 1", "branch 2", "to count (#3)", "to zip (#4)", "again 8 places later, to feedback (#6)"]
    {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    let dot = plan.to_dot();
    for part in ["n1 -> n2", "n1 -> n3", "n2 -> n4", "n3 -> n4", "n8 -> n6", "style=dotted"] {
        assert!(dot.contains(part), "{part} is missing in\n{dot}");
    }
    assert!(plan.to_svg().contains("again 8 places later"));
    assert_eq!(stream.count(), 10);
}

#[test]
fn reports_and_monitors_see_branches_and_loops() {
    within(|| {
        let monitor = Monitor::new();
        let lap = |n: u64| if n < 1_000 { Lap::Again(n + 300) } else { Lap::Done(n) };
        let stream = Stream::from_iter(0..1_000u64).workers(2).watch(&monitor);
        let stream =
            stream.broadcast().branch(|items| items.map(|n| n)).branch(|items| items.serial(|n| n)).merge();
        let (count, report) = stream.feedback(16, |laps| laps.map(lap)).report().count();
        assert_eq!(count, 2_000);
        let items = |name: &str| report.nodes().iter().find(|node| node.name == name).map(|node| node.items);
        assert_eq!((items("broadcast"), items("feedback")), (Some(1_000), Some(2_000)), "{report}");
    });
}

#[test]
fn branches_follow_blocks_and_streams_without_order() {
    within(|| {
        let squares = |workers: usize| {
            let stream = Stream::from_range(0..5_000).workers(workers).map(|n| n + 1).broadcast();
            let stream = stream.branch(|items| items.map(|n| n * n)).branch(|items| items.serial(|n| n));
            stream.zip().collect::<Vec<(u64, u64)>>()
        };
        assert_eq!(squares(3), squares(1));
        let stream = Stream::from_iter(0..2_000u64).workers(3).unordered().map(|n| n + 1).broadcast();
        let pairs = stream.branch(|items| items.map(|n| n * n)).branch(|items| items.serial(|n| n)).zip();
        let mut pairs: Vec<(u64, u64)> = pairs.collect();
        pairs.sort_unstable();
        assert_eq!(pairs, (1..=2_000).map(|n| (n * n, n)).collect::<Vec<_>>());
    });
}

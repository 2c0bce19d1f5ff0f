//! The measurements, and their table.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use dsp::{Error, Result};
use measure_harness::rounds::{self, Budget};
use measure_harness::work::Digest;

use super::sequential::{ceiling, sequential};
use super::{Shape, Task, Work, network};

/// The measured times for one shape and one amount of work.
#[derive(Debug, Clone)]
pub struct Table {
    /// The numbers of producers and consumers.
    pub shape: Shape,
    /// The work for each index.
    pub work: Work,
    /// The number of indices that the record may hold.
    pub horizon: usize,
    /// The times without a network.
    pub baseline: Baseline,
    /// The times of the network, for each burst.
    pub cells: Vec<Cell>,
}

/// The times without a network, in nanoseconds for each index.
#[derive(Debug, Clone, Copy)]
pub struct Baseline {
    /// The loop that does the work of all processes.
    pub sequential: f64,
    /// Two threads that share the work of the loop and do not communicate.
    pub ceiling: f64,
}

/// The time of the network with one burst.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    /// The number of indices that one synchronisation hands over.
    pub burst: usize,
    /// Nanoseconds for each index.
    pub nanoseconds: f64,
    /// The speed as a part of that of the ceiling in the same round.
    pub of_ceiling: f64,
    /// The speed as a multiple of that of the loop in the same round.
    pub of_loop: f64,
}

impl Table {
    /// Returns the smallest burst from which on the network is at least as fast as the loop.
    pub fn break_even(&self) -> Option<usize> {
        self.burst_behind_last(|cell| cell.of_loop < 1.0)
    }

    /// Returns the smallest burst from which on the network reaches this part of the ceiling.
    pub fn reaches(&self, part: f64) -> Option<usize> {
        self.burst_behind_last(|cell| cell.of_ceiling < part)
    }

    /// Returns the smallest burst with which the network reaches this part of the ceiling, whatever larger ones do.
    pub fn first_reaches(&self, part: f64) -> Option<usize> {
        self.cells.iter().find(|cell| cell.of_ceiling >= part).map(|cell| cell.burst)
    }

    fn burst_behind_last(&self, is_slower: impl Fn(&Cell) -> bool) -> Option<usize> {
        let slower = self.cells.iter().rposition(is_slower);
        self.cells.get(slower.map_or(0, |at| at + 1)).map(|cell| cell.burst)
    }
}

/// The result of one run of a contender.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Nanoseconds for each index.
    pub nanoseconds: f64,
    /// The number of indices. A slow contender may take fewer than it was asked for.
    pub indices: u64,
    /// The sum that each consumer found.
    pub sums: Vec<u32>,
}

/// A form of the benchmark that is measured beside others. It runs the task once.
pub type Contender<'a> = Box<dyn FnMut(&Task) -> Result<Sample> + 'a>;

/// Runs the network once.
///
/// # Errors
/// If the network cannot run.
pub fn measured_network(task: &Task) -> Result<Sample> {
    let begin = Instant::now();
    let sums = network(task)?;
    Ok(Sample { nanoseconds: per_index(begin, task.rounded()), indices: task.rounded(), sums })
}

/// Measures the network with each burst, in this number of rounds. Each round measures the loop, the ceiling
/// and all bursts, and the medians count. `done` is called before each measurement, those of a round that warms up
/// included. `task.burst` is not used.
///
/// # Errors
/// If a network fails, or gives another result than the loop.
pub fn measure(task: &Task, bursts: &[usize], rounds: usize, done: impl FnMut()) -> Result<Table> {
    let mut contenders: [Contender<'_>; 1] = [Box::new(measured_network)];
    compare(task, bursts, rounds, &mut contenders, done)?.remove(0)
}

/// Measures each contender with each burst, in this number of rounds. Each round measures the loop, the ceiling,
/// and all contenders in turn for each burst, and the medians count. `done` is called before each measurement, those of
/// a round that warms up included. `task.burst` is not used.
///
/// Returns the table of each contender, or the reason why it has none: a contender that fails, or gives another result
/// than the loop, is not run again.
///
/// # Errors
/// If the two threads of the ceiling give another result than the loop.
pub fn compare(
    task: &Task,
    bursts: &[usize],
    rounds: usize,
    contenders: &mut [Contender<'_>],
    mut done: impl FnMut(),
) -> Result<Vec<Result<Table>>> {
    let (shape, work) = (task.shape, task.work);
    let expected = RefCell::new(BTreeMap::from([(task.indices, sequential(shape, work, task.indices))]));
    let right = digest(&expected.borrow()[&task.indices]);
    let plain = |name, run: fn(Shape, Work, u64) -> Vec<u32>| {
        rounds::Contender::sampled(name, right, move || {
            let begin = Instant::now();
            let sums = run(shape, work, task.indices);
            (per_index(begin, task.indices), digest(&sums))
        })
    };
    let runs: Vec<RefCell<Result<&mut Contender<'_>>>> =
        contenders.iter_mut().map(|contender| RefCell::new(Ok(contender))).collect();
    let mut all = vec![plain("the loop", sequential), plain("two threads", ceiling)];
    for &burst in bursts {
        for run in &runs {
            let expected = &expected;
            // One that has failed stays among the others, and its samples are not used.
            all.push(rounds::Contender::sampled("a contender", Digest::EMPTY, move || {
                let mut run = run.borrow_mut();
                let Ok(contender) = &mut *run else { return (f64::NAN, Digest::EMPTY) };
                let checked = contender(&Task { burst, ..*task }).and_then(|sample| {
                    let of_loop = || sequential(shape, work, sample.indices);
                    check(expected.borrow_mut().entry(sample.indices).or_insert_with(of_loop), &sample.sums)?;
                    Ok(sample.nanoseconds)
                });
                let nanoseconds = checked.unwrap_or_else(|error| {
                    *run = Err(error);
                    f64::NAN
                });
                (nanoseconds, Digest::EMPTY)
            }));
        }
    }
    let wanted = rounds.max(1);
    let budget = Budget { wanted, least: wanted, time: Duration::MAX };
    let rounds = rounds::measure_watched(budget, None, all, |_, _| done())
        .map_err(|why| Error::new(why.to_string()))?;
    let ratio = |of: usize, to: usize| rounds.median(|round| round.samples[of] / round.samples[to]);
    let time = |at: usize| rounds.median(|round| round.samples[at]);
    let baseline = Baseline { sequential: time(0), ceiling: time(1) };
    let table = |contender: usize| {
        let places = (2 + contender..).step_by(runs.len());
        let cell = |(&burst, at)| Cell {
            burst,
            nanoseconds: time(at),
            of_ceiling: ratio(1, at),
            of_loop: ratio(0, at),
        };
        let cells = bursts.iter().zip(places).map(cell).collect();
        Table { shape, work, horizon: task.horizon, baseline, cells }
    };
    let tables: Vec<Table> = (0..runs.len()).map(table).collect();
    Ok(runs.into_iter().zip(tables).map(|(run, table)| run.into_inner().map(|_| table)).collect())
}

fn digest(sums: &[u32]) -> Digest {
    sums.iter().fold(Digest::EMPTY, |digest, &sum| digest.with(sum.into()))
}

fn check(expected: &[u32], found: &[u32]) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Error::new(format!("the sums are {found:?} where the loop found {expected:?}")))
}

fn per_index(begin: Instant, indices: u64) -> f64 {
    1e9 * begin.elapsed().as_secs_f64() / indices.max(1) as f64
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let work = match self.work.nanoseconds() {
            0 => "one store or load an index".into(),
            nanoseconds => format!("{nanoseconds} ns of work an index on each side"),
        };
        writeln!(f, "{}, {work}, horizon {}", self.shape, self.horizon)?;
        writeln!(f, "{:>12}  {:>9}  {:>14}", "burst", "ns/index", "of the ceiling")?;
        writeln!(f, "{:>12}  {:>9.2}", "loop", self.baseline.sequential)?;
        writeln!(f, "{:>12}  {:>9.2}", "ceiling", self.baseline.ceiling)?;
        for Cell { burst, nanoseconds, of_ceiling, .. } in &self.cells {
            writeln!(f, "{burst:>12}  {nanoseconds:>9.2}  {:>12.0} %", 100.0 * of_ceiling)?;
        }
        let told = |burst: Option<usize>| {
            burst.map_or("at no burst".into(), |burst| format!("at a burst of {burst}"))
        };
        write!(
            f,
            "breaks even {}, reaches 90 % of the ceiling {}",
            told(self.break_even()),
            told(self.reaches(0.9))
        )
    }
}

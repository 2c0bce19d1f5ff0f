//! The measurements, and their table.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Instant;

use dsp::{Error, Result};

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
/// and all bursts, and the medians count. `done` is called after each measurement. `task.burst` is not used.
///
/// # Errors
/// If a network fails, or gives another result than the loop.
pub fn measure(task: &Task, bursts: &[usize], rounds: usize, done: impl FnMut()) -> Result<Table> {
    let mut contenders: [Contender<'_>; 1] = [Box::new(measured_network)];
    compare(task, bursts, rounds, &mut contenders, done)?.remove(0)
}

/// Measures each contender with each burst, in this number of rounds. Each round measures the loop, the ceiling,
/// and all contenders in turn for each burst, and the medians count. `done` is called after each measurement.
/// `task.burst` is not used.
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
    let (mut loops, mut ceilings) = (Vec::new(), Vec::new());
    let mut times: Vec<Result<Vec<Vec<f64>>>> =
        contenders.iter().map(|_| Ok(vec![Vec::new(); bursts.len()])).collect();
    let mut expected = BTreeMap::new();
    for _ in 0..rounds.max(1) {
        let begin = Instant::now();
        let sums = sequential(shape, work, task.indices);
        loops.push(per_index(begin, task.indices));
        done();
        let begin = Instant::now();
        let found = ceiling(shape, work, task.indices);
        ceilings.push(per_index(begin, task.indices));
        check(&sums, &found)?;
        expected.insert(task.indices, sums);
        done();
        for (at, &burst) in bursts.iter().enumerate() {
            for (contender, times) in contenders.iter_mut().zip(&mut times) {
                let Ok(measured) = times else { continue };
                let checked = contender(&Task { burst, ..*task }).and_then(|sample| {
                    let of_loop = || sequential(shape, work, sample.indices);
                    check(expected.entry(sample.indices).or_insert_with(of_loop), &sample.sums)?;
                    Ok(sample.nanoseconds)
                });
                match checked {
                    Ok(nanoseconds) => measured[at].push(nanoseconds),
                    Err(error) => *times = Err(error),
                }
                done();
            }
        }
    }
    let baseline =
        Baseline { sequential: median(loops.iter().copied()), ceiling: median(ceilings.iter().copied()) };
    let cell = |(&burst, times): (&usize, &Vec<f64>)| Cell {
        burst,
        nanoseconds: median(times.iter().copied()),
        of_ceiling: median(ceilings.iter().zip(times).map(|(ceiling, time)| ceiling / time)),
        of_loop: median(loops.iter().zip(times).map(|(of_loop, time)| of_loop / time)),
    };
    let table = |times: Vec<Vec<f64>>| {
        let cells = bursts.iter().zip(&times).map(cell).collect();
        Table { shape, work, horizon: task.horizon, baseline, cells }
    };
    Ok(times.into_iter().map(|times| times.map(table)).collect())
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

pub(crate) fn median(times: impl Iterator<Item = f64>) -> f64 {
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
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

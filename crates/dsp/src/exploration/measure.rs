//! The measurements, and their table.

use std::fmt;
use std::time::Instant;

use crate::{Error, Result};

use super::sequential::{ceiling, sequential};
use super::{Shape, Task, Work, network};

/// The measured times for one shape and one amount of work.
#[derive(Debug, Clone)]
pub struct Table {
    /// The numbers of producers and consumers.
    pub shape: Shape,
    /// The work for each index.
    pub work: Work,
    /// How many indices the record may hold.
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
    /// How many indices one synchronisation hands over.
    pub burst: usize,
    /// Nanoseconds for each index.
    pub nanoseconds: f64,
    /// The speed as a part of that of the ceiling in the same round.
    pub of_ceiling: f64,
    /// The speed as a multiple of that of the loop in the same round.
    pub of_loop: f64,
}

impl Table {
    /// The smallest burst from which on the network is at least as fast as the loop.
    pub fn break_even(&self) -> Option<usize> {
        self.burst_behind_last(|cell| cell.of_loop < 1.0)
    }

    /// The smallest burst from which on the network reaches this part of the ceiling.
    pub fn reaches(&self, part: f64) -> Option<usize> {
        self.burst_behind_last(|cell| cell.of_ceiling < part)
    }

    fn burst_behind_last(&self, is_slower: impl Fn(&Cell) -> bool) -> Option<usize> {
        let slower = self.cells.iter().rposition(is_slower);
        self.cells.get(slower.map_or(0, |at| at + 1)).map(|cell| cell.burst)
    }
}

/// Measures the network with each burst, in this number of rounds. Each round measures the loop, the ceiling
/// and all bursts, and the medians count. `done` is called after each measurement. `task.burst` is not used.
///
/// # Errors
/// If a network fails, or gives another result than the loop.
pub fn measure(task: &Task, bursts: &[usize], rounds: usize, mut done: impl FnMut()) -> Result<Table> {
    let (shape, work) = (task.shape, task.work);
    let mut times = vec![Vec::new(); bursts.len() + 2];
    for _ in 0..rounds.max(1) {
        let begin = Instant::now();
        let expected = sequential(shape, work, task.indices);
        times[0].push(per_index(begin, task.indices));
        done();
        let begin = Instant::now();
        let found = ceiling(shape, work, task.indices);
        times[1].push(per_index(begin, task.indices));
        check(&expected, &found)?;
        done();
        for (&burst, times) in bursts.iter().zip(&mut times[2..]) {
            let task = Task { burst, ..*task };
            let begin = Instant::now();
            let found = network(&task)?;
            times.push(per_index(begin, task.rounded()));
            if task.rounded() == task.indices {
                check(&expected, &found)?;
            } else {
                check(&sequential(shape, work, task.rounded()), &found)?;
            }
            done();
        }
    }
    let cell = |(&burst, network): (&usize, &Vec<f64>)| Cell {
        burst,
        nanoseconds: median(network.iter().copied()),
        of_ceiling: median(times[1].iter().zip(network).map(|(ceiling, network)| ceiling / network)),
        of_loop: median(times[0].iter().zip(network).map(|(of_loop, network)| of_loop / network)),
    };
    let cells = bursts.iter().zip(&times[2..]).map(cell).collect();
    let time = |at: usize| median(times[at].iter().copied());
    let baseline = Baseline { sequential: time(0), ceiling: time(1) };
    Ok(Table { shape, work, horizon: task.horizon, baseline, cells })
}

fn check(expected: &[u32], found: &[u32]) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Error::new(format!("the network found {found:?} where the loop found {expected:?}")))
}

fn per_index(begin: Instant, indices: u64) -> f64 {
    1e9 * begin.elapsed().as_secs_f64() / indices.max(1) as f64
}

fn median(times: impl Iterator<Item = f64>) -> f64 {
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

//! A pipeline with a slow source: how much of a core it uses while it waits.
//!
//! The number is the processor time of this whole process. Other processes hardly affect it, so there is no
//! ceiling.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anabranch::Stream;

use super::Setup;
use measure_harness::rounds::{Budget, Contender, Unmeasured, measure};
use measure_harness::statistics::Summary;
use measure_harness::table::{Outcome, Row};
use measure_harness::target::{Target, Unit};
use measure_harness::work::Digest;

const GROUP: &str = "idle";
const WORKERS: [usize; 2] = [2, 4];

pub fn rows(setup: &Setup) -> Vec<Row> {
    let mut rows: Vec<Row> = WORKERS.into_iter().map(|workers| slow(setup, workers)).collect();
    rows.extend(beside_plain(setup));
    rows
}

/// 10 items a second: one run, sampled once a second.
fn slow(setup: &Setup, workers: usize) -> Row {
    let seconds = if setup.quick { 5 } else { 15 };
    let items = 10 * seconds;
    let mut looks = Looks { clock: Clock::now(), shares: Vec::new() };
    let whole = Clock::now();
    let source = Ticks::new(10, items).inspect(|item| {
        if item % 10 == 9 {
            looks.look();
        }
    });
    let digest = run(source, workers);
    let target = Target::AtMost(0.3);
    let outcome = match whole.share() {
        None => Outcome::Not(no_clock()),
        Some(_) if digest != plain(0..items) => {
            Outcome::Not(Unmeasured::Wrong { contender: format!("{workers} workers, 10 items a second") })
        }
        Some(_) => {
            let seconds = (looks.shares.len(), 0);
            Outcome::measured(Summary::of(looks.shares), target, seconds)
        }
    };
    let what = format!("idle, 10 items a second, {workers} workers: share of a core");
    let remark = whole.share().map_or_else(String::new, |mean| {
        format!("{mean:.2} % over the whole run of {seconds} s; a round is a second of it")
    });
    Row::of(GROUP, what, (target, Unit::Percent), outcome, remark)
}

/// 1,000 items a second, next to a plain loop that sleeps as often.
fn beside_plain(setup: &Setup) -> Vec<Row> {
    let (rounds, items) = if setup.quick { (7, 200) } else { (15, 500) };
    let budget = Budget { wanted: rounds, least: rounds, time: Duration::from_secs(40) };
    let expected = plain(0..items);
    let alone =
        Contender::sampled("the plain loop", expected, move || sampled(|| plain(Ticks::new(1_000, items))));
    let with = |workers: usize| {
        Contender::sampled(format!("{workers} workers, 1,000 items a second"), expected, move || {
            sampled(|| run(Ticks::new(1_000, items), workers))
        })
    };
    let contenders = [alone].into_iter().chain(WORKERS.map(with)).collect();
    let rounds = match Clock::now().share() {
        Some(_) => measure(budget, None, contenders),
        None => Err(no_clock()),
    };
    let row = |(at, workers): (usize, usize)| {
        let what = format!("idle, 1,000 items a second, {workers} workers: above the plain loop");
        Row::new(GROUP, what, (Target::AtMost(3.0), Unit::Points), &rounds, |rounds| {
            let own = rounds.median(|round| round.samples[1 + at]);
            let alone = rounds.median(|round| round.samples[0]);
            (
                rounds.summary(|round| round.samples[1 + at] - round.samples[0]),
                format!("{own:.1} % of a core, the plain loop {alone:.1} %"),
            )
        })
    };
    WORKERS.into_iter().enumerate().map(row).collect()
}

fn run(source: impl Iterator<Item = u64> + Send, workers: usize) -> Digest {
    Stream::from_iter(source).workers(workers).map(light).fold(Digest::EMPTY, Digest::with)
}

fn plain(source: impl Iterator<Item = u64>) -> Digest {
    source.map(light).fold(Digest::EMPTY, Digest::with)
}

fn light(item: u64) -> u64 {
    item ^ 5
}

/// The percentage of a core that a run uses.
fn sampled(run: impl FnOnce() -> Digest) -> (f64, Digest) {
    let clock = Clock::now();
    let digest = run();
    (clock.share().unwrap_or(f64::NAN), digest)
}

/// Items at a steady rate. It sleeps until each item is due, so every contender sleeps equally often.
#[derive(Debug)]
struct Ticks {
    due: Instant,
    every: Duration,
    next: u64,
    items: u64,
}

impl Ticks {
    fn new(a_second: u32, items: u64) -> Self {
        Self { due: Instant::now(), every: Duration::from_secs(1) / a_second, next: 0, items }
    }
}

impl Iterator for Ticks {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.next == self.items {
            return None;
        }
        self.due += self.every;
        sleep(self.due.saturating_duration_since(Instant::now()));
        self.next += 1;
        Some(self.next - 1)
    }
}

/// The shares of a core between one sample and the next.
#[derive(Debug)]
struct Looks {
    clock: Clock,
    shares: Vec<f64>,
}

impl Looks {
    fn look(&mut self) {
        self.shares.extend(self.clock.share());
        self.clock = Clock::now();
    }
}

/// Wall time and processor time at one moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    wall: Instant,
    processor: Option<Duration>,
}

impl Clock {
    pub(super) fn now() -> Self {
        Self { wall: Instant::now(), processor: processor_time() }
    }

    /// The percentage of a core that this process has used since then. `None` if the system does not count
    /// it.
    pub(super) fn share(&self) -> Option<f64> {
        let used = processor_time()?.saturating_sub(self.processor?).as_secs_f64();
        Some(100.0 * used / self.wall.elapsed().as_secs_f64())
    }
}

/// The processor time of all threads of this process.
#[cfg(unix)]
fn processor_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(Duration::new(time.tv_sec.try_into().ok()?, time.tv_nsec.try_into().ok()?))
}

#[cfg(not(unix))]
fn processor_time() -> Option<Duration> {
    None
}

pub(super) fn no_clock() -> Unmeasured {
    Unmeasured::Impossible("there is no clock for this process's processor time here".into())
}

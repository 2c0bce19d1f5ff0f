//! A parallel stage that sleeps, between serial stages. Threads can overlap sleeps, because these need no
//! core.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anabranch::Stream;

use super::Setup;
use measure_harness::rounds::{Contender, measure};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::{Digest, Running};

const SLEEP: Duration = Duration::from_millis(2);
const WORKERS: usize = 16;
const ITEMS: u64 = 1_600;
/// How many sleeps are measured to tell how long one takes.
const PLAIN: u32 = 50;

pub fn rows(setup: &Setup) -> Vec<Row> {
    let alone = Contender::sampled("the sleep alone", Digest::EMPTY, || {
        let start = Instant::now();
        (0..PLAIN).for_each(|_| sleep(SLEEP));
        (start.elapsed().as_secs_f64() / f64::from(PLAIN), Digest::EMPTY)
    });
    let pipeline = Contender::timed("16 workers", plain(), run);
    let rounds = measure(setup.budget, None, vec![alone, pipeline]);
    let what = "stage that sleeps 2 ms, 16 workers, between serial ones: share of 16 / the sleep";
    vec![Row::new("sleepers", what, (Target::AtLeast(90.0), Unit::Percent), &rounds, |rounds| {
        let sleep = 1e3 * rounds.median(|round| round.samples[0]);
        let rate = rounds.median(|round| ITEMS as f64 / round.samples[1]);
        let ideal = ITEMS as f64 / WORKERS as f64;
        (
            rounds.summary(|round| 100.0 * ideal * round.samples[0] / round.samples[1]),
            format!("{rate:.0} items a second; a sleep takes {sleep:.2} ms. No ceiling: it needs no cores"),
        )
    })]
}

fn plain() -> Digest {
    let (mut before, mut after) = (Running::default(), Running::default());
    (0..ITEMS).map(|item| after.next(before.next(item))).fold(Digest::EMPTY, Digest::with)
}

fn run() -> Digest {
    let (mut before, mut after) = (Running::default(), Running::default());
    Stream::from_iter(0..ITEMS)
        .workers(WORKERS)
        .serial_map(|item| before.next(item))
        .map(|item| {
            sleep(SLEEP);
            item
        })
        .serial_map(|item| after.next(item))
        .fold(Digest::EMPTY, Digest::with)
}

//! Futures that never wait, as a stage of a stream and with `buffered` on tokio.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use anabranch::Stream;

use measure_harness::builds;
use measure_harness::rival::{Rival, SETTLE};
use measure_harness::rounds::{Budget, Contender, Unmeasured, measure};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::{Digest, Work};

pub const GROUP: &str = "futures";
/// How many futures may be under way at once.
const UNDER_WAY: usize = 64;
/// The names of the rivals in their process, and in the table. The first has the target.
const RIVALS: [(&str, &str, Target); 2] = [
    ("tokio-polled", "anabranch beside tokio `buffered(64)`", Target::AtMost(0.7)),
    ("tokio", "anabranch beside tokio `spawn`, `buffered(64)`", Target::None),
];

/// Measures futures of 1 us of work each.
pub fn rows(quick: bool) -> Vec<Row> {
    let work = Work::of(1e3);
    let items = work.items(if quick { 0.02 } else { 0.08 });
    let rival = Rival::of_package(&builds::source("rivals"), "promise-rivals")
        .map(RefCell::new)
        .map_err(Unmeasured::NotInstalled);
    let rounds = rival.as_ref().map_err(Unmeasured::clone).and_then(|rival| {
        let (rounds, _) = work.calibration();
        let other = |name| {
            let request = format!("{name} {UNDER_WAY} {rounds} {items}");
            Contender::sampled(name, work.fold(0..items), move || {
                let (seconds, digest) = rival.borrow_mut().sample(&request);
                (seconds * 1e9 / items as f64, digest)
            })
        };
        let budget = if quick {
            Budget { wanted: 7, least: 7, time: Duration::from_secs(4) }
        } else {
            Budget { wanted: 21, least: 15, time: Duration::from_secs(60) }
        };
        let others = RIVALS.map(|(name, ..)| other(name));
        measure(budget, None, [own(work, items)].into_iter().chain(others).collect())
    });
    let unit = (Target::None, Unit::Nanoseconds);
    let own = Row::new(GROUP, "map_async(64), futures of 1 us", unit, &rounds, |rounds| {
        (rounds.summary(|round| round.samples[0]), format!("the plain loop {:.1} ns", work.nanos))
    });
    let beside = RIVALS.iter().enumerate().map(|(at, &(_, what, target))| {
        Row::new(GROUP, what, (target, Unit::Times), &rounds, |rounds| {
            let each = Unit::Nanoseconds.show(rounds.median(|round| round.samples[at + 1]));
            (rounds.summary(|round| round.samples[0] / round.samples[at + 1]), format!("{each} an item"))
        })
    });
    [own].into_iter().chain(beside).collect()
}

fn own(work: Work, items: u64) -> Contender<'static> {
    Contender::sampled("anabranch", work.fold(0..items), move || {
        std::thread::sleep(SETTLE);
        let start = Instant::now();
        let results = Stream::from_iter(0..items)
            .map_async(UNDER_WAY, move |item| async move { work.run(item) })
            .fold(Digest::EMPTY, Digest::with);
        (start.elapsed().as_secs_f64() * 1e9 / items as f64, results)
    })
}

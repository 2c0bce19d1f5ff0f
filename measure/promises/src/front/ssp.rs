//! One program for `anabranch::ssp` and for Rust-SSP.

use std::time::Duration;

use super::programs::Programs;

use measure_harness::rounds::{Budget, Ceiling, Contender, measure as play};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::{Digest, Work};

pub const GROUP: &str = "`ssp` against Rust-SSP";
pub const IDLE: &str = "`ssp` while it is idle";

/// The work of an item in nanoseconds, its name, and how many times as fast as the original it must be.
const GRAINS: [(f64, &str, Target); 4] = [
    (0.0, "0", Target::AtLeast(10.0)),
    (100.0, "100 ns", Target::AtLeast(3.0)),
    (1e3, "1 us", Target::AtLeast(1.3)),
    (1e4, "10 us", Target::Rival),
];
/// About how many nanoseconds an item without work takes in the slower of the two libraries.
const PASSING: f64 = 250.0;

/// Work that tells whether the machine has two cores.
pub fn probe() -> Ceiling {
    let work = Work::of(1e3);
    Ceiling { work, items: work.items(0.02) }
}

pub fn measure(programs: &Programs, quick: bool) -> Vec<Row> {
    let grains = GRAINS.iter().map(|&(nanos, grain, target)| {
        let what = format!("grain {grain}: times as fast");
        let promise = (target, Unit::Times);
        if let Err(why) = programs.rust_ssp() {
            return Row::without(GROUP, what, promise, why);
        }
        let work = Work::of(nanos);
        let items = ((if quick { 0.05 } else { 0.25 }) * 1e9 / (nanos + PASSING)) as u64;
        let arguments = [work.calibration().0.to_string(), items.to_string()];
        let contender = |name: &'static str| {
            let arguments = &arguments;
            Contender::sampled(name, work.fold(0..items), move || {
                programs.run(name, arguments).unwrap_or((f64::NAN, Digest::EMPTY))
            })
        };
        let (wanted, seconds) = if quick { (7, 10) } else { (21, 40) };
        let budget = Budget { wanted, least: 7, time: Duration::from_secs(seconds) };
        let rounds = play(budget, Some(probe()), vec![contender("ours"), contender("theirs")]);
        Row::new(GROUP, what, promise, &rounds, |rounds| {
            let [ours, theirs] = [0, 1].map(|at| rounds.median(|round| round.samples[at]));
            let remark = format!("{ours:.1} ns an item, Rust-SSP {theirs:.1}");
            (rounds.summary(|round| round.samples[1] / round.samples[0]), remark)
        })
    });
    grains.collect()
}

/// The processor time while nothing is posted.
pub fn idle(programs: &Programs) -> Vec<Row> {
    let arguments = ["idle".to_owned(), "3".to_owned()];
    let promise = (Target::AtMost(1.0), Unit::Percent);
    let what = "2 replicas: share of a core".to_owned();
    let theirs = match programs.rust_ssp().and_then(|()| programs.run("theirs", &arguments)) {
        Ok((share, _)) => format!("Rust-SSP {share:.1} %"),
        Err(why) => why.to_string(),
    };
    match programs.run("ours", &arguments) {
        Ok((share, _)) => vec![Row::single(IDLE, what, promise, share, theirs)],
        Err(why) => vec![Row::without(IDLE, what, promise, why)],
    }
}

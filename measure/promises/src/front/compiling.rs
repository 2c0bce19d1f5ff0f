//! The time of the compiler: a long function with and without annotations, and the time that a pipeline adds.

use std::fs;
use std::time::{Duration, Instant};

use super::long::{LOOPS, SOURCES};
use super::pipelines::STAGES;
use super::programs::{Programs, USUAL};
use measure_harness::rounds::{Budget, Contender, measure as play};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::Digest;

pub const GROUP: &str = "compile time";

pub fn measure(programs: &Programs, quick: bool) -> Vec<Row> {
    let compile = |name: &'static str, profile: &'static str| {
        Contender::sampled(name, Digest::EMPTY, move || {
            // Cargo rebuilds a file if its time has changed.
            let source = programs.source(name);
            let text = fs::read(&source).expect("a source that was written");
            fs::write(&source, text).expect("a source that can be written");
            let began = Instant::now();
            let built =
                programs.cargo(&["build", "--quiet", "--profile", profile, "--bin", name]).expect("cargo");
            assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
            (began.elapsed().as_secs_f64(), Digest::EMPTY)
        })
    };
    // The dependencies of the programs are compiled first, and their time does not count.
    for profile in [USUAL, "dev"] {
        let built = programs.cargo(&["build", "--quiet", "--profile", profile]).expect("cargo");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    }
    let wanted = if quick { 2 } else { 7 };
    let budget = Budget { wanted, least: 2, time: Duration::from_secs(60) };
    let rounds = play(budget, None, SOURCES.map(|(name, _)| compile(name, "dev")).into());
    let what = format!("a function of 500 lines with {LOOPS} annotated loops, debug: more than without");
    let mut rows =
        vec![Row::new(GROUP, what, (Target::AtMost(1_000.0), Unit::Milliseconds), &rounds, |rounds| {
            let [with, without] = [0, 1].map(|at| rounds.median(|round| round.samples[at]));
            let more = rounds.summary(|round| 1e3 * (round.samples[0] - round.samples[1]));
            (more, format!("{with:.2} s with annotations, {without:.2} s without"))
        })];
    for (build, profile, most) in [("release", USUAL, 250.0), ("debug", "dev", 100.0)] {
        let names = ["anabranch1", "anabranch21", "rayon1", "rayon21"];
        let rounds = play(budget, None, names.map(|name| compile(name, profile)).into());
        let what = format!("a pipeline of three stages, {build}: what it adds, the mean of 20");
        rows.push(Row::new(GROUP, what, (Target::AtMost(most), Unit::Milliseconds), &rounds, |rounds| {
            let rayon = rounds.median(|round| 1e3 * (round.samples[3] - round.samples[2]) / 20.0);
            let adds = rounds.summary(|round| 1e3 * (round.samples[1] - round.samples[0]) / 20.0);
            (adds, format!("rayon's form {rayon:.0} ms"))
        }));
    }
    let rounds = play(budget, None, vec![compile("stages120", "dev"), compile("anabranch1", "dev")]);
    let what = format!("{STAGES} stages in {} pipelines of one file, debug", STAGES / 3);
    rows.push(Row::new(GROUP, what, (Target::AtMost(2_000.0), Unit::Milliseconds), &rounds, |rounds| {
        let one = rounds.median(|round| 1e3 * round.samples[1]);
        (rounds.summary(|round| 1e3 * round.samples[0]), format!("a file with one pipeline {one:.0} ms"))
    }));
    rows
}

//! The compile time of annotations: a long function with and without them.

use std::fs;
use std::time::{Duration, Instant};

use super::long::{LOOPS, SOURCES};
use super::programs::Programs;
use crate::rounds::{Budget, Contender, measure as play};
use crate::table::Row;
use crate::target::{Target, Unit};
use crate::work::Digest;

pub const GROUP: &str = "compile time";

pub fn measure(programs: &Programs, quick: bool) -> Vec<Row> {
    let compile = |name: &'static str| {
        Contender::sampled(name, Digest::EMPTY, move || {
            // Cargo rebuilds a file if its time has changed.
            let source = programs.source(name);
            let text = fs::read(&source).expect("a source that was written");
            fs::write(&source, text).expect("a source that can be written");
            let began = Instant::now();
            let built = programs.cargo(&["build", "--quiet", "--bin", name]).expect("cargo");
            assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
            (began.elapsed().as_secs_f64(), Digest::EMPTY)
        })
    };
    let wanted = if quick { 2 } else { 7 };
    let budget = Budget { wanted, least: 2, time: Duration::from_secs(60) };
    let rounds = play(budget, None, SOURCES.map(|(name, _)| compile(name)).into());
    let what = format!("a function of 500 lines with {LOOPS} annotated loops, debug: more than without");
    let row = Row::new(GROUP, what, (Target::AtMost(1_000.0), Unit::Milliseconds), &rounds, |rounds| {
        let [with, without] = [0, 1].map(|at| rounds.median(|round| round.samples[at]));
        let more = rounds.summary(|round| 1e3 * (round.samples[0] - round.samples[1]));
        (more, format!("{with:.2} s with annotations, {without:.2} s without"))
    });
    vec![row]
}

//! An annotated loop against the same pipeline with the builder.

use std::process::Command;
use std::time::Duration;

use super::programs::Programs;
use crate::farms::probe;

use measure_harness::rounds::{Budget, Contender, Unmeasured, measure as play};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};

pub const GROUP: &str = "annotations against the builder";

const INSTRUCTIONS: (Target, Unit) = (Target::Within(5.0), Unit::Percent);

/// The forms of the program `loops`: the annotated one, that of the builder, and a description.
const FORMS: [(&str, &str, &str); 2] =
    [("annotated", "builder", "a loop"), ("annotated_with_errors", "builder_with_errors", "a loop with `?`")];

pub fn measure(programs: &Programs, quick: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    for (annotated, builder, what) in FORMS {
        rows.push(instructions(programs, annotated, builder, what));
        for workers in [1, 2] {
            rows.push(time(programs, (annotated, builder, what), workers, quick));
        }
    }
    rows
}

fn arguments(form: &str, workers: usize, items: u64) -> Vec<String> {
    vec![form.to_owned(), workers.to_string(), items.to_string()]
}

fn instructions(programs: &Programs, annotated: &str, builder: &str, what: &str) -> Row {
    let what = format!("{what}, 1 worker: extra instructions");
    let counted = counted(programs, annotated).and_then(|more| Ok((more, counted(programs, builder)?)));
    match counted {
        Ok((more, less)) => {
            let remark = format!("{:.1} an item, the builder's {:.1}", more / 1e6, less / 1e6);
            Row::single(GROUP, what, INSTRUCTIONS, 100.0 * (more / less - 1.0), remark)
        }
        Err(why) => Row::without(GROUP, what, INSTRUCTIONS, why),
    }
}

/// How many instructions a million items take.
fn counted(programs: &Programs, form: &str) -> Result<f64, Unmeasured> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(programs.program("loops"));
    let ran = command.args(arguments(form, 1, 1_000_000)).output();
    let ran = ran.map_err(|_| Unmeasured::NotInstalled("apt-get install valgrind".into()))?;
    let said = String::from_utf8_lossy(&ran.stderr);
    let count = said.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    count.ok_or_else(|| Unmeasured::Impossible(format!("valgrind: {said}")))
}

fn time(
    programs: &Programs,
    (annotated, builder, what): (&str, &str, &str),
    workers: usize,
    quick: bool,
) -> Row {
    let plural = if workers == 1 { "" } else { "s" };
    let what = format!("{what}, {workers} worker{plural}: times as fast");
    let items = if quick { 500_000 } else { 3_000_000 };
    let (wanted, seconds) = if quick { (7, 10) } else { (21, 30) };
    let budget = Budget { wanted, least: 7, time: Duration::from_secs(seconds) };
    let rounds = programs.run("loops", &arguments(builder, workers, items)).and_then(|(_, expected)| {
        let contender = |form: &str| {
            let (name, arguments) = (form.to_owned(), arguments(form, workers, items));
            Contender::sampled(name, expected, move || {
                programs.run("loops", &arguments).expect("it ran before")
            })
        };
        play(budget, Some(probe()), vec![contender(annotated), contender(builder)])
    });
    Row::new(GROUP, what, (Target::Rival, Unit::Times), &rounds, |rounds| {
        let [ours, theirs] = [0, 1].map(|at| rounds.median(|round| round.samples[at]));
        let remark = format!("{ours:.1} ns an item, the builder's {theirs:.1}");
        (rounds.summary(|round| round.samples[1] / round.samples[0]), remark)
    })
}

//! The suite of planted bottlenecks: whether a report names the stage that bounds the pipeline.

use crate::lines::{self, Knobs, Line};
use crate::look::{Look, Measured};
use measure_harness::table::{Outcome, Row};
use measure_harness::target::{Target, Unit};
use measure_harness::work::Work;

fn planted() -> impl Iterator<Item = &'static Line> {
    lines::all().filter(|line| !line.bound_by.is_empty())
}

/// The names of the pipelines.
pub fn names() -> Vec<String> {
    planted().map(|line| line.name.into()).collect()
}

/// Runs each pipeline a few times. All of its reports must name the stage.
pub fn measure(look: &Look) -> Measured {
    let unit = Work::of(1e3);
    let (runs, seconds) = if look.quick { (1, 0.04) } else { (5, 0.1) };
    let mut rows: Vec<Row> = Vec::new();
    for line in planted().filter(|line| look.at(line.name)) {
        let named: Vec<String> = (0..runs).map(|_| named(line, unit, seconds)).collect();
        let right = named.iter().filter(|name| *name == line.bound_by).count();
        let wrong = named.iter().find(|name| *name != line.bound_by);
        let word = match wrong {
            None => format!("`{}`", line.bound_by),
            Some(name) => format!("{name}, and `{}` in {right} of {runs} runs", line.bound_by),
        };
        rows.push(said(line.name, word, wrong.is_none(), format!("planted: `{}`", line.bound_by)));
    }
    let right = rows.iter().filter(|row| matches!(row.outcome, Outcome::Said { right: true, .. })).count();
    let all = rows.len();
    let word = format!("{right} of {all} named");
    rows.insert(0, said("all pipelines", word, right == all, format!("{runs} runs each")));
    Measured { rows, ..Measured::default() }
}

fn said(what: &str, word: String, right: bool, remark: String) -> Row {
    Row::of("planted", what, (Target::None, Unit::Times), Outcome::Said { word, right }, remark)
}

fn named(line: &Line, unit: Work, seconds: f64) -> String {
    let ran = line.run(unit, line.items(seconds), Knobs { report: true, ..Knobs::default() });
    let report = ran.report.expect("it was asked for");
    report.bottleneck().map_or_else(|| "nobody".into(), |node| node.name.clone())
}

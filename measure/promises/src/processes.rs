//! Measures a suite in several processes, one after another.
//!
//! Where the memory of a process lies can make all of its rounds faster or slower. The interval of the rounds does
//! not show that; the medians of several processes do.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs, process};

use measure_harness::table::{cells, padded, widths};
use measure_harness::target::{Target, Unit};
use serde::Deserialize;
use serde_json::Value;

use crate::arguments::{Arguments, Form};

/// The part of a table that is read back.
#[derive(Debug, Deserialize)]
struct Measured {
    rows: Vec<Row>,
}

#[derive(Debug, Deserialize)]
struct Row {
    what: String,
    unit: Unit,
    target: Target,
    outcome: Value,
}

impl Row {
    /// The name of the row, which is the same in each process.
    fn name(&self) -> &str {
        // Which number of workers is the best differs between processes.
        self.what.strip_suffix(" (the best)").unwrap_or(&self.what)
    }

    /// The median of the rounds of one process, if it has measured the row.
    fn median(&self) -> Option<f64> {
        self.outcome.pointer("/Measured/summary/median")?.as_f64()
    }
}

/// The medians of one row, one of each process that has measured it.
#[derive(Debug)]
struct Medians {
    what: String,
    unit: Unit,
    target: Target,
    each: Vec<f64>,
}

const HEAD: [&str; 6] = ["what", "target", "least", "middle", "largest", "processes"];

impl Medians {
    fn cells(&self, processes: usize) -> [String; 6] {
        let mut each = self.each.clone();
        each.sort_by(f64::total_cmp);
        let count = each.len();
        let show = |value: Option<f64>| value.map_or("-".into(), |value| self.unit.show(value));
        let middle = (count > 0).then(|| f64::midpoint(each[(count - 1) / 2], each[count / 2]));
        let (least, largest) = (each.first().copied(), each.last().copied());
        let target = self.target.show(self.unit);
        let measured = format!("{count} of {processes}");
        [self.what.clone(), target, show(least), show(middle), show(largest), measured]
    }
}

/// Adds the rows that one process has measured.
fn add(to: &mut Vec<Medians>, rows: &[Row]) {
    for row in rows {
        let at = to.iter().position(|medians| medians.what == row.name()).unwrap_or_else(|| {
            let (unit, target) = (row.unit, row.target);
            to.push(Medians { what: row.name().into(), unit, target, each: Vec::new() });
            to.len() - 1
        });
        to[at].each.extend(row.median());
    }
}

/// Measures the suite of `arguments` in `number` processes and prints the table. Returns whether every result was
/// right.
///
/// # Errors
/// If a process cannot be started, or has left no table.
pub fn measure(arguments: &Arguments, number: usize) -> Result<bool, Box<dyn Error>> {
    let table = env::temp_dir().join(format!("anabranch-measure-{}.json", process::id()));
    let mut medians = Vec::new();
    let mut right = true;
    for _ in 0..number {
        let measured = in_a_process(arguments, &table);
        // A process that was ended has perhaps left none.
        let _ = fs::remove_file(&table);
        let (was_right, rows) = measured?;
        right &= was_right;
        add(&mut medians, &rows);
    }
    let rows: Vec<[String; 6]> = medians.iter().map(|row| row.cells(number)).collect();
    print!("{}", text(&rows, arguments.form));
    Ok(right)
}

/// Measures once, in a process of its own. Returns whether its results were right, and its rows.
fn in_a_process(arguments: &Arguments, table: &Path) -> Result<(bool, Vec<Row>), Box<dyn Error>> {
    let mut command = Command::new(env::current_exe()?);
    command.arg(arguments.suites[0].name).arg("--json").arg(table).stdout(Stdio::null());
    if arguments.quick {
        command.arg("--quick");
    }
    if let Some(only) = &arguments.only {
        command.args(["--only", only]);
    }
    let status = command.status()?;
    let json = fs::read_to_string(table)
        .map_err(|error| format!("a measuring process has left no table ({status}): {error}"))?;
    let Measured { rows } = serde_json::from_str(&json)?;
    Ok((status.success(), rows))
}

fn text(rows: &[[String; 6]], form: Form) -> String {
    let head = HEAD.map(String::from);
    let mut text = String::new();
    match form {
        Form::Markdown => {
            let rule = ["---"; 6].map(String::from);
            for row in [&head, &rule].into_iter().chain(rows) {
                cells(&mut text, &row.each_ref().map(String::as_str));
            }
        }
        Form::Text => {
            let widths = widths(rows.iter().chain([&head]));
            for row in [&head].into_iter().chain(rows) {
                text += &padded(row, widths);
                text.push('\n');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(what: &str, outcome: &str) -> Vec<Row> {
        let row = format!(
            r#"{{"rows": [{{"what": "{what}", "unit": "Nanoseconds", "target": {{"AtMost": 8.0}}, "outcome": {outcome}}}]}}"#
        );
        serde_json::from_str::<Measured>(&row).unwrap().rows
    }

    #[test]
    fn a_row_has_the_least_the_middle_and_the_largest_median() {
        let mut medians = Vec::new();
        for (what, median) in [("item", 9.0), ("item (the best)", 7.0), ("item", 15.0)] {
            add(
                &mut medians,
                &rows(what, &format!(r#"{{"Measured": {{"summary": {{"median": {median}}}}}}}"#)),
            );
        }
        assert_eq!(medians[0].cells(3), ["item", "at most 8 ns", "7.0 ns", "9.0 ns", "15.0 ns", "3 of 3"]);
        assert_eq!(medians.len(), 1);
    }

    #[test]
    fn a_process_without_a_number_is_told() {
        let mut medians = Vec::new();
        add(&mut medians, &rows("item", r#"{"Not": "only 3 rounds were kept"}"#));
        assert_eq!(medians[0].cells(1)[2..], ["-", "-", "-", "0 of 1"]);
    }
}

//! The table: each target, what was measured, and the verdict.

use std::fmt::{self, Write};

use serde::{Serialize, Serializer};

use crate::machine::Machine;
use crate::rounds::{Rounds, TWO_CORES, Unmeasured};
use crate::statistics::Summary;
use crate::target::{Target, Unit, Verdict};

/// The number of cores that the targets are for.
const CORES: usize = 2;

/// The numbers of one suite.
#[derive(Debug, Serialize)]
pub struct Table {
    /// Where they were measured.
    pub machine: Machine,
    /// The load average before and after, if the system tells it.
    pub load: (Option<f64>, Option<f64>),
    /// Whether there were fewer and shorter rounds than the targets ask for.
    pub quick: bool,
    /// How long the measurement took.
    pub seconds: f64,
    /// More lines for the head of the table.
    pub notes: Vec<String>,
    /// Whether each group has a table of its own.
    #[serde(skip)]
    pub sections: bool,
    /// A row for each number.
    pub rows: Vec<Row>,
    /// More tables in Markdown, each with its name.
    #[serde(skip)]
    pub tables: Vec<(&'static str, String)>,
}

/// One row: a number and its verdict.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The group of the row. Rows of a group are next to each other.
    pub group: String,
    /// What was measured.
    pub what: String,
    /// The unit of the number.
    pub unit: Unit,
    /// What the number has to be.
    pub target: Target,
    /// The number, or the reason why there is none.
    pub outcome: Outcome,
    /// The text of the last column.
    pub remark: String,
    /// The time in which a cache line went from one core to another, in nanoseconds.
    pub hand_over: Option<Summary>,
}

/// The result of a measurement.
#[derive(Debug, Clone, Serialize)]
pub enum Outcome {
    /// A number.
    Measured {
        /// Its median and interval.
        summary: Summary,
        /// Whether it meets the target.
        verdict: Verdict,
        /// How many rounds count.
        kept: usize,
        /// How many rounds do not, because other programs used the cores.
        dropped: usize,
    },
    /// A word instead of a number.
    Said {
        /// The word.
        word: String,
        /// Whether it meets the target.
        right: bool,
    },
    /// No result, and why.
    Not(#[serde(serialize_with = "as_reason")] Unmeasured),
}

fn as_reason<S: Serializer>(unmeasured: &Unmeasured, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(unmeasured)
}

impl fmt::Display for Unmeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disturbed { kept, dropped: 0, least } => {
                write!(f, "the time was over after {kept} rounds, and {least} are needed")
            }
            Self::Disturbed { kept, dropped, least } => write!(
                f,
                "only {kept} rounds were kept and {least} are needed: in {dropped} of {} two plain threads were less than \
                 {TWO_CORES} times as fast as one",
                kept + dropped
            ),
            Self::Wrong { contender } => write!(f, "WRONG RESULT: {contender}"),
            Self::Impossible(why) | Self::NotInstalled(why) => f.write_str(why),
        }
    }
}

impl Row {
    /// Creates a row from rounds. `number` gives the number and the remark, and is called only if there are
    /// rounds. If the cores were near each other in some of the rounds and far apart in others, the remark says the
    /// number of each.
    pub fn new(
        group: impl Into<String>,
        what: impl Into<String>,
        (target, unit): (Target, Unit),
        rounds: &Result<Rounds, Unmeasured>,
        number: impl Fn(&Rounds) -> (Summary, String),
    ) -> Self {
        let (outcome, remark) = match rounds {
            Ok(rounds) => {
                let (summary, mut remark) = number(rounds);
                if let Some(halves) = rounds.near_and_far() {
                    for (half, word) in halves.iter().zip(["near", "far"]) {
                        let apart = half.hand_over().map_or(0.0, |it| it.median);
                        let (median, count) = (number(half).0.median, half.counts().0);
                        let between = if remark.is_empty() { "" } else { "; " };
                        let _ = write!(
                            remark,
                            "{between}{} with {word} cores ({apart:.0} ns, {count} rounds)",
                            unit.show(median)
                        );
                    }
                }
                (Outcome::measured(summary, target, rounds.counts()), remark)
            }
            Err(why) => (Outcome::Not(why.clone()), String::new()),
        };
        let hand_over = rounds.as_ref().ok().and_then(Rounds::hand_over);
        Self { hand_over, ..Self::of(group, what, (target, unit), outcome, remark) }
    }

    /// Creates a row without rounds.
    pub fn of(
        group: impl Into<String>,
        what: impl Into<String>,
        (target, unit): (Target, Unit),
        outcome: Outcome,
        remark: impl Into<String>,
    ) -> Self {
        let (group, what, remark) = (group.into(), what.into(), remark.into());
        Self { group, what, unit, target, outcome, remark, hand_over: None }
    }

    /// Creates a row without a number.
    pub fn without(
        group: impl Into<String>,
        what: impl Into<String>,
        (target, unit): (Target, Unit),
        why: Unmeasured,
    ) -> Self {
        Self::of(group, what, (target, unit), Outcome::Not(why), "")
    }

    /// Creates a row with a number that is measured once.
    pub fn single(
        group: impl Into<String>,
        what: impl Into<String>,
        (target, unit): (Target, Unit),
        value: f64,
        remark: impl Into<String>,
    ) -> Self {
        let summary = Summary { median: value, low: value, high: value };
        Self::of(group, what, (target, unit), Outcome::measured(summary, target, (1, 0)), remark)
    }

    /// The median, if there is one.
    pub fn median(&self) -> Option<f64> {
        match &self.outcome {
            Outcome::Measured { summary, .. } => Some(summary.median),
            Outcome::Said { .. } | Outcome::Not(_) => None,
        }
    }

    fn measured(&self) -> String {
        let (unit, digits) = (self.unit, |value| self.unit.digits(value));
        match &self.outcome {
            Outcome::Measured { summary, .. } => {
                format!("{} [{}, {}]", unit.show(summary.median), digits(summary.low), digits(summary.high))
            }
            Outcome::Said { word, .. } => word.clone(),
            Outcome::Not(_) => "-".into(),
        }
    }

    /// The verdict as text.
    pub fn verdict(&self) -> String {
        match &self.outcome {
            Outcome::Measured { verdict, .. } => verdict.to_string(),
            Outcome::Said { right: true, .. } => "met".into(),
            Outcome::Said { right: false, .. } => "not met".into(),
            Outcome::Not(Unmeasured::Wrong { .. }) => "WRONG".into(),
            Outcome::Not(Unmeasured::NotInstalled(_)) => "not installed".into(),
            Outcome::Not(_) => "not measurable".into(),
        }
    }

    /// How many rounds were kept and dropped.
    fn rounds(&self) -> String {
        match &self.outcome {
            Outcome::Measured { kept, dropped, .. }
            | Outcome::Not(Unmeasured::Disturbed { kept, dropped, .. }) => format!("{kept} / {dropped}"),
            Outcome::Said { .. } | Outcome::Not(_) => String::new(),
        }
    }

    fn remark(&self) -> String {
        match &self.outcome {
            Outcome::Measured { .. } | Outcome::Said { .. } => self.remark.clone(),
            Outcome::Not(why) => why.to_string(),
        }
    }

    fn cells(&self) -> [String; 6] {
        let target = self.target.show(self.unit);
        [self.what.clone(), target, self.measured(), self.verdict(), self.rounds(), self.remark()]
    }
}

impl Outcome {
    /// Judges a number.
    pub fn measured(summary: Summary, target: Target, (kept, dropped): (usize, usize)) -> Self {
        Self::Measured { summary, verdict: target.judge(summary), kept, dropped }
    }
}

/// Marks the row with the best number, among rows that differ only in the number of workers.
pub fn mark_best(rows: &mut [Row], better: impl Fn(f64, f64) -> bool) {
    let mut best: Option<(usize, f64)> = None;
    for (at, row) in rows.iter().enumerate() {
        match (row.median(), best) {
            (Some(median), Some((_, so_far))) if !better(median, so_far) => {}
            (Some(median), _) => best = Some((at, median)),
            (None, _) => {}
        }
    }
    if let Some((at, _)) = best {
        rows[at].what += " (the best)";
    }
}

const HEAD: [&str; 6] =
    ["what", "target", "median [95 % interval]", "verdict", "rounds kept / dropped", "for comparison"];

/// The group of rows that sum up the others.
pub const SUMMARY: &str = "Summary";

/// The widths of the columns of some rows, in characters.
pub fn widths<'a>(rows: impl Iterator<Item = &'a [String; 6]>) -> [usize; 6] {
    rows.fold([0; 6], |widths, row| std::array::from_fn(|at| widths[at].max(row[at].chars().count())))
}

/// A row with columns of these widths.
pub fn padded(cells: &[String; 6], widths: [usize; 6]) -> String {
    let all = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}  "));
    all.collect::<String>().trim_end().to_owned()
}

/// Writes a line of a Markdown table.
pub fn cells(text: &mut String, cells: &[&str]) {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    *text += &format!("| {} |\n", cells.join(" | "));
}

impl Table {
    /// Whether every contender gave what the plain loop gives.
    pub fn results_were_right(&self) -> bool {
        !self.rows.iter().any(|row| matches!(row.outcome, Outcome::Not(Unmeasured::Wrong { .. })))
    }

    /// The targets, what was measured, and the verdicts as Markdown, as in `RESULTS.md`. If rows sum up the others, only these.
    pub fn results(&self) -> String {
        let heading = self.heading();
        let mut text = heading[..3.min(heading.len())].join("  \n") + "\n\n";
        cells(&mut text, &HEAD[..4]);
        cells(&mut text, &["---"; 4]);
        let sums_up = self.rows.iter().any(|row| row.group == SUMMARY);
        let is_result = |row: &&Row| !row.verdict().is_empty() && (!sums_up || row.group == SUMMARY);
        for row in self.rows.iter().filter(is_result) {
            let [mut what, target, measured, verdict, ..] = row.cells();
            if self.sections && !sums_up {
                what = format!("{}: {what}", row.group);
            }
            cells(&mut text, &[&what, &target, &measured, &verdict]);
        }
        text
    }

    /// The whole table as Markdown.
    pub fn markdown(&self) -> String {
        let mut text = self.heading().join("  \n") + "\n";
        let head = |text: &mut String| {
            text.push('\n');
            cells(text, &HEAD);
            cells(text, &["---"; 6]);
        };
        if !self.sections {
            head(&mut text);
        }
        for group in self.rows.chunk_by(|a, b| a.group == b.group) {
            if self.sections {
                text += &format!("\n**{}**\n", group[0].group);
                head(&mut text);
            }
            for row in group {
                cells(&mut text, &row.cells().each_ref().map(String::as_str));
            }
        }
        for (name, table) in &self.tables {
            text += &format!("\n**{name}**\n\n{table}");
        }
        text
    }

    fn heading(&self) -> Vec<String> {
        let [machine, versions] = self.machine.lines();
        let quick = if self.quick { "--quick, " } else { "" };
        let mut lines = vec![machine, versions, format!("{quick}{:.0} s{}", self.seconds, self.load())];
        lines.extend(self.hand_over());
        lines.extend(self.notes.iter().cloned());
        if self.machine.cores != CORES {
            lines.push(format!(
                "The targets are for {CORES} cores and this process may use {}: verdicts do not count. \
                 `taskset -c 0,1` gives it two.",
                self.machine.cores
            ));
        }
        if self.quick {
            lines.push("A quick look: fewer and shorter rounds than the targets ask for.".into());
        }
        lines
    }

    /// How far apart the cores were.
    fn hand_over(&self) -> Option<String> {
        let of_rows = || self.rows.iter().filter_map(|row| row.hand_over);
        let (least, most) =
            of_rows().fold((f64::INFINITY, 0.0), |(least, most), it| (it.low.min(least), it.high.max(most)));
        let median = Summary::of_some(of_rows().map(|it| it.median))?.median;
        Some(format!("a cache line goes from core to core in {median:.0} ns (in {least:.0} to {most:.0} ns)"))
    }

    fn load(&self) -> String {
        match self.load {
            (Some(before), Some(after)) => {
                format!(", load average {before:.1} before and {after:.1} after (its own work included)")
            }
            _ => String::new(),
        }
    }
}

impl fmt::Display for Table {
    /// The table as text, for a terminal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.heading() {
            writeln!(f, "{line}")?;
        }
        let head = HEAD.map(|name| name.replace("rounds kept / dropped", "rounds"));
        let cells: Vec<[String; 6]> = self.rows.iter().map(Row::cells).collect();
        let widths = widths(cells.iter().chain([&head]));
        let mut line = |cells: &[String; 6]| writeln!(f, "{}", padded(cells, widths));
        line(&Default::default())?;
        line(&head)?;
        let mut group = "";
        for (row, cells) in self.rows.iter().zip(&cells) {
            if row.group != group {
                line(&Default::default())?;
                group = &row.group;
                if self.sections {
                    line(&[
                        format!("== {group}"),
                        String::new(),
                        String::new(),
                        String::new(),
                        String::new(),
                        String::new(),
                    ])?;
                }
            }
            line(cells)?;
        }
        self.tables.iter().try_for_each(|(name, table)| write!(f, "\n== {name}\n\n{table}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(median: f64) -> Row {
        let summary = Summary { median, low: median, high: median };
        let target = Target::AtLeast(94.0);
        let outcome = Outcome::measured(summary, target, (15, 2));
        Row::of("pipeline", "pipeline", (target, Unit::Percent), outcome, "")
    }

    #[test]
    fn a_row_says_target_number_and_verdict() {
        let cells = row(95.0).cells();
        assert_eq!(cells[..5], ["pipeline", "at least 94 %", "95.0 % [95.0, 95.0]", "met", "15 / 2"]);
    }

    #[test]
    fn a_row_without_a_number_says_why() {
        let missing = Err(Unmeasured::Disturbed { kept: 3, dropped: 40, least: 15 });
        let row = Row::new("g", "w", (Target::AtLeast(1.0), Unit::Times), &missing, |_| unreachable!());
        assert_eq!(row.verdict(), "not measurable");
        assert!(row.remark().starts_with("only 3 rounds were kept and 15 are needed: in 40 of 43 "));

        let slow = Unmeasured::Disturbed { kept: 3, dropped: 0, least: 15 };
        assert_eq!(slow.to_string(), "the time was over after 3 rounds, and 15 are needed");
    }

    #[test]
    fn results_are_the_rows_with_a_verdict_or_those_that_sum_them_up() {
        let table = |rows: Vec<Row>| {
            let machine = Machine::of_this_run(&[]);
            Table {
                machine,
                load: (None, None),
                quick: false,
                seconds: 1.0,
                notes: vec![],
                sections: true,
                rows,
                tables: vec![],
            }
        };
        let mut without = row(1.0);
        without.target = Target::None;
        without.outcome =
            Outcome::measured(Summary { median: 1.0, low: 1.0, high: 1.0 }, Target::None, (7, 0));
        let text = table(vec![without, row(95.0)]).results();
        assert_eq!(text.matches("| pipeline: pipeline | at least 94 % |").count(), 1, "{text}");
        let summary = Row { group: SUMMARY.into(), what: "nearest".into(), ..row(96.0) };
        let text = table(vec![summary, row(95.0)]).results();
        assert!(text.contains("| nearest |") && !text.contains("95.0 %"), "{text}");
    }

    #[test]
    fn the_best_is_marked() {
        let mut rows = [row(90.0), row(92.0), row(91.0)];
        mark_best(&mut rows, |a, b| a > b);
        assert_eq!(rows.map(|row| row.what.ends_with("(the best)")), [false, true, false]);
    }
}

//! Compares two files of results.

use measure_harness::statistics::Summary;
use measure_harness::target::TIE;

use crate::results::{Group, Results};
use crate::systems::SEQUENTIAL;

/// Compares the speed of each variant, as a multiple of that of the sequential program in the same rounds. So a
/// machine that is slower in all makes no difference. Returns the table, and whether a variant is slower in `b`.
///
/// A variant is slower or faster if the 95 % intervals do not meet and the medians differ by 5 % or more.
///
/// # Errors
/// If the two have no case in common.
pub fn compare(a: &Results, b: &Results) -> Result<(String, bool), String> {
    let mut rows = Vec::new();
    for before in &a.groups {
        let same = |after: &&Group| after.is(&before.application, &before.workload, before.workers);
        let Some(after) = b.groups.iter().find(same) else { continue };
        for cell in before.cells.iter().filter(|cell| cell.variant != SEQUENTIAL) {
            if let Some((old, new)) = speed(before, &cell.variant).zip(speed(after, &cell.variant)) {
                rows.push((format!("{}: {}", before.name(), cell.variant), old, new, change(old, new)));
            }
        }
    }
    if rows.is_empty() {
        return Err(
            "the two files have no case and variant in common: compare runs of the same --apps".into()
        );
    }
    let width = rows.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
    let show = |Summary { median, low, high }: Summary| format!("{median:.2} [{low:.2}, {high:.2}]");
    let mut table = format!("{:width$}  {:22}{:22}\n", "times the sequential program", "A", "B");
    if a.scale != b.scale || a.data != b.data || a.machine.processor != b.machine.processor {
        table
            .insert_str(0, "The two runs have different data or processors, so differences mean little.\n\n");
    }
    for (name, old, new, change) in &rows {
        let percent = 100.0 * (new.median / old.median - 1.0);
        let line = format!("{name:width$}  {:22}{:22}{percent:+.1} %  {change}", show(*old), show(*new));
        table += line.trim_end();
        table.push('\n');
    }
    Ok((table.trim_end().to_owned(), rows.iter().any(|row| row.3 == "slower")))
}

fn speed(group: &Group, variant: &str) -> Option<Summary> {
    let cell = |name: &str| group.cells.iter().find(|cell| cell.variant == name);
    Some(cell(variant)?.figures.against(&cell(SEQUENTIAL)?.figures))
}

fn change(old: Summary, new: Summary) -> &'static str {
    match new.median / old.median {
        times if times <= 1.0 - TIE && new.high < old.low => "slower",
        times if times >= 1.0 + TIE && new.low > old.high => "faster",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(median: f64, far: f64) -> Summary {
        Summary { median, low: median - far, high: median + far }
    }

    #[test]
    fn a_change_needs_separate_intervals_and_five_percent() {
        assert_eq!(change(around(2.0, 0.05), around(1.8, 0.05)), "slower");
        assert_eq!(change(around(1.8, 0.05), around(2.0, 0.05)), "faster");
        assert_eq!(change(around(2.0, 0.2), around(1.8, 0.2)), "");
        assert_eq!(change(around(2.0, 0.01), around(1.95, 0.01)), "");
    }
}

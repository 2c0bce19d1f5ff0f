//! The table: the smallest burst of the network and of each rival.

use std::cell::RefCell;

use crate::exploration::{Baseline, Contender, Sample, Shape, Table, Task, Work, compare, measured_network};
use dsp::{Error, Result};
use measure_harness::rival::Rival as Asked;
use measure_harness::statistics::Summary;

use super::super::bursts::task;
use super::super::{Effort, Line, Report};
use super::{Kind, RIVALS, Rivals};

/// The work for an index on each side, in nanoseconds.
const WORKS: [u32; 2] = [8, 64];
/// The largest burst that is measured.
const MOST_BURST: u64 = 1 << 16;
/// The fewest bursts in a run. With fewer, the time in which only one of two processes can work would matter.
const LEAST_BURSTS: u64 = 64;
/// The part of the ceiling that a system should reach.
const PART: f64 = 0.9;

/// A system: the network or a rival, with its kind.
struct Row {
    label: &'static str,
    kind: Option<Kind>,
    /// Its measurements, or the reason why there are none.
    table: std::result::Result<Table, String>,
}

pub(in super::super) fn run(
    effort: Effort,
    rivals: &Rivals,
    report: &mut Report,
    told: &mut impl FnMut(&str),
) -> Result<()> {
    report.text.push_str(
        "\n## The smallest burst next to task systems and channels\n\nOne producer, one consumer, two threads, at most 16,384 \
         indices between the two sides. *First* is the smallest burst that reaches 90 % of the ceiling, and *from* the one from \
         which on all do. The loop, the ceiling, the network and the rivals run in turn in each round of each burst.\n",
    );
    for nanoseconds in WORKS {
        let task = task(effort, Shape::of(1, 1), Work::of_nanoseconds(nanoseconds));
        let (rows, baseline) = measured(effort, &task, rivals, told)?;
        let about = format!("{nanoseconds} ns of work an index on each side");
        report.text.push_str(&format!("\n### Next to others: {about}\n\n"));
        report.text.push_str(&format!(
            "The loop takes {:.2} ns an index, and the ceiling {:.2} ns.{}\n\n",
            baseline.sequential,
            baseline.ceiling,
            other_loop(rivals, &task),
        ));
        report.text.push_str(&text(&rows));
        let line = |row: &Row| {
            let table = row.table.as_ref().ok()?;
            let points = table.cells.iter().map(|cell| (cell.burst as f64, cell.of_ceiling)).collect();
            Some(Line { name: row.label.replace('`', ""), points, is_dashed: false })
        };
        let title = format!("Next to others: {about}");
        let lines = rows.iter().filter_map(line).collect();
        report.lines(
            &format!("rivals-{nanoseconds}"),
            title,
            "indices in a burst",
            "part of the ceiling",
            lines,
        );
    }
    Ok(())
}

/// Measures all systems, burst after burst.
fn measured(
    effort: Effort,
    task: &Task,
    rivals: &Rivals,
    told: &mut impl FnMut(&str),
) -> Result<(Vec<Row>, Baseline)> {
    let most = (task.indices / LEAST_BURSTS).clamp(1, MOST_BURST);
    let bursts: Vec<usize> = (0..=most.ilog2()).map(|power| 1 << power).collect();
    // A burst of a task system takes about a microsecond, however small it is.
    let most_bursts = 4 * effort.microseconds;
    let empty = |baseline| Table {
        shape: task.shape,
        work: task.work,
        horizon: task.horizon,
        baseline,
        cells: Vec::new(),
    };
    let none = Baseline { sequential: 0.0, ceiling: 0.0 };
    let mut rows = vec![Row { label: "network", kind: None, table: Ok(empty(none)) }];
    rows.extend(RIVALS.iter().map(|rival| {
        let table = rivals.of(rival).map(|_| empty(none)).map_err(|reason| format!("absent: {reason}"));
        Row { label: rival.label, kind: Some(rival.kind), table }
    }));
    let mut baselines = Vec::new();
    for &burst in &bursts {
        told(&format!("rivals, {} ns, bursts of {burst}", task.work.nanoseconds()));
        let mut contenders: Vec<Contender<'_>> = vec![Box::new(measured_network)];
        let mut places = vec![0];
        for (at, rival) in RIVALS.iter().enumerate() {
            let (Ok(peer), Ok(_)) = (rivals.of(rival), &rows[1 + at].table) else { continue };
            places.push(1 + at);
            contenders.push(Box::new(move |task| {
                let indices = task.indices.min(most_bursts * task.burst as u64);
                sample(peer, rival.name, task, indices)
            }));
        }
        let tables = compare(task, &[burst], effort.rounds, &mut contenders, || ())?;
        for (at, table) in places.into_iter().zip(tables) {
            let table = match table {
                Err(error) if at == 0 => return Err(error),
                Err(error) => {
                    rows[at].table = Err(format!("failed: {error}"));
                    continue;
                }
                Ok(table) => table,
            };
            if at == 0 {
                baselines.push(table.baseline);
            }
            if let Ok(all) = &mut rows[at].table {
                all.cells.extend(table.cells);
            }
        }
    }
    let baseline = Baseline {
        sequential: Summary::of(baselines.iter().map(|baseline| baseline.sequential)).median,
        ceiling: Summary::of(baselines.iter().map(|baseline| baseline.ceiling)).median,
    };
    rows.iter_mut().filter_map(|row| row.table.as_mut().ok()).for_each(|table| table.baseline = baseline);
    Ok((rows, baseline))
}

/// Runs a rival once, with at least one burst and this number of indices, rounded up to whole bursts.
fn sample(peer: &RefCell<Asked>, name: &str, task: &Task, indices: u64) -> Result<Sample> {
    let indices = indices.max(1).next_multiple_of(task.burst as u64);
    let request = format!("{name} {} {indices} {}", task.work.rounds(), task.burst);
    let answer = peer.borrow_mut().ask_settled(&request).map_err(Error::new)?;
    Ok(Sample {
        nanoseconds: 1e9 * answer.seconds / indices as f64,
        indices,
        sums: vec![answer.digest as u32],
    })
}

/// Returns the time of the loop in C++, which shows whether both compilers generate code of about the same speed.
fn other_loop(rivals: &Rivals, task: &Task) -> String {
    let time = |peer: &RefCell<Asked>| {
        let task = Task { burst: 1_024, ..*task };
        sample(peer, "loop", &task, task.indices).map(|sample| sample.nanoseconds)
    };
    match &rivals.cpp {
        Ok(peer) => {
            time(peer).map_or(String::new(), |time| format!(" The same loop takes {time:.2} ns in C++."))
        }
        Err(_) => String::new(),
    }
}

/// Returns the rows as text, and how they compare with the targets.
fn text(rows: &[Row]) -> String {
    let mut text = String::from(
        "| system | burst 1 | best | breaks even | 90 % of the ceiling: first | from |\n|---|---|---|---|---|---|\n",
    );
    for row in rows {
        match &row.table {
            Ok(table) => text.push_str(&format!("| {} | {} |\n", row.label, cells(table))),
            Err(reason) => {
                let reason = reason.replace('|', "/");
                text.push_str(&format!("| {} | {reason} | - | - | - | - |\n", row.label));
            }
        }
    }
    text.push('\n');
    for (kind, name, target) in [
        (Kind::Tasks, "task system", "at least 20 times finer"),
        (Kind::Channel, "channel", "finer than every channel"),
    ] {
        for (how, burst) in [
            ("First", (|table| table.first_reaches(PART)) as fn(&Table) -> Option<usize>),
            ("From", |table| table.reaches(PART)),
        ] {
            text.push_str(&format!("- {how}, target {target}: {}.\n", finer(rows, kind, name, burst)));
        }
    }
    text
}

fn cells(table: &Table) -> String {
    let burst = |burst: Option<usize>| burst.map_or("at none".into(), |burst| format!("at {burst}"));
    let first = table.cells.first().map_or("-".into(), |cell| format!("{:.2} ns", cell.nanoseconds));
    let best = table.cells.iter().min_by(|a, b| a.nanoseconds.total_cmp(&b.nanoseconds));
    let best = best.map_or("-".into(), |cell| format!("{:.2} ns at {}", cell.nanoseconds, cell.burst));
    let (even, reaches) = (burst(table.break_even()), burst(table.reaches(PART)));
    format!("{first} | {best} | {even} | {} | {reaches}", burst(table.first_reaches(PART)))
}

/// Returns how much finer the network's burst is than that of the best rival of a kind.
fn finer(rows: &[Row], kind: Kind, name: &str, burst: impl Fn(&Table) -> Option<usize>) -> String {
    let measured = |row: &Row| Some((row.label, row.table.as_ref().ok()?.clone()));
    let own = rows.iter().find(|row| row.kind.is_none()).and_then(measured);
    let rivals: Vec<_> = rows.iter().filter(|row| row.kind == Some(kind)).filter_map(measured).collect();
    if rivals.is_empty() {
        return format!("no {name} was measured");
    }
    let Some(own) = own.and_then(|(_, table)| burst(&table)) else {
        return "the network reaches it with no burst".into();
    };
    let best = rivals.iter().filter_map(|(label, table)| Some((burst(table)?, label))).min();
    // 64 times finer, or 8 times coarser.
    let times = |rival: usize| {
        let (ratio, word) = if rival >= own {
            (rival as f64 / own as f64, "finer")
        } else {
            (own as f64 / rival as f64, "coarser")
        };
        format!("{} times {word}", (ratio * 100.0).round() / 100.0)
    };
    match best {
        Some((rival, label)) => {
            format!("{label} is the best {name} with {rival}, and the network has {own}, {}", times(rival))
        }
        None => {
            let last = rivals.iter().filter_map(|(_, table)| table.cells.last()).map(|cell| cell.burst).max();
            let last = last.unwrap_or(own);
            format!("no {name} reaches it up to {last}, and the network has {own}, over {}", times(last))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exploration::Cell;

    fn row(label: &'static str, kind: Option<Kind>, of_ceiling: [f64; 5]) -> Row {
        let cell = |(at, of_ceiling): (usize, &f64)| Cell {
            burst: 1 << (2 * at),
            nanoseconds: 9.0 / of_ceiling,
            of_ceiling: *of_ceiling,
            of_loop: 2.0 * of_ceiling,
        };
        let table = Table {
            shape: Shape::of(1, 1),
            work: Work::NONE,
            horizon: 64,
            baseline: Baseline { sequential: 18.0, ceiling: 9.0 },
            cells: of_ceiling.iter().enumerate().map(cell).collect(),
        };
        Row { label, kind, table: Ok(table) }
    }

    #[test]
    fn the_smallest_bursts_and_the_best_rival_are_chosen() {
        let mut rows = vec![
            row("network", None, [0.9, 0.6, 0.95, 1.0, 1.0]),
            row("slow", Some(Kind::Tasks), [0.1, 0.2, 0.4, 0.8, 0.92]),
            row("better", Some(Kind::Tasks), [0.1, 0.3, 0.4, 0.9, 0.91]),
            row("channel", Some(Kind::Channel), [0.1, 0.3, 0.5, 0.6, 0.89]),
        ];
        rows.push(Row { label: "gone", kind: Some(Kind::Tasks), table: Err("absent: needs a | b".into()) });
        let text = text(&rows);
        for line in [
            "| network | 10.00 ns | 9.00 ns at 64 | at 1 | at 1 | at 16 |",
            "| slow | 90.00 ns | 9.78 ns at 256 | at 64 | at 256 | at 256 |",
            "| better | 90.00 ns | 9.89 ns at 256 | at 64 | at 64 | at 64 |",
            "| channel | 90.00 ns | 10.11 ns at 256 | at 16 | at none | at none |",
            "| gone | absent: needs a / b | - | - | - | - |",
            "- First, target at least 20 times finer: better is the best task system with 64, and the network has 1, 64 times \
             finer.",
            "- From, target at least 20 times finer: better is the best task system with 64, and the network has 16, 4 times \
             finer.",
            "- First, target finer than every channel: no channel reaches it up to 256, and the network has 1, over 256 times \
             finer.",
        ] {
            assert!(text.contains(&format!("{line}\n")), "{line}\n{text}");
        }
    }

    #[test]
    fn a_network_that_is_coarser_is_said_to_be_so() {
        let rows = [
            row("network", None, [0.1, 0.2, 0.9, 1.0, 1.0]),
            row("tasks", Some(Kind::Tasks), [0.1, 0.9, 0.9, 1.0, 1.0]),
        ];
        assert!(
            text(&rows)
                .contains("tasks is the best task system with 4, and the network has 16, 4 times coarser")
        );
    }

    #[test]
    fn without_rivals_or_without_a_burst_the_text_says_so() {
        let network = || row("network", None, [0.1; 5]);
        assert!(text(&[network()]).contains("no task system was measured"));
        let rows = [network(), row("tasks", Some(Kind::Tasks), [1.0; 5])];
        assert!(text(&rows).contains("the network reaches it with no burst"));
    }
}

//! How fine a burst may be.

use crate::exploration::{Shape, Table, Task, Work, measure};
use dsp::Result;

use crate::exploration;

use super::{Effort, Line, Report};

/// The work for an index on each side, in nanoseconds.
const WORKS: [u32; 3] = [0, 8, 64];
/// The least time that is assumed for an index.
const LEAST_NANOSECONDS: u64 = 8;
const HORIZON: usize = 1 << 14;

pub(super) fn run(effort: Effort, report: &mut Report, told: &mut impl FnMut(&str)) -> Result<()> {
    report.text.push_str(
        "\n## How fine may a burst be?\n\nProducers store a number for each index, and consumers load every number \
         (`exploration`). *Breaks even* is the smallest burst from which on the network is as fast as the loop. The \
         ceiling is the loop on two threads that do not communicate.\n",
    );
    let bursts: Vec<usize> =
        (0..=16).step_by(if effort.is_quick { 2 } else { 1 }).map(|power| 1 << power).collect();
    for nanoseconds in WORKS {
        let work = Work::of_nanoseconds(nanoseconds);
        let mut tables = Vec::new();
        for shape in Shape::ALL {
            told(&format!("exploration, {shape}, {nanoseconds} ns"));
            tables.push(measure(&task(effort, shape, work), &bursts, effort.rounds, || ())?);
        }
        let about = match nanoseconds {
            0 => "one store or load an index".into(),
            _ => format!("{nanoseconds} ns of work an index on each side"),
        };
        report.text.push_str(&format!("\n### {about}\n\n"));
        report.text.push_str(
            "| processes | loop | ceiling | burst 1 | best | breaks even | 90 % of the ceiling |\n",
        );
        report.text.push_str("|---|---|---|---|---|---|---|\n");
        tables.iter().for_each(|table| report.text.push_str(&row(table)));
        let line = |table: &Table| Line {
            points: table.cells.iter().map(|cell| (cell.burst as f64, cell.of_ceiling)).collect(),
            ..Line::new(table.shape.to_string(), false)
        };
        let mut lines: Vec<Line> = tables.iter().map(line).collect();
        let ends = [bursts[0] as f64, bursts[bursts.len() - 1] as f64];
        lines.push(Line { points: ends.map(|x| (x, 1.0)).to_vec(), ..Line::new("ceiling", true) });
        let title = format!("Speed over the burst: {about}");
        report.lines(
            &format!("bursts-{nanoseconds}"),
            title,
            "indices in a burst",
            "part of the ceiling",
            lines,
        );
    }
    horizons(effort, report, told)
}

/// Returns a task with as many indices as the loop computes in about the time of the effort.
pub(super) fn task(effort: Effort, shape: Shape, work: Work) -> Task {
    let per_index = u64::from(work.nanoseconds()).max(LEAST_NANOSECONDS) * (1 + shape.consumers as u64);
    let indices = (effort.microseconds * 1_000 / per_index).next_power_of_two().min(1 << 26);
    Task { shape, work, indices, burst: 1, horizon: HORIZON, is_pinned: false }
}

fn row(table: &Table) -> String {
    let cell =
        |at: Option<&exploration::Cell>| at.map_or("-".into(), |cell| format!("{:.2} ns", cell.nanoseconds));
    let best = table.cells.iter().min_by(|a, b| a.nanoseconds.total_cmp(&b.nanoseconds));
    let burst = |burst: Option<usize>| burst.map_or("at none".into(), |burst| format!("at {burst}"));
    format!(
        "| {} | {:.2} ns | {:.2} ns | {} | {} at {} | {} | {} |\n",
        table.shape,
        table.baseline.sequential,
        table.baseline.ceiling,
        cell(table.cells.first()),
        cell(best),
        best.map_or(0, |cell| cell.burst),
        burst(table.break_even()),
        burst(table.reaches(0.9)),
    )
}

/// Horizons, and processes that stay on one processor: one store or load an index, bursts of 1,024.
fn horizons(effort: Effort, report: &mut Report, told: &mut impl FnMut(&str)) -> Result<()> {
    report.text.push_str(
        "\n### Horizons and pinned processes\n\nOne producer, one consumer, one store or load an index, bursts of 1,024.\n\n\
         | horizon | not pinned | pinned |\n|---|---|---|\n",
    );
    for power in (12..=24).step_by(if effort.is_quick { 6 } else { 3 }) {
        told(&format!("exploration, horizon 2^{power}"));
        let horizon = 1 << power;
        let cell = |is_pinned| -> Result<f64> {
            let task = Task { horizon, is_pinned, ..task(effort, Shape::of(1, 1), Work::NONE) };
            let table = measure(&task, &[1_024], effort.rounds, || ())?;
            Ok(table.cells[0].nanoseconds)
        };
        report.text.push_str(&format!("| {horizon} | {:.2} ns | {:.2} ns |\n", cell(false)?, cell(true)?));
    }
    Ok(())
}

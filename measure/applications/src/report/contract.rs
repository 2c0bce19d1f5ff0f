//! The contract, and who keeps it; and the latency at 80 % load.

use std::collections::BTreeSet;
use std::fmt::Write;

use measure_harness::statistics::Summary;
use measure_programs::contract::Experiment;

use crate::contract::{Latency, Row};
use crate::pictures::{CLOSED, bar, escaped, milliseconds, opened};
use crate::systems::{Side, side};

/// The table of the contract: a row for each system, with the findings in its cells.
pub fn contract(page: &mut String, rows: &[Row]) {
    if rows.is_empty() {
        return;
    }
    *page += "<h2>The contract, and who keeps it</h2>\n<p>The same nine experiments with every system, each in a process of \
        its own with four workers. A green cell keeps the contract of the plain loop, a red cell breaks it, and both have \
        their number.</p>\n";
    let head = ["system", "kept"].into_iter().chain(Experiment::ALL.into_iter().map(Experiment::name));
    *page += &opened("contract", "What each system does", head);
    for row in rows {
        let class = if side(&row.system) == Side::Anabranch { "own" } else { "other" };
        let _ = write!(
            page,
            "<tr class=\"{class}\"><th scope=\"row\">{}</th><td>{} of {}</td>",
            escaped(&row.system),
            row.kept(),
            row.findings.len()
        );
        for finding in &row.findings {
            let (class, word) = if finding.is_kept { ("kept", "kept") } else { ("broken", "broken") };
            let _ = write!(page, "<td class=\"{class}\"><b>{word}</b> {}</td>", escaped(&finding.number));
        }
        *page += "</tr>\n";
    }
    *page += CLOSED;
    *page += "<details>\n<summary>What the experiments are</summary>\n<dl>\n";
    for experiment in Experiment::ALL {
        let _ = writeln!(page, "<dt>{}</dt><dd>{}</dd>", experiment.name(), escaped(experiment.what()));
    }
    *page += "</dl>\n</details>\n";
}

/// The latency of each system, the lowest 95 % quantile first.
pub fn latencies(page: &mut String, all: &[Latency]) {
    let workers: BTreeSet<usize> = all.iter().map(|latency| latency.workers).collect();
    if !workers.is_empty() {
        *page += "<h2>Latency at 80 % load</h2>\n<p>Items of 1 ms arrive at random, by a schedule that does not wait for the \
            system, and take 80 % of what the workers can do. The latency of an item is the time from when it is due until \
            its result comes out in order. The numbers are medians of the rounds. A system that collects all results has the \
            length of the run.</p>\n";
    }
    for workers in workers {
        let mut some: Vec<&Latency> = all.iter().filter(|latency| latency.workers == workers).collect();
        some.sort_by(|a, b| a.middle().total_cmp(&b.middle()));
        let median = |quantiles: &[f64]| Summary::of(quantiles.iter().copied()).median;
        let most = some.iter().map(|latency| median(&latency.p99)).fold(1e-9, f64::max);
        let head = ["system", "half of the items", "95 %", "99 %", "rounds"];
        *page += &opened("plain", &format!("Latency, {workers} workers"), head);
        for latency in some {
            let class = if side(&latency.system) == Side::Anabranch { "own" } else { "other" };
            let (p50, p99) = (median(&latency.p50), median(&latency.p99));
            // Latencies differ by orders of magnitude, so the bars are logarithmic: from 1 ms on.
            let share = |seconds: f64| {
                (1.0 + (seconds / 1e-3).max(1.0).log10()) / (1.0 + (most / 1e-3).max(1.0).log10())
            };
            let _ = writeln!(
                page,
                "<tr class=\"{class}\"><th scope=\"row\">{}</th><td>{}</td><td>{}{}</td><td>{}</td><td>{}</td></tr>",
                escaped(&latency.system),
                milliseconds(p50),
                milliseconds(latency.middle()),
                bar(share(latency.middle()), Some((share(p50), share(p99)))),
                milliseconds(p99),
                latency.p95.len(),
            );
        }
        *page += CLOSED;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Shown;

    #[test]
    fn a_broken_contract_is_shown_with_its_number() {
        let finding =
            |is_kept, number: &str| Shown { experiment: "order".into(), is_kept, number: number.into() };
        let row = Row {
            system: "a <b>".into(),
            findings: vec![finding(true, "0 misplaced"), finding(false, "9 misplaced")],
        };
        let mut page = String::new();
        contract(&mut page, &[row]);
        assert!(page.contains("a &lt;b&gt;</th><td>1 of 2</td>"), "{page}");
        assert!(page.contains("<td class=\"broken\"><b>broken</b> 9 misplaced</td>"), "{page}");
    }
}

//! The report: one page without scripts, fonts or pictures from elsewhere.
//!
//! Each case is a table, and the bars are in its cells, so a screen reader reads the numbers in order.

use std::collections::BTreeSet;
use std::fmt::Write;

use anabranch_applications::APPLICATIONS;
use anabranch_applications::contract::Experiment;
use anabranch_measure::statistics::Summary;
use anabranch_measure::target::Unit;

use crate::contract::{Latency, Row};
use crate::results::{Cell, Group, Results};
use crate::session::LEAST_ROUNDS;
use crate::standing::{End, Standing, reference};
use crate::systems::{ALL, Home, SEQUENTIAL, Side, home, side};

/// What the suite does not have yet.
const ABSENT: &str = "the eye detector; real data; energy; scaling curves with the predictor's beside them; pages of service times; the \
    FastFlow papers' queue latencies, windows and bursts, allocation policies and accelerator mode";

const STYLE: &str = include_str!("report.css");

/// The page.
pub fn page(results: &Results) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Anabranch and its rivals</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>Anabranch and its rivals</h1>\n"
    );
    first_screen(&mut page, results);
    contract(&mut page, &results.contract);
    latencies(&mut page, &results.latency);
    heat_map(&mut page, results);
    page += "<h2>Each application</h2>\n\
        <p>A bar shows how many times as fast a variant is as the best rival, in the same rounds. The numbers in \
        brackets are the 95 % interval. Lines are those that are added to the sequential program.</p>\n";
    for about in APPLICATIONS {
        let groups: Vec<&Group> =
            results.groups.iter().filter(|group| group.application == about.name).collect();
        if !groups.is_empty() {
            let _ = write!(
                page,
                "<section>\n<h3>{}</h3>\n<p>It {}. An item is {}.</p>\n",
                escaped(about.name),
                escaped(about.what),
                escaped(about.item)
            );
            groups.iter().for_each(|group| case(&mut page, group));
            page += "</section>\n";
        }
    }
    foot(&mut page, results);
    page += "</main>\n</body>\n</html>\n";
    page
}

/// Three sentences, and a table with a line for each case.
fn first_screen(page: &mut String, results: &Results) {
    let standings: Vec<(&Group, Standing)> =
        results.groups.iter().filter_map(|group| Some((group, Standing::of(group)?))).collect();
    for sentence in sentences(&standings) {
        let _ = writeln!(page, "<p class=\"lead\">{}</p>", escaped(&sentence));
    }
    if results.scale != "full" {
        *page += "<p class=\"note\">A quick look: the data are small and the rounds are few.</p>\n";
    }
    if standings.is_empty() {
        return;
    }
    *page += "<div class=\"wide\" tabindex=\"0\"><table>\n<caption>The best variant of Anabranch against the best rival</caption>\n\
        <thead><tr><th scope=\"col\">case</th><th scope=\"col\">Anabranch</th><th scope=\"col\">rival</th>\
        <th scope=\"col\">times as fast</th><th scope=\"col\">result</th>\
        <th scope=\"col\">of those that stream</th><th scope=\"col\">times as fast</th><th scope=\"col\">result</th>\
        </tr></thead>\n<tbody>\n";
    for (group, Standing { own, rival, times, end }) in &standings {
        let (class, word) = ended(*end);
        let _ = writeln!(
            page,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td class=\"{class}\">{word}{}</td>",
            escaped(&group.name()),
            escaped(&own.variant),
            escaped(&rival.variant),
            interval(*times),
            few(own),
        );
        match Standing::of_streams(group) {
            Some(Standing { rival, times, end, .. }) => {
                let (class, word) = ended(end);
                let (rival, times) = (escaped(&rival.variant), interval(times));
                let _ =
                    writeln!(page, "<td>{rival}</td><td>{times}</td><td class=\"{class}\">{word}</td></tr>");
            }
            None => *page += "<td>none</td><td></td><td></td></tr>\n",
        }
    }
    *page += "</tbody>\n</table></div>\n";
}

/// The table of the contract: a row for each system, with the findings in its cells.
fn contract(page: &mut String, rows: &[Row]) {
    if rows.is_empty() {
        return;
    }
    *page += "<h2>The contract, and who keeps it</h2>\n<p>The same nine experiments with every system, each in a process of \
        its own with four workers. A green cell keeps the contract of the plain loop, a red cell breaks it, and both have \
        their number.</p>\n<div class=\"wide\" tabindex=\"0\"><table class=\"contract\">\n<caption>What each system \
        does</caption>\n<thead><tr><th scope=\"col\">system</th><th scope=\"col\">kept</th>";
    for experiment in Experiment::ALL {
        let _ = write!(page, "<th scope=\"col\">{}</th>", experiment.name());
    }
    *page += "</tr></thead>\n<tbody>\n";
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
    *page += "</tbody>\n</table></div>\n<details>\n<summary>What the experiments are</summary>\n<dl>\n";
    for experiment in Experiment::ALL {
        let _ = writeln!(page, "<dt>{}</dt><dd>{}</dd>", experiment.name(), escaped(experiment.what()));
    }
    *page += "</dl>\n</details>\n";
}

/// The class and the word for an end.
fn ended(end: End) -> (&'static str, &'static str) {
    match end {
        End::Win => ("win", "win"),
        End::Loss => ("loss", "loss"),
        End::Tie => ("", "tie"),
        End::Ahead => ("", "open: ahead"),
        End::Behind => ("", "open: behind"),
    }
}

/// All cases and variants at one look: the share of the best variant's speed.
fn heat_map(page: &mut String, results: &Results) {
    if results.groups.is_empty() {
        return;
    }
    let is_there =
        |name: &str| results.groups.iter().any(|group| group.cells.iter().any(|cell| cell.variant == name));
    let names: Vec<&str> = ALL.iter().map(|system| system.name).filter(|name| is_there(name)).collect();
    *page += "<h2>All cases at one look</h2>\n<p>The speed of each variant as a share of the fastest one in the case, in \
        percent. The stronger the colour of a cell, the faster.</p>\n<div class=\"wide\" tabindex=\"0\"><table class=\"heat\">\n\
        <caption>Percent of the fastest</caption>\n<thead><tr><th scope=\"col\">case</th>";
    for name in &names {
        let _ = write!(page, "<th scope=\"col\"><span>{}</span></th>", escaped(name));
    }
    *page += "</tr></thead>\n<tbody>\n";
    for group in &results.groups {
        let median = |cell: &Cell| Summary::of(cell.seconds.iter().copied()).median;
        let least = group.cells.iter().map(median).fold(f64::INFINITY, f64::min);
        let _ = write!(page, "<tr><th scope=\"row\">{}</th>", escaped(&group.name()));
        for name in &names {
            match group.cells.iter().find(|cell| cell.variant == *name) {
                Some(cell) => {
                    let share = 100.0 * least / median(cell);
                    let _ = write!(page, "<td style=\"--share:{share:.0}%\">{share:.0}</td>");
                }
                None => *page += "<td class=\"none\"><abbr title=\"not measured\">-</abbr></td>",
            }
        }
        *page += "</tr>\n";
    }
    *page += "</tbody>\n</table></div>\n";
}

/// The latency of each system, the lowest 95 % quantile first.
fn latencies(page: &mut String, all: &[Latency]) {
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
        let _ = write!(
            page,
            "<div class=\"wide\" tabindex=\"0\"><table>\n<caption>Latency, {workers} workers</caption>\n<thead><tr>\
             <th scope=\"col\">system</th><th scope=\"col\">half of the items</th><th scope=\"col\">95 %</th>\
             <th scope=\"col\">99 %</th><th scope=\"col\">rounds</th></tr></thead>\n<tbody>\n"
        );
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
        *page += "</tbody>\n</table></div>\n";
    }
}

fn sentences(standings: &[(&Group, Standing)]) -> [String; 3] {
    if standings.is_empty() {
        return [
            "No rival was measured, so nobody wins or loses here.".into(),
            "The tables below compare the variants of Anabranch with the sequential program.".into(),
            "The command suite run without --variants measures the rivals too.".into(),
        ];
    }
    let with = |end: End| -> Vec<&(&Group, Standing)> {
        standings.iter().filter(|(_, standing)| standing.end == end).collect()
    };
    let (wins, losses, behind) = (with(End::Win), with(End::Loss), with(End::Behind));
    let open = behind.len() + with(End::Ahead).len();
    let cases = if standings.len() == 1 { "case" } else { "cases" };
    let one = |(group, standing): &(&Group, Standing)| {
        let (times, rival) = (standing.times.median, &standing.rival.variant);
        format!("{} ({times:.2} times as fast as {rival})", group.name())
    };
    // The largest differences; the table has all.
    let list = |some: &[&(&Group, Standing)]| {
        const FEW: usize = 3;
        let mut some = some.to_vec();
        some.sort_by(|a, b| a.1.times.median.total_cmp(&b.1.times.median));
        let first = some.iter().take(FEW).map(|it| one(it)).collect::<Vec<_>>().join("; ");
        if some.len() > FEW { format!("{first}; and {} more cases", some.len() - FEW) } else { first }
    };
    [
        format!(
            "Of {} {cases}, the best variant of Anabranch wins {} against the best rival, ties {} and loses {}; in \
             {open} the rounds do not tell.",
            standings.len(),
            wins.len(),
            with(End::Tie).len(),
            losses.len()
        ),
        match wins.iter().max_by(|a, b| a.1.times.median.total_cmp(&b.1.times.median)) {
            Some(largest) => format!("Its largest win is {}.", one(largest)),
            None => "It has no win.".into(),
        },
        match (losses.is_empty(), behind.is_empty()) {
            (true, true) => "It has no loss, and is behind nowhere by 5 % or more.".into(),
            (true, false) => {
                format!("It has no loss, but where the rounds do not tell it is behind in {}.", list(&behind))
            }
            (false, true) => format!("It loses {}.", list(&losses)),
            (false, false) => format!(
                "It loses {}; where the rounds do not tell it is behind in {}.",
                list(&losses),
                list(&behind)
            ),
        },
    ]
}

/// One case as a table.
fn case(page: &mut String, group: &Group) {
    let Some(reference) = reference(group) else { return };
    let mut cells: Vec<(&Cell, Summary)> =
        group.cells.iter().map(|cell| (cell, cell.against(reference))).collect();
    cells.sort_by(|a, b| b.1.median.total_cmp(&a.1.median));
    let most = cells.iter().map(|(_, times)| times.high).fold(1.0, f64::max);
    let memory = cells.iter().filter_map(|(cell, _)| cell.memory).fold(1.0, f64::max);
    // The programs in C++ are compared with the loop in C++.
    let plain = |cell: &Cell| {
        let name = if home(&cell.variant) == Home::Cpp { "cpp-sequential" } else { SEQUENTIAL };
        group.cells.iter().find(|cell| cell.variant == name).map(|plain| plain.code)
    };
    let _ = write!(
        page,
        "<div class=\"wide\" tabindex=\"0\"><table>\n<caption>{}: {} {} a run</caption>\n<thead><tr><th scope=\"col\">variant</th>\
         <th scope=\"col\">times as fast as {}</th><th scope=\"col\">{} a second</th>\
         <th scope=\"col\">first result</th><th scope=\"col\">cores used</th><th scope=\"col\">memory</th>\
         <th scope=\"col\">lines added</th></tr></thead>\n<tbody>\n",
        escaped(&group.name()),
        number(group.amount),
        escaped(&group.unit),
        escaped(&reference.variant),
        escaped(&group.unit),
    );
    for (cell, times) in cells {
        let seconds = Summary::of(cell.seconds.iter().copied()).median;
        let plain = plain(cell);
        let added = plain.map_or(0, |plain| cell.code.lines as i64 - plain.lines as i64);
        let tokens = plain.map_or(0, |plain| cell.code.tokens as i64 - plain.tokens as i64);
        let _ = writeln!(
            page,
            "<tr class=\"{}\"><th scope=\"row\">{}{}</th><td>{}{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
             <td>{added:+} <small>({tokens:+} tokens; complexity {}, effort {})</small></td></tr>",
            if side(&cell.variant) == Side::Anabranch { "own" } else { "other" },
            escaped(&cell.variant),
            few(cell),
            interval(times),
            bar(times.median / most, Some((times.low / most, times.high / most))),
            number(group.amount / seconds),
            milliseconds(cell.first),
            cell.processor.map_or("?".into(), |used| format!("{:.2}", used / seconds)),
            cell.memory.map_or("?".into(), |bytes| {
                Unit::Mebibytes.show(bytes / f64::from(1 << 20)) + &bar(bytes / memory, None)
            }),
            percent_of(cell.code.complexity as f64, plain.map(|plain| plain.complexity as f64)),
            percent_of(cell.code.effort, plain.map(|plain| plain.effort)),
        );
    }
    *page += "</tbody>\n</table></div>\n";
    for (variant, why) in &group.without {
        let _ = writeln!(page, "<p class=\"note\">{}: {}.</p>", escaped(variant), escaped(why));
    }
}

fn foot(page: &mut String, results: &Results) {
    let [machine, versions] = results.machine.lines();
    let _ = write!(
        page,
        "<h2>What this is</h2>\n<ul>\n<li>{}</li>\n<li>{}</li>\n<li>The command: <code>suite {}</code>, {}</li>\n\
         <li>Each variant is a process of its own. In a round each of them runs once, one after another, and each \
         round begins with another. The first runs warm up and check the output against the sequential program.</li>\n\
         <li>A tie is a difference of less than 5 %. A larger one is open if its interval contains 1.</li>\n\
         <li>rayon and orx collect all results before the first one is written. The others give results as they \
         come.</li>\n\
         <li>Memory is the peak of the process without the data. Cores used is processor time divided by time.</li>\n\
         <li>A mark <abbr title=\"few rounds\">*</abbr> means fewer than {LEAST_ROUNDS} rounds.</li>\n\
         <li><code>suite/FAIRNESS.md</code> says what was chosen for each rival, and why.</li>\n\
         <li>Not measured, because the suite does not have them yet: {ABSENT}.</li>\n</ul>\n",
        escaped(&machine),
        escaped(&versions),
        escaped(&results.command),
        date(results.time),
    );
    for (variant, why) in &results.absent {
        let _ = writeln!(page, "<p class=\"note\">{} is absent: {}.</p>", escaped(variant), escaped(why));
    }
}

/// A bar of this share of the full width, with a thin line from the low to the high end of an interval.
fn bar(share: f64, ends: Option<(f64, f64)>) -> String {
    let percent = |share: f64| 100.0 * share.clamp(0.0, 1.0);
    let whisker = ends.map_or(String::new(), |(low, high)| {
        let width = percent(high - low).max(0.5);
        format!("<i style=\"left:{:.1}%;width:{width:.1}%\"></i>", percent(low))
    });
    format!(
        "<span class=\"bar\" aria-hidden=\"true\"><b style=\"width:{:.1}%\"></b>{whisker}</span>",
        percent(share)
    )
}

fn few(cell: &Cell) -> &'static str {
    if cell.seconds.len() < LEAST_ROUNDS { " <abbr title=\"few rounds\">*</abbr>" } else { "" }
}

fn interval(Summary { median, low, high }: Summary) -> String {
    format!("{median:.2} <small>[{low:.2}, {high:.2}]</small>")
}

/// How many percent more a number is than another.
fn percent_of(number: f64, of: Option<f64>) -> String {
    of.filter(|&of| of > 0.0).map_or("?".into(), |of| format!("{:+.0} %", 100.0 * (number / of - 1.0)))
}

fn milliseconds(seconds: f64) -> String {
    if seconds < 1e-3 {
        Unit::Microseconds.show(seconds * 1e6)
    } else {
        Unit::Milliseconds.show(seconds * 1e3)
    }
}

/// A number with commas, and with two places if it is small and not whole.
fn number(value: f64) -> String {
    if value < 100.0 && value.fract() != 0.0 {
        return format!("{value:.2}");
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The day of a time in seconds since 1970, in the Gregorian calendar and UTC.
fn date(seconds: u64) -> String {
    let (mut year, mut day) = (1970, seconds / 86_400);
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let mut month = 0;
    let length = |month: usize| match month {
        1 => 28 + u64::from(is_leap(year)),
        3 | 5 | 8 | 10 => 30,
        _ => 31,
    };
    while day >= length(month) {
        day -= length(month);
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, day + 1)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;
    use crate::contract::Shown;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(951_782_400), "2000-02-29");
        assert_eq!(date(1_795_305_600), "2026-11-22");
        assert_eq!(date(4_107_542_400), "2100-03-01");
    }

    #[test]
    fn numbers_have_commas() {
        assert_eq!(["1.50", "8", "100", "1,234"], [1.5, 8.0, 100.2, 1234.0].map(number));
        assert_eq!(number(12_345_678.0), "12,345,678");
    }

    fn cell(variant: &str, seconds: f64) -> Cell {
        let seconds = vec![seconds; 7];
        Cell {
            variant: variant.into(),
            seconds,
            first: 0.1,
            processor: None,
            memory: None,
            code: Code { lines: 9, tokens: 50, complexity: 2, effort: 100.0 },
        }
    }

    fn group(own: f64) -> Group {
        Group {
            application: "log".into(),
            workload: "lines".into(),
            workers: 2,
            amount: 1e6,
            unit: "lines".into(),
            cells: vec![cell(SEQUENTIAL, 2.0), cell("builder", own), cell("rayon", 1.0), cell("tokio", 1.5)],
            without: vec![],
        }
    }

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

    #[test]
    fn a_loss_is_named_with_its_rival() {
        let (loss, win) = (group(1.25), group(0.5));
        let of = |group| (group, Standing::of(group).unwrap());
        let [counts, largest, losses] = sentences(&[of(&loss), of(&win)]);
        assert!(
            counts
                .ends_with("wins 1 against the best rival, ties 0 and loses 1; in 0 the rounds do not tell.")
        );
        assert_eq!(largest, "Its largest win is log lines, 2 workers (2.00 times as fast as rayon).");
        assert_eq!(losses, "It loses log lines, 2 workers (0.80 times as fast as rayon).");
    }
}

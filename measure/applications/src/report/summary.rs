//! The main tables of a run as Markdown, for a README.

use std::collections::BTreeSet;
use std::fmt::Write;

use measure_harness::statistics::Summary;
use measure_harness::target::TIE;

use super::first::{sentences, word};
use crate::pictures::{Dot, bytes, milliseconds};
use crate::results::{Cell, Group, LEAST_ROUNDS, Results};
use crate::standing::{End, Standing, best_own};
use crate::systems::{Home, SEQUENTIAL, Side, home, side, streams};

/// How much more memory than a rival of equal throughput a variant may take.
const MEMORY: f64 = 1.1;
/// How much more latency than the lowest a variant may have.
const LATENCY: f64 = 1.25;

/// The cases with a rival, and how they end.
fn standings(results: &Results) -> Vec<(&Group, Standing<'_>)> {
    results.groups.iter().filter_map(|group| Some((group, Standing::of(group)?))).collect()
}

/// The case without the number of workers, unless there are several.
fn name(group: &Group, results: &Results) -> String {
    let workers: BTreeSet<usize> = results.groups.iter().map(|group| group.workers).collect();
    if workers.len() == 1 { format!("{} {}", group.application, group.workload) } else { group.name() }
}

/// A dot for each case, for the picture.
pub fn dots(results: &Results) -> Vec<Dot> {
    let dot = |(group, standing): &(&Group, Standing<'_>)| Dot {
        name: name(group, results),
        end: standing.end,
        times: standing.times,
        of_streams: Standing::of_streams(group).map(|standing| standing.times.median),
    };
    standings(results).iter().map(dot).collect()
}

fn interval(Summary { median, low, high }: Summary) -> String {
    format!("{median:.2} [{low:.2}, {high:.2}]")
}

/// Three sentences, a table of the cases, and a table of the targets.
pub fn markdown(results: &Results) -> String {
    let standings = standings(results);
    let mut text = sentences(&standings).join(" ") + "\n";
    text += "\n| case | the best variant | the best rival | times as fast | | the best rival that streams | times as fast | \
             | rounds |\n|---|---|---|---|---|---|---|---|--:|\n";
    for (group, Standing { own, rival, times, end }) in &standings {
        let of_streams = Standing::of_streams(group).map_or("none | | ".into(), |standing| {
            format!("{} | {} | {}", standing.rival.variant, interval(standing.times), word(standing.end))
        });
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {of_streams} | {} |",
            name(group, results),
            own.variant,
            rival.variant,
            interval(*times),
            word(*end),
            own.figures.seconds.len()
        );
    }
    text += "\n| what | target | measured |\n|---|---|---|\n";
    for [what, target, measured] in targets(results, &standings) {
        let _ = writeln!(text, "| {what} | {target} | {measured} |");
    }
    text
}

/// The targets of the suite: what, the target, and what was measured.
fn targets(results: &Results, standings: &[(&Group, Standing<'_>)]) -> Vec<[String; 3]> {
    let mut rows = Vec::new();
    let mut row = |what: &str, target: &str, measured: String| {
        rows.push([what.to_owned(), target.to_owned(), measured]);
    };
    let names = |ends: &[End]| -> Vec<String> {
        let some = standings.iter().filter(|(_, standing)| ends.contains(&standing.end));
        some.map(|(group, _)| format!("`{}`", name(group, results))).collect()
    };
    let (lost, behind) = (names(&[End::Loss]), names(&[End::Behind]));
    let named = |what: &str, names: &[String]| {
        if names.is_empty() { String::new() } else { format!(". {what}: {}", names.join(", ")) }
    };
    row(
        "each application, against the best rival",
        "a win or a tie",
        format!(
            "{} of {} cases{}{}",
            names(&[End::Win, End::Tie, End::Ahead]).len(),
            standings.len(),
            named("Lost", &lost),
            named("Behind, with an open interval", &behind),
        ),
    );
    let case = |application: &str, workload: &str| {
        results.groups.iter().find(|group| group.application == application && group.workload == workload)
    };
    let of_streams = |group: &Group| Standing::of_streams(group).map(|standing| standing.times);
    if let Some(times) = case("farm", "100ns").and_then(of_streams) {
        let met = if times.median >= 2.0 { "met" } else { "not met" };
        let measured = format!("{} times: {met}", interval(times));
        row("`farm`, items of 100 ns, against rivals that stream", "at least 2 times", measured);
    }
    if let Some((group, times)) = case("farm", "1us").and_then(|group| Some((group, of_streams(group)?))) {
        let all = Standing::of(group).map_or(times, |standing| standing.times);
        let measured = format!("{} times of those that stream, {} of all", interval(times), interval(all));
        row("`farm`, items of 1 us", "a win or a tie", measured);
    }
    if let Some(measured) = latency(results) {
        row("latency at 80 % load, 95 % of the items", "lowest, or within 25 %", measured);
    }
    if let Some(measured) = memory(results) {
        row("peak memory, against rivals of equal throughput", "at most 1.1 times", measured);
    }
    if let Some(measured) = lines(results) {
        row("lines added, of those that stream", "fewest", measured);
    }
    let few: Vec<String> = standings
        .iter()
        .filter(|(_, standing)| standing.own.figures.seconds.len() < LEAST_ROUNDS)
        .map(|(group, _)| format!("`{}`", name(group, results)))
        .collect();
    let measured = if few.is_empty() {
        format!("all of {} cases", standings.len())
    } else {
        format!("all but {} of {} cases: {}", few.len(), standings.len(), few.join(", "))
    };
    row("rounds", "at least 7", measured);
    rows
}

/// The latency of Anabranch's systems, next to the lowest.
fn latency(results: &Results) -> Option<String> {
    let lowest = results.latency.iter().min_by(|a, b| a.middle().total_cmp(&b.middle()))?;
    let is_own = |system: &str| side(system) == Side::Anabranch;
    let mut own: Vec<_> = results.latency.iter().filter(|latency| is_own(&latency.system)).collect();
    own.sort_by(|a, b| a.middle().total_cmp(&b.middle()));
    let each: Vec<String> = own
        .iter()
        .map(|latency| {
            let met = if latency.middle() <= LATENCY * lowest.middle() { "" } else { ", not met" };
            format!("{} {}{met}", latency.system, milliseconds(latency.middle()))
        })
        .collect();
    let lowest = format!("the lowest is {} with {}", lowest.system, milliseconds(lowest.middle()));
    (!each.is_empty()).then(|| format!("{}; {lowest}", each.join("; ")))
}

/// In how many cases no rival of equal throughput takes clearly less memory. The programs in C++ have other code and another
/// library around it, so rivals in Rust are meant.
fn memory(results: &Results) -> Option<String> {
    let (mut met, mut all, mut more) = (0, 0, Vec::new());
    for group in &results.groups {
        let Some(own) = best_own(group) else { continue };
        let is_equal = |cell: &&Cell| {
            let is_rust = side(&cell.variant) == Side::Rival && home(&cell.variant) != Home::Cpp;
            is_rust && own.figures.against(&cell.figures).median < 1.0 + TIE
        };
        let memory = |cell: &Cell| cell.figures.memory;
        let equal = group.cells.iter().filter(is_equal);
        let least = equal
            .filter(|cell| memory(cell).is_some())
            .min_by(|a, b| memory(a).unwrap_or_default().total_cmp(&memory(b).unwrap_or_default()));
        let Some((own, (rival, least))) =
            memory(own).zip(least.and_then(|cell| Some((&cell.variant, memory(cell)?))))
        else {
            continue;
        };
        all += 1;
        if own <= MEMORY * least {
            met += 1;
        } else {
            more.push((
                own / least,
                format!("{} {} and {} ({rival})", name(group, results), bytes(own), bytes(least)),
            ));
        }
    }
    more.sort_by(|a, b| b.0.total_cmp(&a.0));
    let more: Vec<String> = more.into_iter().map(|(_, words)| words).collect();
    let list = if more.is_empty() { String::new() } else { format!("; more in {}", more.join(", ")) };
    (all > 0).then(|| format!("met in {met} of {all} cases with such a rival{list}"))
}

/// The lines that the variants which stream add, from the fewest to the most.
fn lines(results: &Results) -> Option<String> {
    let mut variants: Vec<(&str, Vec<i64>)> = Vec::new();
    for group in &results.groups {
        let Some(plain) = group.cells.iter().find(|cell| cell.variant == SEQUENTIAL) else { continue };
        for cell in &group.cells {
            let is_meant = side(&cell.variant) != Side::Plain
                && home(&cell.variant) != Home::Cpp
                && streams(&cell.variant);
            if !is_meant {
                continue;
            }
            let added = cell.code.lines as i64 - plain.code.lines as i64;
            match variants.iter_mut().find(|(name, _)| *name == cell.variant) {
                Some((_, all)) => all.push(added),
                None => variants.push((&cell.variant, vec![added])),
            }
        }
    }
    for (_, all) in &mut variants {
        all.sort_unstable();
    }
    let middle = |all: &[i64]| all[all.len() / 2];
    variants.sort_by_key(|(_, all)| middle(all));
    let each: Vec<String> = variants.iter().map(|(name, all)| format!("{name} {:+}", middle(all))).collect();
    (!each.is_empty()).then(|| format!("medians: {}", each.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::first::tests::group;

    fn results(groups: Vec<Group>) -> Results {
        Results { groups, ..Results::new("full", "generated") }
    }

    #[test]
    fn the_tables_name_what_is_lost_and_what_takes_more_memory() {
        let (mut lost, won) = (group(1.25), group(0.5));
        lost.workload = "lost".into();
        for cell in &mut lost.cells {
            cell.figures.memory = Some(if cell.variant == "builder" { 3e6 } else { 2e6 });
        }
        let text = markdown(&results(vec![lost, won]));
        assert!(text.contains("| log lost | builder | rayon | 0.80 [0.80, 0.80] | loss |"), "{text}");
        assert!(text.contains("| a win or a tie | 1 of 2 cases. Lost: `log lost` |"), "{text}");
        assert!(
            text.contains("| met in 0 of 1 cases with such a rival; more in log lost 2.86 MiB"),
            "{text}"
        );
        assert!(text.contains("| at least 7 | all of 2 cases |"), "{text}");
    }
}

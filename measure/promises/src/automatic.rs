//! The suite of automatic settings: the default settings of a pipeline against the best window, burst and
//! replicas that a search finds.

use std::time::Duration;

use crate::lines::{self, Knobs, Line};
use crate::look::{Look, Measured};
use measure_harness::rounds::{Budget, Contender, measure as play};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::Work;

const WINDOWS: [Option<usize>; 6] = [None, Some(8), Some(32), Some(128), Some(1_024), Some(8_192)];
const BURSTS: [Option<usize>; 6] = [None, Some(1), Some(4), Some(16), Some(64), Some(256)];
/// More replicas than workers raise the number of workers, unless that was set.
const REPLICAS: [Option<usize>; 4] = [None, Some(2), Some(3), Some(4)];
/// How many of the fastest settings compete with the automatic ones in rounds.
const FINALISTS: usize = 3;

/// The names of the pipelines.
pub fn names() -> Vec<String> {
    lines::all().map(|line| line.name.into()).collect()
}

/// Searches the settings of each pipeline, and compares.
pub fn measure(look: &Look) -> Measured {
    let unit = Work::of(1e3);
    let rows =
        lines::all().filter(|line| look.at(line.name)).map(|line| row(line, unit, look.quick)).collect();
    let note = format!(
        "Searched: windows, bursts and replicas, {} settings for each pipeline; the {FINALISTS} quickest meet the \
         automatic ones",
        settings().count()
    );
    Measured { rows, notes: vec![note], ..Measured::default() }
}

fn settings() -> impl Iterator<Item = Knobs> {
    let around = |replicas| move |window| (window, replicas);
    let pairs = REPLICAS.into_iter().flat_map(move |replicas| WINDOWS.into_iter().map(around(replicas)));
    let all = pairs.flat_map(|(window, replicas)| {
        BURSTS.into_iter().map(move |burst| Knobs { window, burst, replicas, ..Knobs::default() })
    });
    // For a pipeline that sets its own replicas, the search changes one setting at a time.
    all.filter(|knobs| knobs.replicas.is_none() || knobs.window.is_none() || knobs.burst.is_none())
        .filter(|knobs| *knobs != Knobs::default())
}

fn row(line: &Line, unit: Work, quick: bool) -> Row {
    let (trial, seconds, rounds) = if quick { (0.003, 0.012, 7) } else { (0.016, 0.06, 15) };
    let items = line.items(seconds);
    let finalists = search(line, unit, line.items(trial), if quick { 1 } else { 2 });
    let plain = Knobs { workers: Some(1), ..Knobs::default() };
    let expected = line.run(unit, items, plain).digest;
    let contender = |name: &str, knobs: Knobs| {
        Contender::sampled(name, expected, move || {
            let ran = line.run(unit, items, knobs);
            (ran.seconds, ran.digest)
        })
    };
    let mut contenders = vec![contender("automatic", Knobs::default())];
    contenders.extend(finalists.iter().map(|&knobs| contender("searched", knobs)));
    let budget = Budget { wanted: rounds, least: 7, time: Duration::from_secs(if quick { 2 } else { 15 }) };
    let rounds = play(budget, line.probe(unit, seconds / 4.0), contenders);
    Row::new("automatic", line.name, (Target::AtMost(1.1), Unit::Times), &rounds, |rounds| {
        let median = |at: &usize| rounds.median(|round| round.samples[*at]);
        let best = (1..=FINALISTS).min_by(|a, b| median(a).total_cmp(&median(b))).unwrap_or(1);
        (rounds.summary(|round| round.samples[0] / round.samples[best]), show(finalists[best - 1]))
    })
}

/// The fastest settings, by the shortest of some short runs each.
fn search(line: &Line, unit: Work, items: u64, runs: usize) -> Vec<Knobs> {
    let mut all: Vec<(f64, Knobs)> = settings()
        .map(|knobs| {
            let times = (0..runs).map(|_| line.run(unit, items, knobs).seconds);
            (times.fold(f64::INFINITY, f64::min), knobs)
        })
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.into_iter().take(FINALISTS).map(|(_, knobs)| knobs).collect()
}

fn show(knobs: Knobs) -> String {
    let part = |name: &str, value: Option<usize>| value.map(|value| format!("{name} {value}"));
    let parts = [part("window", knobs.window), part("burst", knobs.burst), part("replicas", knobs.replicas)];
    format!("best: {}", parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_covers_each_setting_and_leaves_out_the_automatic_one() {
        let all: Vec<Knobs> = settings().collect();
        assert!(!all.contains(&Knobs::default()));
        assert!(WINDOWS.iter().all(|&window| all.iter().any(|knobs| knobs.window == window)));
        assert!(BURSTS.iter().all(|&burst| all.iter().any(|knobs| knobs.burst == burst)));
        assert!(REPLICAS.iter().all(|&replicas| all.iter().any(|knobs| knobs.replicas == replicas)));
    }
}

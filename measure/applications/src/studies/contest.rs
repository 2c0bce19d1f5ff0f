//! Measures a study.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use measure_harness::energy::Meter;
use measure_harness::rival::PATIENCE;
use measure_harness::rounds::{Budget, Contender, Unmeasured, measure_watched};
use measure_programs::Scale;

use super::{Entry, Setup, Studied, Study, Trial};
use crate::players::Player;
use crate::programs::Programs;
use crate::systems::SEQUENTIAL;

/// Makes a study in so many rounds, or fewer if the time is up.
///
/// # Errors
/// If a sequential program does not run, or a program fails after it has run well before.
pub fn measure(
    study: &Study,
    programs: &Programs,
    setup: &Setup,
    (rounds, time): (usize, Duration),
    watch: impl FnMut(&str, usize),
) -> Result<Studied, String> {
    let problem = |what: String| format!("{}: {what}", study.name);
    let began = Instant::now();
    let meter = Meter::of_this_machine().ok().map(Rc::new);
    let mut expected = HashMap::new();
    let (mut players, mut without) = (Vec::new(), Vec::new());
    let entries = (study.entries)(setup);
    for entry in &entries {
        let Entry { application, workload, variant, workers, .. } = entry;
        let hash = match expected.get(&(*application, workload.clone())) {
            Some(&hash) => hash,
            None => {
                let hash = sequential(programs, entry, setup.scale).map_err(problem)?;
                expected.insert((*application, workload.clone()), hash);
                hash
            }
        };
        let started = programs.start(application, workload, setup.scale, variant, *workers);
        match started.and_then(|process| Ok((process.amount, process.checked(hash, PATIENCE)?))) {
            Ok((amount, process)) => {
                players.push((entry, amount, Player::new(entry.name(), process, hash, meter.clone())));
            }
            Err(why) => without.push((entry.name(), why)),
        }
    }
    if players.is_empty() {
        return Ok(Studied { name: study.name.into(), trials: vec![], without });
    }
    // One round is measured however short the time is, and in tests, which have few rounds, however busy the machine is.
    let patience = if setup.scale == Scale::Tiny { 100 } else { 3 };
    let time = time.max(patience * began.elapsed());
    let budget = Budget { wanted: rounds, least: 1, time };
    let contenders: Vec<Contender> = players.iter().map(|(.., player)| player.contender()).collect();
    let rounds = measure_watched(budget, None, contenders, watch).map_err(|why| match why {
        Unmeasured::Wrong { contender } => problem(format!("{contender} failed after it had run well")),
        other => problem(other.to_string()),
    })?;
    let (kept, _) = rounds.counts();
    let trial = |(entry, amount, player): &(&Entry, f64, Player)| Trial {
        panel: entry.panel.clone(),
        series: entry.series.clone(),
        at: entry.at.clone(),
        workers: entry.workers,
        amount: *amount,
        figures: player.figures(kept),
    };
    let mut trials: Vec<Trial> = players.iter().map(trial).collect();
    trials.extend((study.computed)(setup, &trials));
    Ok(Studied { name: study.name.into(), trials, without })
}

/// The hash of the sequential program's output.
fn sequential(programs: &Programs, entry: &Entry, scale: Scale) -> Result<u64, String> {
    let started = programs.start(entry.application, &entry.workload, scale, SEQUENTIAL, 1);
    let hash = started.and_then(|mut process| Ok(process.run()?.hash));
    hash.map_err(|why| format!("{} {}, the sequential program: {why}", entry.application, entry.workload))
}

impl Entry {
    pub(super) fn name(&self) -> String {
        let Self { panel, series, at, .. } = self;
        [panel.as_str(), series, at]
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    }
}

//! Measures one case.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use anabranch_applications::{Answer, Scale};
use anabranch_measure::rounds::{Budget, Contender, Unmeasured, measure_watched};
use anabranch_measure::statistics::Summary;
use anabranch_measure::work::Digest;

use crate::choice::Case;
use crate::code::Code;
use crate::process::Process;
use crate::programs::Programs;
use crate::results::{Cell, Group};
use crate::systems::SEQUENTIAL;

/// A variant that takes part.
struct Player {
    variant: &'static str,
    process: RefCell<Process>,
    answers: RefCell<Vec<Answer>>,
}

/// Runs the sequential program and the variants in turn, for this time.
///
/// # Errors
/// If the sequential program does not run, or a variant fails after it has run well before.
pub fn measure(
    programs: &Programs,
    case: Case,
    variants: &[&'static str],
    scale: Scale,
    (rounds, time): (usize, Duration),
    watch: impl FnMut(&str, usize),
) -> Result<Group, String> {
    let of_sequential =
        |error| format!("{} {}, the sequential program: {error}", case.about.name, case.workload);
    let began = Instant::now();
    let mut reference = programs.start(case, scale, SEQUENTIAL).map_err(of_sequential)?;
    let expected = reference.run().map_err(of_sequential)?.hash;
    let amount = reference.amount;
    let mut players = vec![Player::new(SEQUENTIAL, reference)];
    let mut without = Vec::new();
    for &variant in variants {
        // The first run, which is not measured, checks the output.
        let started = programs.start(case, scale, variant).and_then(|mut process| {
            let hash = process.run()?.hash;
            let is_right = hash == expected;
            is_right.then_some(process).ok_or_else(|| "WRONG: its output is not that of the loop".to_owned())
        });
        match started {
            Ok(process) => players.push(Player::new(variant, process)),
            Err(why) => without.push((variant.to_owned(), why)),
        }
    }
    // The round that warms up takes about as long as the checks did. One round is measured however short the time is.
    let time = time.max(3 * began.elapsed());
    let budget = Budget { wanted: rounds, least: 1, time };
    let contenders = players.iter().map(|player| player.contender(expected)).collect();
    let rounds = measure_watched(budget, None, contenders, watch).map_err(|why| match why {
        Unmeasured::Wrong { contender } => {
            format!("{} {}: {contender} failed after it had run well", case.about.name, case.workload)
        }
        other => other.to_string(),
    })?;
    let (kept, _) = rounds.counts();
    Ok(Group {
        application: case.about.name.into(),
        workload: case.workload.into(),
        workers: case.workers,
        amount,
        unit: case.about.unit.into(),
        cells: players.iter().map(|player| player.cell(case, kept)).collect(),
        without,
    })
}

impl Player {
    fn new(variant: &'static str, process: Process) -> Self {
        Self { variant, process: RefCell::new(process), answers: RefCell::default() }
    }

    /// A contender whose sample is its time in seconds.
    fn contender(&self, expected: u64) -> Contender<'_> {
        Contender::sampled(self.variant, Digest::of_number(expected), move || {
            match self.process.borrow_mut().run() {
                Ok(answer) => {
                    self.answers.borrow_mut().push(answer);
                    (answer.seconds, Digest::of_number(answer.hash))
                }
                // Counts as a wrong result.
                Err(_) => (f64::NAN, Digest::of_number(!expected)),
            }
        })
    }

    fn cell(&self, case: Case, rounds: usize) -> Cell {
        let answers = self.answers.borrow();
        // The round that warms up is not among those that count.
        let kept = &answers[answers.len() - rounds..];
        let median = |of: fn(&Answer) -> f64| Summary::of(kept.iter().map(of)).median;
        let told = |number: f64| Some(number).filter(|number| number.is_finite());
        Cell {
            variant: self.variant.into(),
            seconds: kept.iter().map(|answer| answer.seconds).collect(),
            first: median(|answer| answer.first),
            processor: told(median(|answer| answer.processor)),
            memory: kept.last().and_then(|answer| told(answer.memory)),
            code: Code::of(case.about.name, self.variant),
        }
    }
}

//! Measures one case.

use std::rc::Rc;
use std::time::{Duration, Instant};

use measure_harness::energy::Meter;
use measure_harness::rounds::{Budget, Unmeasured, measure_watched};
use measure_programs::Scale;

use crate::choice::Case;
use crate::code::Code;
use crate::players::Player;
use crate::programs::Programs;
use crate::results::{Cell, Group, LEAST_ROUNDS};
use crate::systems::SEQUENTIAL;

/// A variant is stopped and left out if it takes so many times as long as the sequential program: it would take the rounds of
/// all others.
const HOPELESS: u32 = 10;
/// Shorter runs of the sequential program count as this long.
const SHORTEST: Duration = Duration::from_millis(50);

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
    let Case { about, workload, workers } = case;
    let of_sequential = |error| format!("{} {workload}, the sequential program: {error}", about.name);
    let meter = Meter::of_this_machine().ok().map(Rc::new);
    let start = |variant| programs.start(about.name, workload, scale, variant, workers);
    let mut reference = start(SEQUENTIAL).map_err(of_sequential)?;
    let run = Instant::now();
    let expected = reference.run().map_err(of_sequential)?.hash;
    let mut round = run.elapsed();
    // Tests run every variant, however busy the machine is.
    let is_test = scale == Scale::Tiny;
    let bound = if is_test { Duration::MAX } else { HOPELESS * round.max(SHORTEST) };
    let (amount, data) = (reference.amount, reference.data.clone());
    let mut players = vec![(SEQUENTIAL, Player::new(SEQUENTIAL, reference, expected, meter.clone()))];
    let mut without = Vec::new();
    for &variant in variants {
        // The first run, which is not measured, checks the output.
        let checked = start(variant).and_then(|process| {
            let run = Instant::now();
            Ok((process.checked(expected, bound)?, run.elapsed()))
        });
        match checked {
            Ok((process, took)) => {
                round += took;
                players.push((variant, Player::new(variant, process, expected, meter.clone())))
            }
            Err(why) => without.push((variant.to_owned(), why)),
        }
    }
    // However short the time is, there is some for a round that warms up and for so many rounds. In tests, which have two
    // rounds, the machine may be busy.
    let least = scale.choose(100, 2, LEAST_ROUNDS as u32);
    let time = time.max((1 + least) * round);
    let budget = Budget { wanted: rounds, least: 1, time };
    let contenders = players.iter().map(|(_, player)| player.contender()).collect();
    let rounds = measure_watched(budget, None, contenders, watch).map_err(|why| match why {
        Unmeasured::Wrong { contender } => {
            format!("{} {workload}: {contender} failed after it had run well", about.name)
        }
        other => other.to_string(),
    })?;
    let (kept, _) = rounds.counts();
    let cell = |(variant, player): &(&str, Player)| Cell {
        variant: (*variant).into(),
        figures: player.figures(kept),
        code: Code::of(about.name, variant),
    };
    Ok(Group {
        application: about.name.into(),
        workload: workload.into(),
        workers,
        amount,
        data,
        unit: about.unit.into(),
        cells: players.iter().map(cell).collect(),
        without,
    })
}

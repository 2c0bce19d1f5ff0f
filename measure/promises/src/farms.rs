//! Ordered farms: independent tasks, one parallel stage and an ordered sink. They are the application `farm` of the suite, with
//! Anabranch and with other libraries, each in a process of its own.

use std::env;
use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::Duration;

use measure_applications::{Checkouts, Chosen, Process, Programs, SEQUENTIAL};
use measure_harness::rival::PATIENCE;
use measure_harness::rounds::{Budget, Ceiling, Contender, Rounds, Unmeasured, measure};
use measure_harness::statistics::Summary;
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::{Digest, Work};
use measure_programs::Scale;

/// The programs of the variants.
#[derive(Debug)]
pub struct Farms(Programs);

/// The rounds of one grain.
#[derive(Debug)]
pub struct Played {
    /// The samples are nanoseconds an item. The first is that of the plain loop.
    rounds: Result<Rounds, Unmeasured>,
    /// The place of a variant among the samples, or why it has none.
    places: Vec<(&'static str, Result<usize, Unmeasured>)>,
    /// Names and versions of what was played.
    pub versions: Vec<String>,
}

impl Farms {
    /// Builds what these variants need. `FASTFLOW`, `TASKFLOW` and `RUST_SSP_DIR` name checkouts.
    ///
    /// # Errors
    /// If the system does not tell where this program is.
    pub fn build(variants: &[&'static str]) -> Result<Self, String> {
        let of = |name| env::var_os(name).map(PathBuf::from);
        let checkouts =
            Checkouts { rust_ssp: of("RUST_SSP_DIR"), fastflow: of("FASTFLOW"), taskflow: of("TASKFLOW") };
        Programs::ready(&[&[SEQUENTIAL], variants].concat(), &checkouts, &Chosen::generated()).map(Self)
    }

    /// Plays the rounds of a workload.
    pub fn play(&self, workload: &str, variants: &[&'static str], quick: bool) -> Played {
        let workers = available_parallelism().map_or(1, usize::from);
        let start = |variant| self.0.start("farm", workload, Scale::Quick, variant, workers);
        let mut played = Played { rounds: Ok(Rounds::default()), places: Vec::new(), versions: Vec::new() };
        let reference = start(SEQUENTIAL).and_then(|mut process| Ok((process.run()?.hash, process)));
        let (hash, process) = match reference {
            Ok(reference) => reference,
            Err(why) => return Played { rounds: Err(Unmeasured::Impossible(why)), ..played },
        };
        let mut contenders = vec![contender(SEQUENTIAL, process, hash)];
        for &variant in variants {
            let place = match start(variant).and_then(|process| process.checked(hash, PATIENCE)) {
                Ok(process) => {
                    played.versions.push(process.version());
                    contenders.push(contender(variant, process, hash));
                    Ok(contenders.len() - 1)
                }
                Err(why) if !self.0.has(variant) => Err(Unmeasured::NotInstalled(why)),
                Err(why) if why.starts_with("WRONG") => Err(Unmeasured::Wrong { contender: variant.into() }),
                Err(why) => Err(Unmeasured::Impossible(why)),
            };
            played.places.push((variant, place));
        }
        let (wanted, least, seconds) = if quick { (7, 7, 30) } else { (21, 15, 300) };
        let budget = Budget { wanted, least, time: Duration::from_secs(seconds) };
        played.rounds = measure(budget, Some(probe()), contenders);
        played
    }
}

/// Two plain threads, which tell whether the machine was quiet.
pub fn probe() -> Ceiling {
    let work = Work::of(1e3);
    Ceiling { work, items: work.items(0.02) }
}

/// A process whose sample is in nanoseconds an item.
fn contender(name: &str, mut process: Process, expected: u64) -> Contender<'static> {
    Contender::sampled(name, Digest::of_number(expected), move || match process.run() {
        Ok(answer) => (answer.seconds * 1e9 / process.amount, Digest::of_number(answer.hash)),
        Err(_) => (f64::NAN, Digest::of_number(!expected)),
    })
}

impl Played {
    /// The row of a variant. `number` gets the rounds, and the place of the variant among the samples.
    pub fn row(
        &self,
        (group, what): (&str, String),
        variant: &str,
        target: (Target, Unit),
        number: impl Fn(&Rounds, usize) -> Summary,
    ) -> Row {
        let place = self.places.iter().find(|(name, _)| *name == variant).map(|(_, place)| place);
        match (place, &self.rounds) {
            (Some(Err(why)), _) => Row::without(group, what, target, why.clone()),
            (Some(&Ok(at)), rounds) => Row::new(group, what, target, rounds, |rounds| {
                let [each, plain] = [at, 0].map(|at| rounds.median(|round| round.samples[at]));
                (number(rounds, at), format!("{each:.1} ns an item, the plain loop {plain:.1} ns"))
            }),
            (_, Err(why)) => Row::without(group, what, target, why.clone()),
            (None, Ok(_)) => unreachable!("{variant} was played"),
        }
    }

    /// The place of a variant among the samples. 0, the place of the plain loop, if it was not played.
    pub fn place(&self, variant: &str) -> usize {
        let is_it =
            |(name, place): &(&str, Result<usize, _>)| (*name == variant).then(|| place.clone().ok())?;
        self.places.iter().find_map(is_it).unwrap_or(0)
    }
}

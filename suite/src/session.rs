//! Measures all cases, and writes the results after each of them.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anabranch_applications::Scale;
use anabranch_measure::machine::Machine;

use crate::choice::{Case, Choice};
use crate::command::RunArguments;
use crate::contract::{Latency, examined, shown};
use crate::programs::{Checkouts, Programs, builds};
use crate::progress::Progress;
use crate::results::{Group, Results};
use crate::systems::SEQUENTIAL;
use crate::{group, report};

/// Cells with fewer rounds are marked in the report.
pub const LEAST_ROUNDS: usize = 7;

/// A command that measures.
#[derive(Debug)]
pub struct Session<'a> {
    choice: &'a Choice,
    scale: Scale,
    rounds: usize,
    /// For all cases that are not measured yet.
    time: Duration,
    folder: PathBuf,
    checkouts: Checkouts,
    results: Results,
}

impl<'a> Session<'a> {
    /// Reads what was measured before.
    ///
    /// # Errors
    /// If the folder has results of another commit, machine or scale, or cannot be created.
    pub fn begin(choice: &'a Choice, arguments: &RunArguments) -> Result<Self, String> {
        if cfg!(debug_assertions) && !arguments.tiny {
            eprintln!("This is a debug build, and its numbers mean nothing. Run it with --release.");
        }
        let folder = arguments.out.clone().unwrap_or_else(|| builds().join("suite"));
        fs::create_dir_all(&folder)
            .map_err(|error| format!("{}: {error}; --out DIR chooses another folder", folder.display()))?;
        let scale = arguments.scale();
        let command = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
        let machine = Machine::of_this_run(&["anabranch"]);
        let new = Results {
            machine,
            scale: scale.name().into(),
            time: 0,
            command,
            contract: Vec::new(),
            latency: Vec::new(),
            groups: Vec::new(),
            absent: Vec::new(),
        };
        let path = folder.join("results.json");
        let results = if path.exists() && !arguments.fresh {
            let old = Results::read(&path).map_err(|problem| format!("{problem}; --fresh replaces it"))?;
            if (&old.machine, &old.scale) != (&new.machine, &new.scale) {
                return Err(format!(
                    "{} is from commit {} with {} data, and this is commit {} with {} data: --fresh replaces it, \
                     --out DIR keeps it",
                    path.display(),
                    old.machine.commit,
                    old.scale,
                    new.machine.commit,
                    new.scale
                ));
            }
            Results { groups: old.groups, contract: old.contract, latency: old.latency, ..new }
        } else {
            new
        };
        let minutes = arguments.minutes.unwrap_or(if scale == Scale::Full { 60.0 } else { 3.0 });
        let time = Duration::try_from_secs_f64(minutes * 60.0)
            .map_err(|_| format!("--minutes {minutes} is not a time"))?;
        let rounds = scale.choose(2, LEAST_ROUNDS, 21);
        let checkouts = arguments.checkouts();
        Ok(Self { choice, scale, rounds, time, folder, checkouts, results })
    }

    /// Measures what is not measured yet.
    ///
    /// # Errors
    /// If a case cannot be measured, or a file cannot be written.
    pub fn run(mut self) -> Result<(), String> {
        let asked = [&[SEQUENTIAL], &self.choice.variants[..]].concat();
        let programs = Programs::ready(&asked, &self.checkouts)?;
        self.results.absent = programs.absent();
        for (variant, why) in &self.results.absent {
            eprintln!("{variant} is absent: {why}");
        }
        self.examine(&programs)?;
        self.measure_latency(&programs)?;
        let missing: Vec<Case> =
            self.choice.cases.iter().copied().filter(|&case| !self.has(case, &programs)).collect();
        let already = self.choice.cases.len() - missing.len();
        if already > 0 {
            eprintln!("{already} cases are measured already; --fresh measures them again");
        }
        let progress = Progress::new(self.time);
        for (at, &case) in missing.iter().enumerate() {
            let Case { about, workload, workers } = case;
            let name =
                format!("[{} of {}] {} {workload}, {workers} workers", at + 1, missing.len(), about.name);
            progress.case(&name);
            let time = self.time / missing.len() as u32;
            let watch = |variant: &str, round| progress.variant(&name, variant, round);
            let variants = self.there(case, &programs);
            let group = group::measure(&programs, case, &variants, self.scale, (self.rounds, time), watch)?;
            self.add(group);
            self.write()?;
        }
        progress.end();
        self.write()?;
        let wrong: Vec<String> = self
            .results
            .groups
            .iter()
            .flat_map(|group| group.without.iter().map(move |(variant, why)| (group, variant, why)))
            .filter(|(_, _, why)| why.starts_with("WRONG"))
            .map(|(group, variant, _)| format!("{} in {}", variant, group.name()))
            .collect();
        eprintln!("wrote {}", self.folder.join("report.html").display());
        if wrong.is_empty() {
            Ok(())
        } else {
            Err(format!("these gave another output than the sequential program: {}", wrong.join("; ")))
        }
    }

    /// Makes the experiments of the contract with the systems that are there and have not been examined yet.
    fn examine(&mut self, programs: &Programs) -> Result<(), String> {
        if !self.choice.contract {
            return Ok(());
        }
        for variant in [&[SEQUENTIAL], &self.choice.variants[..]].concat() {
            if !programs.has(variant) || self.results.contract.iter().any(|row| row.system == variant) {
                continue;
            }
            eprintln!("the contract: {variant}");
            let command = programs.command(variant)?;
            let program = command.get_program();
            self.results.contract.push(examined(variant, || std::process::Command::new(program)));
            self.write()?;
        }
        print!("{}", shown(&self.results.contract));
        Ok(())
    }

    /// Measures the latency of the systems that are there, in rounds of all systems.
    fn measure_latency(&mut self, programs: &Programs) -> Result<(), String> {
        let (rounds, seconds) = self.scale.choose((1, 0.2), (1, 0.5), (5, 1.0));
        for &workers in &self.choice.latency {
            let is_new = |variant: &&'static str| {
                let mut measured = self.results.latency.iter();
                programs.has(variant)
                    && !measured.any(|latency| latency.system == **variant && latency.workers == workers)
            };
            let systems: Vec<&'static str> = self.choice.variants.iter().copied().filter(is_new).collect();
            let mut all: Vec<Latency> = systems.iter().map(|system| Latency::new(system, workers)).collect();
            for round in 0..rounds {
                eprintln!("latency with {workers} workers, round {} of {rounds}", round + 1);
                for (system, latency) in systems.iter().zip(&mut all) {
                    if !latency.measure(programs.command(system)?, seconds) {
                        eprintln!("{system} gave no latency");
                    }
                }
            }
            self.results.latency.extend(all.into_iter().filter(|latency| !latency.p95.is_empty()));
            self.write()?;
        }
        Ok(())
    }

    /// The variants of a case that are there.
    fn there(&self, case: Case, programs: &Programs) -> Vec<&'static str> {
        self.choice.variants_of(case).into_iter().filter(|variant| programs.has(variant)).collect()
    }

    /// Whether a case was measured with all variants that are there.
    fn has(&self, case: Case, programs: &Programs) -> bool {
        let is_it = |group: &&Group| group.is(case.about.name, case.workload, case.workers);
        self.results.groups.iter().find(is_it).is_some_and(|group| {
            let has = |variant: &str| {
                group.cells.iter().any(|cell| cell.variant == variant)
                    || group.without.iter().any(|(without, _)| without == variant)
            };
            self.there(case, programs).iter().chain([&SEQUENTIAL]).all(|variant| has(variant))
        })
    }

    fn add(&mut self, group: Group) {
        self.results.groups.retain(|old| !old.is(&group.application, &group.workload, group.workers));
        self.results.groups.push(group);
    }

    fn write(&mut self) -> Result<(), String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        self.results.time = now.map_or(0, |since| since.as_secs());
        self.results.write(&self.folder.join("results.json"))?;
        let path = self.folder.join("report.html");
        fs::write(&path, report::page(&self.results)).map_err(|error| format!("{}: {error}", path.display()))
    }
}

//! Measures all cases, and writes the results after each of them.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use measure_harness::builds;
use measure_programs::Scale;

use crate::arguments::RunArguments;
use crate::checkouts::Checkouts;
use crate::choice::{Case, Choice};
use crate::contract::{Latency, Row, examined, shown};
use crate::data::Chosen;
use crate::programs::Programs;
use crate::progress::Progress;
use crate::results::{Group, LEAST_ROUNDS, Results};
use crate::services::Service;
use crate::studies::{Setup, Studied};
use crate::systems::{ALL, SEQUENTIAL, runs_any_loop};
use crate::{group, report, studies};

/// The share of the time that the studies may take if there are cases to measure as well.
const STUDIES_SHARE: f64 = 0.2;
/// The part of its share of the time that a case may take. The rest is for cases whose least rounds take longer than that.
const CASE_SHARE: f64 = 0.6;

/// A command that measures.
#[allow(missing_debug_implementations)] // the choice has functions
pub struct Session<'a> {
    choice: &'a Choice,
    scale: Scale,
    rounds: usize,
    /// For all that is not measured yet.
    time: Duration,
    folder: PathBuf,
    checkouts: Checkouts,
    data: Chosen,
    results: Results,
}

impl<'a> Session<'a> {
    /// Reads what was measured before.
    ///
    /// # Errors
    /// If the folder has results of another commit, machine or scale or of other data, or cannot be created, or if a file of
    /// the real data is missing.
    pub fn begin(choice: &'a Choice, arguments: &RunArguments) -> Result<Self, String> {
        if cfg!(debug_assertions) && !arguments.tiny {
            eprintln!("This is a debug build, and its numbers mean nothing. Run it with --release.");
        }
        let folder = arguments.out.clone().unwrap_or_else(|| builds::folder().join("suite"));
        fs::create_dir_all(&folder)
            .map_err(|error| format!("{}: {error}; --out DIR chooses another folder", folder.display()))?;
        let scale = arguments.scale();
        let data = Chosen::of(arguments.data.as_deref())?;
        let new = Results::new(scale.name(), &data.identity);
        let path = folder.join("results.json");
        let results = if path.exists() && !arguments.fresh {
            let old = Results::read(&path).map_err(|problem| format!("{problem}; --fresh replaces it"))?;
            if (&old.machine, &old.scale, &old.data) != (&new.machine, &new.scale, &new.data) {
                let name = |results: &Results| {
                    format!("commit {} with {} data, {}", results.machine.commit, results.scale, results.data)
                };
                return Err(format!(
                    "{} is from {}, and this is {}: --fresh replaces it, --out DIR keeps it",
                    path.display(),
                    name(&old),
                    name(&new)
                ));
            }
            let Results { groups, contract, latency, services, studies, .. } = old;
            Results { groups, contract, latency, services, studies, ..new }
        } else {
            new
        };
        let minutes = arguments.minutes.unwrap_or(if scale == Scale::Full { 60.0 } else { 3.0 });
        let time = Duration::try_from_secs_f64(minutes * 60.0)
            .map_err(|_| format!("--minutes {minutes} is not a time"))?;
        let rounds = scale.choose(2, LEAST_ROUNDS, 21);
        let checkouts = arguments.checkouts();
        Ok(Self { choice, scale, rounds, time, folder, checkouts, data, results })
    }

    /// Measures what is not measured yet.
    ///
    /// # Errors
    /// If a case cannot be measured, or a file cannot be written.
    pub fn run(mut self) -> Result<(), String> {
        let asked = [&[SEQUENTIAL], &self.choice.variants[..]].concat();
        let programs = Programs::ready(&asked, &self.checkouts, &self.data)?;
        self.results.absent = programs.absent();
        for (variant, why) in &self.results.absent {
            eprintln!("{variant} is absent: {why}");
        }
        let end = Instant::now() + self.time;
        let progress = Progress::new(self.time);
        self.examine(&programs)?;
        self.measure_latency(&programs)?;
        self.measure_stages()?;
        self.make_studies(&programs, &progress)?;
        let missing: Vec<Case> =
            self.choice.cases.iter().copied().filter(|&case| !self.has(case, &programs)).collect();
        let already = self.choice.cases.len() - missing.len();
        if already > 0 {
            eprintln!("{already} cases are measured already; --fresh measures them again");
        }
        for (at, &case) in missing.iter().enumerate() {
            let Case { about, workload, workers } = case;
            let name =
                format!("[{} of {}] {} {workload}, {workers} workers", at + 1, missing.len(), about.name);
            progress.case(&name);
            let left = end.saturating_duration_since(Instant::now()) / (missing.len() - at) as u32;
            let time = left.mul_f64(CASE_SHARE);
            let watch = |variant: &str, round| progress.variant(&name, variant, round);
            let variants = self.there(case, &programs);
            let group = group::measure(&programs, case, &variants, self.scale, (self.rounds, time), watch)?;
            self.add(group);
            self.write()?;
        }
        progress.end();
        self.write()?;
        let of_groups = self.results.groups.iter().flat_map(|group| {
            group.without.iter().map(move |(variant, why)| (format!("{variant} in {}", group.name()), why))
        });
        let of_studies = self.results.studies.iter().flat_map(|studied| {
            studied.without.iter().map(move |(entry, why)| (format!("{entry} in {}", studied.name), why))
        });
        let wrong: Vec<String> = of_groups
            .chain(of_studies)
            .filter(|(_, why)| why.starts_with("WRONG"))
            .map(|(who, _)| who)
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
        let is_new = |variant: &&'static str| {
            programs.has(variant)
                && runs_any_loop(variant)
                && !self.results.contract.iter().any(|row| row.system == **variant)
        };
        let all = [&[SEQUENTIAL], &self.choice.variants[..]].concat();
        let systems: Vec<&'static str> = all.into_iter().filter(is_new).collect();
        // In a quick look two systems for each core are examined at a time: most experiments wait or count.
        let at_once = if self.scale == Scale::Full { 1 } else { 2 * self.results.machine.cores };
        let examine = |system: &'static str| {
            eprintln!("the contract: {system}");
            let command = programs.command(system)?;
            let program = command.get_program();
            Ok(examined(system, || std::process::Command::new(program)))
        };
        // The last ones take longest, so they begin if several are examined at a time.
        let left = Mutex::new(if at_once == 1 { systems.into_iter().rev().collect() } else { systems });
        let take = || left.lock().expect("experiments do not panic").pop();
        thread::scope(|scope| {
            let (sender, rows) = channel::<Result<Row, String>>();
            for _ in 0..at_once {
                let (sender, examine, take) = (sender.clone(), &examine, &take);
                scope.spawn(move || {
                    // An error ends the receiver, and then this.
                    while let Some(system) = take()
                        && sender.send(examine(system)).is_ok()
                    {}
                });
            }
            drop(sender);
            for row in rows {
                self.results.contract.push(row?);
                self.write()?;
            }
            Ok::<(), String>(())
        })?;
        let rank = |row: &Row| ALL.iter().position(|system| system.name == row.system);
        self.results.contract.sort_by_key(rank);
        self.write()?;
        print!("{}", shown(&self.results.contract));
        Ok(())
    }

    /// Measures the latency of the systems that are there, in rounds of all systems.
    fn measure_latency(&mut self, programs: &Programs) -> Result<(), String> {
        let (rounds, seconds) = self.scale.choose((1, 0.2), (1, 0.3), (5, 1.0));
        for &workers in &self.choice.latency {
            let is_new = |variant: &&'static str| {
                let mut measured = self.results.latency.iter();
                programs.has(variant)
                    && runs_any_loop(variant)
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

    /// Measures the stages of the workloads that were not measured yet.
    fn measure_stages(&mut self) -> Result<(), String> {
        let choice = self.choice;
        for &(about, workload) in &choice.stages {
            let is_it = |service: &Service| service.application == about.name && service.workload == workload;
            if self.results.services.iter().any(is_it) {
                continue;
            }
            eprintln!("the stages of {} {workload}", about.name);
            self.results.services.push(Service::measure(about.name, workload, self.scale, &self.data)?);
        }
        self.write()
    }

    /// Makes the studies that were not made yet. All together take at most a part of the time if cases follow.
    fn make_studies(&mut self, programs: &Programs, progress: &Progress) -> Result<(), String> {
        let choice = self.choice;
        let variants: Vec<&'static str> =
            choice.variants.iter().copied().filter(|variant| programs.has(variant)).collect();
        let cores = self.results.machine.cores;
        let data = self.data.data();
        let setup = Setup { scale: self.scale, cores, variants: &variants, data: data.as_ref() };
        let rounds = self.scale.choose(1, 2, 9);
        let share = if choice.cases.is_empty() { 1.0 } else { STUDIES_SHARE };
        let time = self.time.mul_f64(share) / choice.studies.len().max(1) as u32;
        for study in &choice.studies {
            let entries = (study.entries)(&setup);
            let is_it = |studied: &Studied| studied.name == study.name;
            if self.results.studies.iter().any(|studied| is_it(studied) && studied.covers(&entries)) {
                continue;
            }
            progress.case(study.title);
            let mut watch = |what: &str, round| progress.variant(study.title, what, round);
            let studied = studies::measure(study, programs, &setup, (rounds, time), &mut watch)?;
            self.results.studies.retain(|old| !is_it(old));
            self.results.studies.push(studied);
            self.write()?;
        }
        let rank = |studied: &Studied| studies::ALL.iter().position(|study| study.name == studied.name);
        self.results.studies.sort_by_key(rank);
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

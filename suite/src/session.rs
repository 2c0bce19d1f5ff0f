//! Measures all cases, and writes the results after each of them.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anabranch_applications::Scale;
use anabranch_measure::machine::Machine;

use crate::choice::{Case, Choice, SEQUENTIAL};
use crate::command::RunArguments;
use crate::process::{Programs, builds};
use crate::progress::Progress;
use crate::results::{Group, Results};
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
        let new = Results { machine, scale: scale.name().into(), time: 0, command, groups: Vec::new() };
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
            Results { groups: old.groups, ..new }
        } else {
            new
        };
        let minutes = arguments.minutes.unwrap_or(if scale == Scale::Full { 60.0 } else { 3.0 });
        let time = Duration::try_from_secs_f64(minutes * 60.0)
            .map_err(|_| format!("--minutes {minutes} is not a time"))?;
        let rounds = scale.choose(2, LEAST_ROUNDS, 21);
        Ok(Self { choice, scale, rounds, time, folder, results })
    }

    /// Measures what is not measured yet.
    ///
    /// # Errors
    /// If a case cannot be measured, or a file cannot be written.
    pub fn run(mut self) -> Result<(), String> {
        let missing: Vec<Case> = self.choice.cases.iter().copied().filter(|case| !self.has(case)).collect();
        let already = self.choice.cases.len() - missing.len();
        if already > 0 {
            eprintln!("{already} cases are measured already; --fresh measures them again");
        }
        let programs = if missing.is_empty() { None } else { Some(Programs::ready(&self.choice.variants)?) };
        let progress = Progress::new(self.time);
        for (at, &case) in missing.iter().enumerate() {
            let Some(programs) = &programs else { break };
            let Case { about, workload, workers } = case;
            let name =
                format!("[{} of {}] {} {workload}, {workers} workers", at + 1, missing.len(), about.name);
            progress.case(&name);
            let time = self.time / missing.len() as u32;
            let watch = |variant: &str, round| progress.variant(&name, variant, round);
            let variants = &self.choice.variants;
            let group = group::measure(programs, case, variants, self.scale, (self.rounds, time), watch)?;
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

    /// Whether a case was measured with all variants.
    fn has(&self, case: &Case) -> bool {
        let is_it = |group: &&Group| group.is(case.about.name, case.workload, case.workers);
        self.results.groups.iter().find(is_it).is_some_and(|group| {
            let has = |variant: &str| group.cells.iter().any(|cell| cell.variant == variant);
            self.choice.variants.iter().chain([&SEQUENTIAL]).all(|variant| has(variant))
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

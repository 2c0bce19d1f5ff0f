//! What is to be measured.

use std::thread::available_parallelism;

use measure_programs::{APPLICATIONS, About};

use crate::arguments::RunArguments;
use crate::studies::{self, Study};
use crate::systems::{ALL, SEQUENTIAL, measures};

/// The word that stands for the experiments of the contract among the applications.
pub const CONTRACT: &str = "contract";

/// The word that stands for the measurement of latency among the applications.
pub const LATENCY: &str = "latency";

/// The word that stands for the service times of all stages among the applications.
pub const STAGES: &str = "stages";

/// The words that stand for all measures, and for all experiments of the papers.
pub const MEASURES: &str = "measures";
pub const EXPERIMENTS: &str = "experiments";

/// A workload of an application, with a number of workers.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub about: About,
    pub workload: &'static str,
    pub workers: usize,
}

/// The cases and the variants.
#[allow(missing_debug_implementations)] // studies have functions
pub struct Choice {
    pub cases: Vec<Case>,
    /// Without the sequential program, which always runs.
    pub variants: Vec<&'static str>,
    /// Whether the experiments of the contract are made.
    pub contract: bool,
    /// The numbers of workers with which the latency is measured.
    pub latency: Vec<usize>,
    /// The workloads whose stages are measured.
    pub stages: Vec<(About, &'static str)>,
    pub studies: Vec<&'static Study>,
}

impl Choice {
    /// # Errors
    /// If an application, a workload or a variant is not known.
    pub fn of(arguments: &RunArguments) -> Result<Self, String> {
        let names = ALL.map(|system| system.name);
        if let Some(name) = arguments.variants.iter().find(|name| !names.contains(&name.as_str())) {
            return Err(format!("there is no variant {name}: `suite list` shows all variants"));
        }
        let chosen = |name: &&str| {
            *name != SEQUENTIAL
                && (arguments.variants.is_empty() || arguments.variants.iter().any(|one| one == name))
        };
        let variants: Vec<&'static str> = names.into_iter().filter(chosen).collect();
        let workers = match &arguments.workers[..] {
            [] => vec![available_parallelism().map_or(1, usize::from)],
            some if some.contains(&0) => return Err("--workers needs numbers from 1 on".into()),
            some => some.to_vec(),
        };
        let mut workloads = Vec::new();
        for about in APPLICATIONS {
            workloads.extend(about.workloads.iter().map(|&workload| (about, workload)));
        }
        let is = |name: &String, (about, workload): &(About, &str)| {
            *name == about.name || *name == format!("{}/{workload}", about.name)
        };
        let known = |name: &&String| {
            let words = [CONTRACT, LATENCY, STAGES, MEASURES, EXPERIMENTS];
            words.contains(&name.as_str())
                || studies::ALL.iter().any(|study| study.name == *name)
                || workloads.iter().any(|one| is(name, one))
        };
        if let Some(name) = arguments.apps.iter().find(|name| !known(name)) {
            return Err(format!("there is no application {name}: `suite list` shows all applications"));
        }
        // These take as long on the smallest data, so they are left out there.
        let all = arguments.apps.is_empty() && !arguments.tiny;
        let chosen = |word: &str| all || arguments.apps.iter().any(|name| name == word);
        let contract = chosen(CONTRACT);
        let latency = if chosen(LATENCY) { workers.clone() } else { Vec::new() };
        let is_chosen = |study: &&Study| {
            chosen(study.name) || chosen(if study.is_experiment { EXPERIMENTS } else { MEASURES })
        };
        let studies = studies::ALL.iter().filter(is_chosen).collect();
        if arguments.quick && arguments.apps.is_empty() {
            // Else not one round of all cases fits into the time.
            workloads.retain(|(about, workload)| about.workloads[0] == *workload);
        }
        let stages = if chosen(STAGES) { workloads.clone() } else { Vec::new() };
        workloads.retain(|one| arguments.apps.is_empty() || arguments.apps.iter().any(|name| is(name, one)));
        let with =
            |workers| workloads.iter().map(move |&(about, workload)| Case { about, workload, workers });
        Ok(Self {
            cases: workers.into_iter().flat_map(with).collect(),
            variants,
            contract,
            latency,
            stages,
            studies,
        })
    }

    /// The variants that have a case's application.
    pub fn variants_of(&self, case: Case) -> Vec<&'static str> {
        self.variants.iter().copied().filter(|variant| measures(variant, case.about.name)).collect()
    }
}

//! What is to be measured.

use std::thread::available_parallelism;

use anabranch_applications::{APPLICATIONS, About};

use crate::command::RunArguments;
use crate::systems::{ALL, SEQUENTIAL, measures};

/// The word that stands for the experiments of the contract among the applications.
pub const CONTRACT: &str = "contract";

/// The word that stands for the measurement of latency among the applications.
pub const LATENCY: &str = "latency";

/// A workload of an application, with a number of workers.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub about: About,
    pub workload: &'static str,
    pub workers: usize,
}

/// The cases and the variants.
#[derive(Debug)]
pub struct Choice {
    pub cases: Vec<Case>,
    /// Without the sequential program, which always runs.
    pub variants: Vec<&'static str>,
    /// Whether the experiments of the contract are made.
    pub contract: bool,
    /// The numbers of workers with which the latency is measured.
    pub latency: Vec<usize>,
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
            *name == CONTRACT || *name == LATENCY || workloads.iter().any(|one| is(name, one))
        };
        if let Some(name) = arguments.apps.iter().find(|name| !known(name)) {
            return Err(format!("there is no application {name}: `suite list` shows all applications"));
        }
        // Both take as long on the smallest data, so they are left out there.
        let all = arguments.apps.is_empty() && !arguments.tiny;
        let chosen = |word: &str| all || arguments.apps.iter().any(|name| name == word);
        let contract = chosen(CONTRACT);
        let latency = if chosen(LATENCY) { workers.clone() } else { Vec::new() };
        workloads.retain(|one| arguments.apps.is_empty() || arguments.apps.iter().any(|name| is(name, one)));
        let with =
            |workers| workloads.iter().map(move |&(about, workload)| Case { about, workload, workers });
        Ok(Self { cases: workers.into_iter().flat_map(with).collect(), variants, contract, latency })
    }

    /// The variants that have a case's application.
    pub fn variants_of(&self, case: Case) -> Vec<&'static str> {
        self.variants.iter().copied().filter(|variant| measures(variant, case.about.name)).collect()
    }
}

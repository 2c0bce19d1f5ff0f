//! What is to be measured.

use std::thread::available_parallelism;

use anabranch_applications::{APPLICATIONS, About};

use crate::command::RunArguments;
use crate::variants::OWN;

/// The variants of `rivals/`.
pub const RIVALS: [&str; 6] = ["rayon", "orx", "pariter", "crossbeam", "threads", "tokio"];

/// Rivals that the suite does not have yet.
pub const ABSENT: [&str; 8] = [
    "par-stream",
    "Rust-SSP (the original)",
    "Pipeliner",
    "oneTBB",
    "Taskflow",
    "OpenMP tasks",
    "FastFlow",
    "annotated C++",
];

/// The variant that all others must agree with.
pub const SEQUENTIAL: &str = "sequential";

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
}

impl Choice {
    /// # Errors
    /// If an application, a workload or a variant is not known.
    pub fn of(arguments: &RunArguments) -> Result<Self, String> {
        let all: Vec<&'static str> = OWN.into_iter().chain(RIVALS).collect();
        let known = |name: &String| name == SEQUENTIAL || all.contains(&name.as_str());
        if let Some(name) = arguments.variants.iter().find(|name| !known(name)) {
            return Err(format!("there is no variant {name}: `suite list` shows all variants"));
        }
        let chosen =
            |name: &&str| arguments.variants.is_empty() || arguments.variants.iter().any(|one| one == name);
        let variants: Vec<&'static str> = all.iter().copied().filter(|name| chosen(name)).collect();
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
        if let Some(name) = arguments.apps.iter().find(|name| !workloads.iter().any(|one| is(name, one))) {
            return Err(format!("there is no application {name}: `suite list` shows all applications"));
        }
        workloads.retain(|one| arguments.apps.is_empty() || arguments.apps.iter().any(|name| is(name, one)));
        let with =
            |workers| workloads.iter().map(move |&(about, workload)| Case { about, workload, workers });
        Ok(Self { cases: workers.into_iter().flat_map(with).collect(), variants })
    }
}

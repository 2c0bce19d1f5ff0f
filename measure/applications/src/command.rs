//! The command line.

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use measure_programs::contract::answer;
use measure_programs::{APPLICATIONS, serve};

use crate::arguments::RunArguments;
use crate::choice::{CONTRACT, Choice, EXPERIMENTS, LATENCY, MEASURES, STAGES};
use crate::compare::compare;
use crate::contract::subjects;
use crate::pictures::dots;
use crate::report;
use crate::results::Results;
use crate::services::observe;
use crate::session::Session;
use crate::studies;
use crate::systems::{ALL, Home, Side, home, side};
use crate::variants::programs;

/// Measures applications with Anabranch and with other libraries.
#[derive(Debug, Parser)]
#[command(name = "suite", version)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the applications, their workloads, and the variants
    List,
    /// Measure, and write results.json and report.html
    Run(RunArguments),
    /// Compare two files of results: fails if B is slower than A anywhere
    Compare {
        /// The results before
        a: PathBuf,
        /// The results after
        b: PathBuf,
    },
    /// Print the main tables of results as Markdown
    Summary {
        /// The results
        results: PathBuf,
        /// Write the picture of all cases to this file, as SVG
        #[arg(long, value_name = "FILE")]
        picture: Option<PathBuf>,
    },
    /// Run one variant for each line of the standard input
    #[command(hide = true)]
    Serve { arguments: Vec<String> },
    /// Measure the stages of a workload
    #[command(hide = true)]
    Observe { arguments: Vec<String> },
    /// Make one experiment of the contract with one system
    #[command(hide = true)]
    Contract { arguments: Vec<String> },
}

impl Arguments {
    /// Does what was asked for.
    pub fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        match self.command {
            Command::List => list(),
            Command::Run(arguments) => Session::begin(&Choice::of(&arguments)?, &arguments)?.run()?,
            Command::Compare { a, b } => {
                let (table, is_slower) = compare(&Results::read(&a)?, &Results::read(&b)?)?;
                println!("{table}");
                return Ok(if is_slower { ExitCode::FAILURE } else { ExitCode::SUCCESS });
            }
            Command::Summary { results, picture } => {
                let results = Results::read(&results)?;
                if let Some(path) = picture {
                    let title = "How fast Anabranch is next to its best rival in each case";
                    let svg = dots(title, &report::dots(&results));
                    fs::write(&path, svg).map_err(|error| format!("{}: {error}", path.display()))?;
                }
                print!("{}", report::markdown(&results));
            }
            Command::Serve { arguments } => serve(&programs(), version, &arguments)?,
            Command::Observe { arguments } => observe(&arguments)?,
            Command::Contract { arguments } => answer(&subjects(), &arguments)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The version of a variant of this program.
fn version(program: &measure_programs::Program) -> String {
    if side(program.variant) == Side::Anabranch { env!("CARGO_PKG_VERSION").into() } else { "std".into() }
}

fn list() {
    for about in APPLICATIONS {
        println!("{}: {}", about.name, about.what);
        println!("    an item is {}; workloads: {}", about.item, about.workloads.join(", "));
    }
    println!("\nmeasures, by these names among the applications:");
    println!("    {:18}nine experiments with every system", CONTRACT);
    println!("    {:18}how long items take at 80 % load, with every system", LATENCY);
    println!("    {:18}how long each stage takes for an item in the plain loop", STAGES);
    for (word, is_experiment) in [(MEASURES, false), (EXPERIMENTS, true)] {
        println!("    {word:18}all of these:");
        for study in studies::ALL.iter().filter(|study| study.is_experiment == is_experiment) {
            println!("        {:14}{}", study.name, study.title);
        }
    }
    println!("\nvariants, those of rivals and of C++ are built when they are measured:");
    for system in ALL {
        let needs = match (home(system.name), system.name) {
            (Home::Original, _) => " (needs --rust-ssp)",
            (_, "fastflow" | "fastflow-spinning") => " (needs --fastflow)",
            (_, "taskflow") => " (needs --taskflow)",
            _ => "",
        };
        println!("    {:18}{}{needs}", system.name, system.what);
    }
}

//! The arguments of the command that measures.

use std::path::PathBuf;

use clap::Args;
use measure_programs::Scale;

use crate::checkouts::Checkouts;

#[derive(Debug, Args)]
pub struct RunArguments {
    /// The applications, or APPLICATION/WORKLOAD, or a measure that `suite list` shows; all by default
    #[arg(long, value_delimiter = ',')]
    pub apps: Vec<String>,
    /// The variants; all by default
    #[arg(long, value_delimiter = ',')]
    pub variants: Vec<String>,
    /// The numbers of workers; as many as there are cores by default
    #[arg(long, value_delimiter = ',')]
    pub workers: Vec<usize>,
    /// Take smaller data and 3 minutes: for a first look
    #[arg(long)]
    pub quick: bool,
    /// Take the smallest data and two rounds: for tests
    #[arg(long, hide = true, conflicts_with = "quick")]
    pub tiny: bool,
    /// The time for all measurements together; 60 by default, and 3 with --quick
    #[arg(long)]
    pub minutes: Option<f64>,
    /// The folder of results.json and report.html; `suite` in the folder of builds by default
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// A checkout of github.com/GMAP/rust-ssp
    #[arg(long, value_name = "DIR")]
    pub rust_ssp: Option<PathBuf>,
    /// A checkout of github.com/fastflow/fastflow
    #[arg(long, value_name = "DIR")]
    pub fastflow: Option<PathBuf>,
    /// A checkout of github.com/taskflow/taskflow
    #[arg(long, value_name = "DIR")]
    pub taskflow: Option<PathBuf>,
    /// A folder that measure/applications/data.sh has filled, whose files are the data in place of generated ones; SUITE_DATA by default
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Measure again what the folder has already
    #[arg(long)]
    pub fresh: bool,
}

impl RunArguments {
    /// The libraries that are in no registry.
    pub fn checkouts(&self) -> Checkouts {
        Checkouts {
            rust_ssp: self.rust_ssp.clone(),
            fastflow: self.fastflow.clone(),
            taskflow: self.taskflow.clone(),
        }
    }

    /// How large the data are.
    pub fn scale(&self) -> Scale {
        match (self.tiny, self.quick) {
            (true, _) => Scale::Tiny,
            (_, true) => Scale::Quick,
            _ => Scale::Full,
        }
    }
}

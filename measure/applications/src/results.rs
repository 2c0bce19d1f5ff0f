//! What was measured, as it is in `results.json`.

use std::path::Path;

use measure_harness::energy::Meter;
use measure_harness::machine::Machine;
use serde::{Deserialize, Serialize};

use crate::code::Code;
use crate::contract::{Latency, Row};
use crate::data::generated;
use crate::players::Figures;
use crate::services::Service;
use crate::studies::Studied;

/// Cells with fewer rounds are marked in the report.
pub const LEAST_ROUNDS: usize = 7;

/// A run of the suite.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Results {
    pub machine: Machine,
    /// The name of the scale of the data.
    pub scale: String,
    /// That all data are generated, or the SHA-256 of the real data and the packages they are from.
    #[serde(default = "generated")]
    pub data: String,
    /// Seconds since 1970, when the report was written.
    pub time: u64,
    /// The arguments of the last command.
    pub command: String,
    /// The experiments of the contract, a row for each system.
    #[serde(default)]
    pub contract: Vec<Row>,
    /// The latency of each system at 80 % load.
    #[serde(default)]
    pub latency: Vec<Latency>,
    /// The service times of each stage, for each workload.
    #[serde(default)]
    pub services: Vec<Service>,
    /// The measures and experiments.
    #[serde(default)]
    pub studies: Vec<Studied>,
    /// Why the energy is not measured here. `None` if it is.
    #[serde(default)]
    pub no_energy: Option<String>,
    pub groups: Vec<Group>,
    /// The variants that could not be built, and why.
    #[serde(default)]
    pub absent: Vec<(String, String)>,
}

/// A case: a workload of an application, with a number of workers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Group {
    pub application: String,
    pub workload: String,
    pub workers: usize,
    /// How much work a run does.
    pub amount: f64,
    /// The files of real data that the case had, or that its data are generated.
    #[serde(default = "generated")]
    pub data: String,
    pub unit: String,
    /// The sequential program comes first.
    pub cells: Vec<Cell>,
    /// The variants without numbers, and why they have none.
    pub without: Vec<(String, String)>,
}

/// A variant in a case.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Cell {
    pub variant: String,
    #[serde(flatten)]
    pub figures: Figures,
    /// How much code the variant has.
    pub code: Code,
}

impl Group {
    /// The name of the case.
    pub fn name(&self) -> String {
        let workers = if self.workers == 1 { "worker" } else { "workers" };
        format!("{} {}, {} {workers}", self.application, self.workload, self.workers)
    }

    /// Whether this is the same case.
    pub fn is(&self, application: &str, workload: &str, workers: usize) -> bool {
        self.application == application && self.workload == workload && self.workers == workers
    }
}

impl Results {
    /// Nothing yet, for this machine, this command and these data.
    pub fn new(scale: &str, data: &str) -> Self {
        Self {
            machine: Machine::of_this_run(&["anabranch"]),
            scale: scale.into(),
            data: data.into(),
            time: 0,
            command: std::env::args().skip(1).collect::<Vec<_>>().join(" "),
            contract: Vec::new(),
            latency: Vec::new(),
            services: Vec::new(),
            studies: Vec::new(),
            no_energy: Meter::of_this_machine().err(),
            groups: Vec::new(),
            absent: Vec::new(),
        }
    }

    /// # Errors
    /// If the file cannot be read, or holds something else.
    pub fn read(path: &Path) -> Result<Self, String> {
        let name = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("{name}: {error}; `suite run --out DIR` writes DIR/results.json"))?;
        serde_json::from_str(&text)
            .map_err(|error| format!("{name} is not a results.json of this version of the suite: {error}"))
    }

    /// Writes the file whole: if this is interrupted, the file of before is still there.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let problem = |error: std::io::Error| format!("{}: {error}", path.display());
        let text = serde_json::to_string_pretty(self).expect("numbers and text") + "\n";
        let new = path.with_extension("json.new");
        std::fs::write(&new, text).map_err(problem)?;
        std::fs::rename(&new, path).map_err(problem)
    }
}

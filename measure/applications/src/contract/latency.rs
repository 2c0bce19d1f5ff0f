//! The latency of each system at 80 % load.

use std::process::{Command, Stdio};

use measure_harness::statistics::Summary;
use measure_programs::contract::Quantiles;
use serde::{Deserialize, Serialize};

/// The quantiles of a system, in seconds: one value for each round.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Latency {
    /// The name of the variant.
    pub system: String,
    pub workers: usize,
    pub p50: Vec<f64>,
    pub p95: Vec<f64>,
    pub p99: Vec<f64>,
}

impl Latency {
    pub fn new(system: &str, workers: usize) -> Self {
        Self { system: system.into(), workers, p50: vec![], p95: vec![], p99: vec![] }
    }

    /// Adds the quantiles of a round. Returns whether the system has told them.
    pub fn measure(&mut self, mut command: Command, seconds: f64) -> bool {
        let arguments =
            ["contract", &self.system, "latency", &self.workers.to_string(), &seconds.to_string()];
        let ran = command.args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output();
        let said = ran.ok().and_then(|ran| String::from_utf8(ran.stdout).ok()).unwrap_or_default();
        let Some(Quantiles { p50, p95, p99 }) = Quantiles::parse(said.trim()) else { return false };
        self.p50.push(p50);
        self.p95.push(p95);
        self.p99.push(p99);
        true
    }

    /// The median of the 95 % quantile over the rounds.
    pub fn middle(&self) -> f64 {
        Summary::of(self.p95.iter().copied()).median
    }
}

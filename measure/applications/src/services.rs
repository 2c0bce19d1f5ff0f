//! How long each stage takes for an item and how large its results are, in the plain loop: the characterization of workloads in
//! the paper on Rust-SSP (figures 4 to 10).

use std::process::{Command, Stdio};

use measure_programs::{Data, Probe, Scale, Stage, observed};
use serde::{Deserialize, Serialize};

use crate::data::{Chosen, generated};

/// The stages of a workload.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Service {
    pub application: String,
    pub workload: String,
    /// The files of real data that the workload had, or that its data are generated.
    #[serde(default = "generated")]
    pub data: String,
    /// What it takes to read the clock, in seconds. It is subtracted from each time.
    pub clock: f64,
    pub stages: Vec<StageService>,
}

/// What a stage takes and gives.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StageService {
    pub name: String,
    pub items: u64,
    /// The share of the time of all stages.
    pub share: f64,
    /// The time for an item, in seconds.
    pub seconds: Quantiles,
    /// The size of a result, in bytes.
    pub bytes: Quantiles,
    /// How many records have a time in each bin. Bin `n` begins at [`bin_begin`] of `n`.
    pub bins: Vec<u32>,
    /// The mean time of an item in equal parts of the stream, in seconds.
    pub over_stream: Vec<f64>,
}

/// Quantiles of many values.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq)]
pub struct Quantiles {
    pub least: f64,
    pub p5: f64,
    pub median: f64,
    pub p95: f64,
    pub most: f64,
}

/// How many bins there are for a tenfold time.
const BINS_IN_TEN: f64 = 5.0;
/// The beginning of the first bin, in seconds.
const FIRST_BIN: f64 = 1e-8;
/// How many bins there are: up to 100 s.
const BINS: usize = 50;
/// In how many parts the stream is divided.
const PARTS: usize = 60;

/// Where a bin begins, in seconds. The first one also has what is shorter.
pub fn bin_begin(bin: usize) -> f64 {
    FIRST_BIN * 10f64.powf(bin as f64 / BINS_IN_TEN)
}

fn bin_of(seconds: f64) -> usize {
    (((seconds / FIRST_BIN).max(1.0).log10() * BINS_IN_TEN) as usize).min(BINS - 1)
}

impl Quantiles {
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        // The smallest value that is at least as large as this share of all (the nearest rank).
        let at = |share: f64| values[((share * values.len() as f64).ceil() as usize).saturating_sub(1)];
        Self {
            least: values[0],
            p5: at(0.05),
            median: at(0.5),
            p95: at(0.95),
            most: values[values.len() - 1],
        }
    }
}

impl StageService {
    fn of(stage: &Stage, whole: f64) -> Self {
        let Stage { records, .. } = stage;
        let mut bins = vec![0; BINS];
        records.iter().for_each(|&(seconds, _)| bins[bin_of(seconds)] += 1);
        let part = records.len().div_ceil(PARTS).max(1);
        let mean =
            |part: &[(f64, usize)]| part.iter().map(|&(seconds, _)| seconds).sum::<f64>() / part.len() as f64;
        Self {
            name: stage.name.into(),
            items: stage.items,
            share: stage.total / whole,
            seconds: Quantiles::of(records.iter().map(|&(seconds, _)| seconds).collect()),
            bytes: Quantiles::of(records.iter().map(|&(_, bytes)| bytes as f64).collect()),
            bins,
            over_stream: records.chunks(part).map(mean).collect(),
        }
    }
}

impl Service {
    fn of(application: &str, workload: &str, (probe, data): (&Probe, String)) -> Self {
        let whole: f64 = probe.stages().iter().map(|stage| stage.total).sum();
        Self {
            application: application.into(),
            workload: workload.into(),
            data,
            clock: probe.clock,
            stages: probe.stages().iter().map(|stage| StageService::of(stage, whole)).collect(),
        }
    }

    /// Measures a workload in a process of its own.
    ///
    /// # Errors
    /// What that process said instead.
    pub fn measure(application: &str, workload: &str, scale: Scale, data: &Chosen) -> Result<Self, String> {
        let problem = |what: String| format!("the stages of {application} {workload}: {what}");
        let own = std::env::current_exe().map_err(|error| problem(error.to_string()))?;
        let mut process = Command::new(own);
        process.args(["observe", application, workload, scale.name()]).stdin(Stdio::null());
        data.tell(&mut process);
        let ran = process.output().map_err(|error| problem(error.to_string()))?;
        serde_json::from_slice(&ran.stdout)
            .map_err(|_| problem(String::from_utf8_lossy(&ran.stderr).trim().to_owned()))
    }
}

/// Measures the workload that the arguments `APPLICATION WORKLOAD SCALE` name, and prints its [`Service`].
///
/// # Errors
/// If the arguments are not understood, or a file of the real data is missing.
pub fn observe(arguments: &[String]) -> Result<(), String> {
    let data = Data::of_environment();
    let measured = || {
        let [application, workload, scale] = arguments else { return Ok(None) };
        let all = observed();
        let one = all.iter().find(|one| one.application == application);
        let Some((one, scale)) = one.zip(Scale::named(scale)) else { return Ok(None) };
        let measured = one.run(workload, scale, data.as_ref())?;
        Ok::<_, String>(measured.map(|(probe, data)| Service::of(application, workload, (&probe, data))))
    };
    let service = measured()?
        .ok_or_else(|| format!("expected `APPLICATION WORKLOAD SCALE`, not `{}`", arguments.join(" ")))?;
    println!("{}", serde_json::to_string(&service).expect("numbers and text"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_in_the_bin_that_begins_before_it() {
        for seconds in [2e-8, 1.1e-6, 0.03, 7.0] {
            let bin = bin_of(seconds);
            assert!(bin_begin(bin) <= seconds && seconds < bin_begin(bin + 1), "{seconds}");
        }
        assert_eq!((bin_of(0.0), bin_of(1e9)), (0, BINS - 1));
    }

    #[test]
    fn quantiles_are_the_nearest_ranks() {
        let all = (1..=200).rev().map(f64::from).collect();
        let expected = Quantiles { least: 1.0, p5: 10.0, median: 100.0, p95: 190.0, most: 200.0 };
        assert_eq!(Quantiles::of(all), expected);
    }
}

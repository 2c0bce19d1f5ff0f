//! The command `dsp kernels`.

use std::num::NonZeroU16;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;

use crate::command::Shared;
use crate::{Error, Executor, Progress, Result, Run};

use super::{DEFAULT_BURST, Digest, Kernel, Task};

/// Five kernels of the StreamIt benchmarks, each against its sequential form
#[derive(Debug, Args)]
pub struct Arguments {
    /// The kernels: beamformer, bitonic, des, filterbank, vocoder [default: all]
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    only: Vec<String>,
    /// How many blocks each kernel computes [default: as many as take about 0.2 s]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    blocks: Option<u64>,
    /// How many blocks pass in one firing
    #[arg(long, value_name = "BLOCKS", default_value_t = default_burst())]
    burst: NonZeroU16,
    /// How often everything is measured; the medians count
    #[arg(long, value_name = "N", default_value = "3")]
    rounds: NonZeroU16,
    /// The file for the table; - is standard output
    #[arg(default_value = "-")]
    output: PathBuf,
}

fn default_burst() -> NonZeroU16 {
    const { NonZeroU16::new(DEFAULT_BURST as u16).expect("a burst has a block") }
}

/// The measured speed of a kernel.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The kernel.
    pub kernel: Kernel,
    /// The time of the sequential form for a unit, in nanoseconds.
    pub sequential: f64,
    /// The time of the network for a unit, in nanoseconds.
    pub network: f64,
    /// The factor by which the network is faster, as the median of the rounds.
    pub speed_up: f64,
}

/// The time that the sequential form takes, if the number of blocks is not set.
const SECONDS: f64 = 0.2;

/// Runs the command.
///
/// # Errors
/// If a kernel has no such name, or if its network gives another result than its sequential form.
pub fn run(arguments: &Arguments, shared: &Shared) -> Result<()> {
    let kernels = chosen(&arguments.only)?;
    let burst = usize::from(arguments.burst.get());
    let mut output = shared.output(&arguments.output)?;
    let run = shared.run();
    if shared.is_explained() || run.is_inline() {
        for kernel in kernels {
            let task = Task { blocks: arguments.blocks.unwrap_or(1_000), burst };
            let digest = kernel.run(&task, &run)?;
            if !shared.is_explained() {
                output.put(format!("{}: digest {digest}\n", kernel.name).as_bytes())?;
            }
        }
        shared.report(&run);
        return output.finish();
    }
    let rounds = u64::from(arguments.rounds.get());
    let progress = Progress::steps(kernels.len() as u64 * rounds);
    let mut text = format!("{:<12} {:>14} {:>14} {:>9}\n", "kernel", "sequential", "network", "speed-up");
    for kernel in kernels {
        let blocks = match arguments.blocks {
            Some(blocks) => blocks,
            None => enough(&kernel, burst)?,
        };
        let done = || progress.advance(1);
        let measured = measure(&kernel, &Task { blocks, burst }, run.workers(), rounds, done)?;
        text.push_str(&format!(
            "{:<12} {:>11.2} ns {:>11.2} ns {:>9.2}  for {}\n",
            kernel.name, measured.sequential, measured.network, measured.speed_up, kernel.unit
        ));
    }
    progress.end();
    output.put(text.as_bytes())?;
    output.finish()
}

fn chosen(names: &[String]) -> Result<Vec<Kernel>> {
    if names.is_empty() {
        return Ok(Kernel::ALL.to_vec());
    }
    let find = |name: &String| {
        Kernel::ALL.into_iter().find(|kernel| kernel.name == name).ok_or_else(|| {
            let known = Kernel::ALL.map(|kernel| kernel.name).join(", ");
            Error::new(format!("there is no kernel \"{name}\": --only takes some of {known}"))
        })
    };
    names.iter().map(find).collect()
}

/// Returns the number of blocks that the sequential form computes in about [`SECONDS`].
fn enough(kernel: &Kernel, burst: usize) -> Result<u64> {
    let mut blocks = burst as u64;
    loop {
        let (_, seconds) = timed(kernel, &Task { blocks, burst }, Executor::Inline)?;
        if seconds > SECONDS / 10.0 || blocks > 1 << 30 {
            return Ok((blocks as f64 * SECONDS / seconds.max(1e-9)).ceil() as u64);
        }
        blocks *= 4;
    }
}

fn timed(kernel: &Kernel, task: &Task, executor: Executor) -> Result<(Digest, f64)> {
    let begin = Instant::now();
    let digest = kernel.run(task, &Run::new(executor))?;
    Ok((digest, begin.elapsed().as_secs_f64()))
}

/// Measures a kernel in both forms, in turn.
///
/// # Errors
/// If the network gives another result than the sequential form.
pub fn measure(
    kernel: &Kernel,
    task: &Task,
    workers: usize,
    rounds: u64,
    mut done: impl FnMut(),
) -> Result<Measured> {
    let mut times = Vec::new();
    for _ in 0..rounds.max(1) {
        let (expected, sequential) = timed(kernel, task, Executor::Inline)?;
        let (found, network) = timed(kernel, task, Executor::Workers(workers))?;
        if found != expected {
            return Err(Error::new(format!(
                "{}: the network gives {found}, the loop {expected}",
                kernel.name
            )));
        }
        times.push((sequential, network));
        done();
    }
    let median = |value: fn(&(f64, f64)) -> f64| {
        let mut values: Vec<f64> = times.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let per_unit = 1e9 / (task.firings() * task.burst as u64 * kernel.units) as f64;
    Ok(Measured {
        kernel: *kernel,
        sequential: per_unit * median(|&(sequential, _)| sequential),
        network: per_unit * median(|&(_, network)| network),
        speed_up: median(|&(sequential, network)| sequential / network),
    })
}

//! The command `dsp exploration`.

use std::path::PathBuf;

use clap::Args;

use dsp::command::Shared;
use dsp::{Error, Progress, Result};

use super::{Shape, Task, Work, measure, plan, sequential};

/// The paper's synthetic benchmark: how fine may a burst be?
#[derive(Debug, Args)]
pub struct Arguments {
    /// The bursts: the powers of two in FIRST..LAST, or numbers with commas between them
    #[arg(long, value_name = "BURSTS", default_value = "1..65536")]
    bursts: String,
    /// The shape, as in 2to2: producers and consumers [default: 1to1, 1to4, 4to1 and 2to2]
    #[arg(long, value_name = "SHAPE")]
    shape: Option<String>,
    /// Nanoseconds of work for each index, on each side; 0 is one store or load
    #[arg(long, value_name = "NS", value_delimiter = ',', default_value = "0,8,64")]
    work: Vec<u16>,
    /// How many indices the record may hold, to 2^24
    #[arg(long, value_name = "N", default_value_t = 1 << 14)]
    horizon: usize,
    /// The number of indices, to 2^26 [default: as many as take about 50 ms]
    #[arg(long, value_name = "N")]
    indices: Option<u64>,
    /// How often everything is measured; the medians count
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,
    /// Keep each process on one processor
    #[arg(long)]
    pin: bool,
    /// The file for the tables; - is standard output
    #[arg(default_value = "-")]
    output: PathBuf,
}

/// The most indices that a record may hold, and the largest burst.
const MOST_HORIZON: usize = 1 << 24;
/// The most indices of a run.
const MOST_INDICES: u64 = 1 << 26;
/// The time that a run of the loop takes, in nanoseconds, if the number of indices is not set.
const LOOP_NANOSECONDS: u64 = 50_000_000;
/// The most views of a shape on one side.
const MOST_VIEWS: usize = 64;

/// Runs the command.
///
/// # Errors
/// If an argument is not possible, or a network gives another result than the loop.
pub fn run(arguments: &Arguments, shared: &Shared) -> Result<()> {
    let bursts = bursts(&arguments.bursts)?;
    let shapes = arguments
        .shape
        .as_deref()
        .map_or(Ok(Shape::ALL.to_vec()), |text| shape(text).map(|one| vec![one]))?;
    if !(1..=MOST_HORIZON).contains(&arguments.horizon) {
        return Err(Error::new(format!(
            "--horizon must be from 1 to {MOST_HORIZON}, not {}",
            arguments.horizon
        )));
    }
    if arguments.indices.is_some_and(|indices| !(1..=MOST_INDICES).contains(&indices)) {
        return Err(Error::new(format!("--indices must be from 1 to {MOST_INDICES}")));
    }
    if shared.workers().is_some() {
        return Err(Error::new(
            "exploration runs each process on a thread of its own, so --workers says nothing here: leave it out, or choose \
             the number of processes with --shape",
        ));
    }
    let run = shared.run();
    let mut output = shared.output(&arguments.output)?;
    let works: Vec<Work> = arguments.work.iter().map(|&work| Work::of_nanoseconds(work.into())).collect();
    let progress = Progress::steps(
        (shapes.len() * works.len() * (1 + arguments.rounds.max(1)) * (bursts.len() + 2)) as u64,
    );
    for &shape in &shapes {
        for &work in &works {
            let per_index = (u64::from(work.nanoseconds()) * (1 + shape.consumers as u64)).max(1);
            let indices = arguments.indices.unwrap_or((LOOP_NANOSECONDS / per_index).min(MOST_INDICES));
            let (horizon, is_pinned) = (arguments.horizon, arguments.pin);
            let task = Task { shape, work, indices, burst: bursts[0], horizon, is_pinned };
            if shared.is_explained() {
                run.show(&plan(&task));
                continue;
            }
            let text = if run.is_inline() {
                let begin = std::time::Instant::now();
                let sums = sequential(shape, work, indices);
                let each = 1e9 * begin.elapsed().as_secs_f64() / indices as f64;
                format!("{shape}, loop: {each:.2} ns an index, sums {sums:?}\n")
            } else {
                format!("{}\n\n", measure(&task, &bursts, arguments.rounds, || progress.advance(1))?)
            };
            output.put(text.as_bytes())?;
        }
    }
    progress.end();
    output.finish()
}

/// Reads `1..65536` or `1,16,256`.
fn bursts(text: &str) -> Result<Vec<usize>> {
    let wrong = || {
        Error::new(format!(
            "\"{text}\" are no bursts: write two numbers from 1 to {MOST_HORIZON} with two points between them, as in \
             1..65536, or numbers with commas between them, as in 1,16,256"
        ))
    };
    let number = |text: &str| {
        let number = text.trim().parse().ok().filter(|number| (1..=MOST_HORIZON).contains(number));
        number.ok_or_else(wrong)
    };
    if let Some((first, last)) = text.split_once("..") {
        let (first, last) = (number(first)?, number(last.trim_start_matches('='))?);
        let bursts: Vec<usize> = (0..usize::BITS - 1)
            .map(|power| 1 << power)
            .filter(|burst| (first..=last).contains(burst))
            .collect();
        return if bursts.is_empty() { Err(wrong()) } else { Ok(bursts) };
    }
    let mut bursts = text.split(',').map(number).collect::<Result<Vec<usize>>>()?;
    bursts.sort_unstable();
    Ok(bursts)
}

/// Reads `2to2`.
fn shape(text: &str) -> Result<Shape> {
    let sides = text.split_once("to").and_then(|(producers, consumers)| {
        Some((producers.trim().parse().ok()?, consumers.trim().parse().ok()?))
    });
    match sides {
        Some((producers @ 1..=MOST_VIEWS, consumers @ 1..=MOST_VIEWS)) => Ok(Shape::of(producers, consumers)),
        _ => Err(Error::new(format!(
            "\"{text}\" is no shape: write two numbers from 1 to {MOST_VIEWS}, as in 2to2"
        ))),
    }
}

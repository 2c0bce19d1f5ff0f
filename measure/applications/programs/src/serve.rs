//! Runs variants in a process of their own, one run for each line of the input.
//!
//! A process runs one variant, so its memory is that of this variant. It writes `ready AMOUNT DATA` when the data are there,
//! where `DATA` names the real data or says that they are generated, and then an [`Answer`] for each line that it reads.

use std::fmt;
use std::io::{self, BufRead, Write};

use crate::used::{forget_peak, memory, peak, processor_seconds};
use crate::{Data, Output, Prepared, Program, Scale};

/// One run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// The hash of the output.
    pub hash: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// The time from the beginning to the first result, in seconds.
    pub first: f64,
    /// The processor time of all threads, in seconds. NaN if the system does not tell.
    pub processor: f64,
    /// The peak of the memory in all runs so far, without the data, in bytes. NaN if the system does not tell.
    pub memory: f64,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { hash, seconds, first, processor, memory } = self;
        write!(f, "{hash} {seconds} {first} {processor} {memory}")
    }
}

impl Answer {
    /// Reads an answer that was displayed.
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let hash = words.next()?.parse().ok()?;
        let mut number = || words.next()?.parse().ok();
        Some(Self { hash, seconds: number()?, first: number()?, processor: number()?, memory: number()? })
    }
}

/// Runs what the arguments `APPLICATION WORKLOAD SCALE VARIANT WORKERS` say, once for each line of the standard
/// input. With the argument `list` it prints `APPLICATION VARIANT KIND VERSION` for each program.
///
/// # Errors
/// If the arguments are not understood, a file of the real data is missing, or the other side is gone.
pub fn serve(
    programs: &[Program],
    version: impl Fn(&Program) -> String,
    arguments: &[String],
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if arguments == ["list"] {
        for program in programs {
            let Program { application, variant, kind, .. } = program;
            writeln!(out, "{application} {variant} {} {}", kind.name(), version(program))?;
        }
        return Ok(());
    }
    let data = Data::of_environment();
    let Some((workers, prepared)) = prepared(programs, arguments, data.as_ref()).map_err(io::Error::other)?
    else {
        let expected = "expected `list` or `APPLICATION WORKLOAD SCALE VARIANT WORKERS`";
        return Err(io::Error::other(format!("{expected}, not `{}`", arguments.join(" "))));
    };
    forget_peak();
    let before = memory();
    let Prepared { amount, data, run } = prepared;
    writeln!(out, "ready {amount} {data}")?;
    out.flush()?;
    for line in io::stdin().lock().lines() {
        line?;
        let processor = processor_seconds();
        let output = run(workers, Output::begin());
        let seconds = output.elapsed().as_secs_f64();
        let first = output.first().map_or(seconds, |first| first.as_secs_f64());
        let used = |before: Option<f64>, after: Option<f64>| Some(after? - before?);
        let answer = Answer {
            hash: output.hash(),
            seconds,
            first,
            processor: used(processor, processor_seconds()).unwrap_or(f64::NAN),
            memory: peak().zip(before).map_or(f64::NAN, |(peak, before)| peak.saturating_sub(before) as f64),
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

/// The number of workers, and the program with its data. `None` if the arguments are not understood.
fn prepared(
    programs: &[Program],
    arguments: &[String],
    data: Option<&Data>,
) -> Result<Option<(usize, Prepared)>, String> {
    let [application, workload, scale, variant, workers] = arguments else { return Ok(None) };
    let is_it = |program: &&Program| program.application == application && program.variant == variant;
    let program = programs.iter().find(is_it);
    let workers = workers.parse().ok().filter(|&workers| workers > 0);
    let Some(((program, scale), workers)) = program.zip(Scale::named(scale)).zip(workers) else {
        return Ok(None);
    };
    Ok(program.prepare(workload, scale, data)?.map(|prepared| (workers, prepared)))
}

#[cfg(test)]
mod tests {
    use super::Answer;

    #[test]
    fn an_answer_is_read_as_it_was_written() {
        let answer = Answer { hash: u64::MAX, seconds: 0.1, first: 1e-9, processor: 0.0, memory: 4096.0 };
        assert_eq!(Answer::parse(&answer.to_string()), Some(answer));
        assert_eq!(Answer::parse("1 2 3"), None);
    }
}

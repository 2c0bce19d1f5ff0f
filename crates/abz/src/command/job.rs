//! One input from start to end.

use std::io::{self, Write};

use abz::{Compression, Decompression, Error};

use super::console::Console;
use super::input::Input;
use super::interrupt;
use super::options::{Action, Options, Source};
use super::output::Output;
use super::problem::Problem;
use super::target::Target;

/// A compressed file of fewer bytes is not worth a second thread.
const SMALL: u64 = 64 << 10;

/// Compresses, decompresses or tests one input, as `options` say.
///
/// # Errors
///
/// What went wrong; the input is then kept, and the output is not there. (Standard output may have got the part
/// before an error.) Of a warning after the work is done the same cannot be said: then both may be there.
pub fn run(source: &Source, options: &Options, console: &mut Console) -> Result<(), Problem> {
    let input = Input::open(source, options)?;
    if options.explain {
        return explain(&input, options);
    }
    let target = Target::of(&input, options)?;
    let mut output = Output::open(target, &input, options)?;
    let (input_name, output_name) = (input.to_string(), output.to_string());

    let done = convert(&input, &mut output, options).map_err(|error| {
        if let Error::Write(error) = &error {
            interrupt::end_if_broken_pipe(error);
        }
        Problem::of_run(&input_name, &output_name, &error)
    })?;
    if let Some(warning) = output.commit(&input)? {
        console.tell(&warning);
    }
    if !options.keep {
        input.remove()?;
    }

    console.tell_done(summary(&input_name, &output_name, options, &done));
    match done.garbage_at {
        Some(offset) => Err(Problem::trailing_garbage(&input_name, offset)),
        None => Ok(()),
    }
}

/// What was done.
struct Done {
    /// The size of the contents in bytes.
    plain: u64,
    /// The size of the gzip file in bytes.
    compressed: u64,
    garbage_at: Option<u64>,
}

/// Runs the pipeline from an open input to an open output.
fn convert(input: &Input, output: &mut Output, options: &Options) -> Result<Done, Error> {
    if options.action == Action::Compress {
        let done = compression(input, options).run(&input.file, output)?;
        Ok(Done { plain: done.read, compressed: done.written, garbage_at: None })
    } else {
        let done = decompression(input, options).run(&input.file, output)?;
        Ok(Done { plain: done.written, compressed: done.read, garbage_at: done.garbage_at })
    }
}

/// How to compress `input`: with no more workers than it has blocks.
fn compression(input: &Input, options: &Options) -> Compression {
    let mut compression = Compression { origin: input.origin(), ..options.compression.clone() };
    if let Some(len) = input.len() {
        let blocks = len.div_ceil(compression.block_size as u64).max(1);
        compression.workers = compression.workers.min(usize::try_from(blocks).unwrap_or(usize::MAX));
    }
    compression
}

/// How to decompress `input`.
fn decompression(input: &Input, options: &Options) -> Decompression {
    let is_small = input.len().is_some_and(|len| len < SMALL);
    Decompression { workers: if is_small { 1 } else { options.compression.workers } }
}

/// Prints the plan that would run.
fn explain(input: &Input, options: &Options) -> Result<(), Problem> {
    let plan = match options.action {
        Action::Compress => compression(input, options).plan().to_string(),
        _ => decompression(input, options).plan().to_string(),
    };
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{input}:\n\n{plan}").and_then(|()| stdout.flush()).map_err(|error| {
        interrupt::end_if_broken_pipe(&error);
        Problem::of_file("standard output", "cannot be written to", &error)
    })
}

/// What was done, in the words of gzip.
fn summary(input: &str, output: &str, options: &Options, done: &Done) -> String {
    let saved = 100.0 * (1.0 - done.compressed as f64 / (done.plain as f64).max(1.0));
    let saved = if done.plain == 0 { 0.0 } else { saved };
    match (options.action, options.keep) {
        (Action::Test, _) => format!("{input}: OK"),
        (_, true) => format!("{input}: {saved:.1}% -- created {output}"),
        (_, false) => format!("{input}: {saved:.1}% -- replaced with {output}"),
    }
}

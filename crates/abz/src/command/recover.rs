//! The action of `--recover`.

use std::fmt::Display;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

use abz::program::{Gap, Recovered, Recovery, Report, RunOptions, format_of_archive};
use abz::{Error, Format, ReadAt};
use serde_json::{Value, json};

use super::arguments::Gaps;
use super::input::Input;
use super::messages::Messages;
use super::output::{Attributes, Output, PRIVATE};
use super::request::{Destination, Recover, Source, Talk};
use crate::command::input::walk::Walk;
use crate::command::many_files::reports::Reports;
use crate::command::messages::console::Console;
use crate::command::messages::problem::{Problem, Severity};
use crate::command::messages::progress::Progress;
use crate::command::messages::stdout::print;
use crate::command::output::target::Target;
use crate::command::system::file_id::FileId;
use crate::command::system::interrupt;

/// The largest number of gaps that are reported for one file.
const MOST_TOLD: usize = 1000;

/// Recovers each input.
pub(super) fn run(request: &Recover, talk: &Talk, progress: &Progress, console: &mut Console) {
    let reports = match Reports::open(&request.reporting, &request.inputs, progress) {
        Ok(reports) => reports,
        Err(problem) => return console.tell_problem(&problem),
    };
    let mut objects = Vec::new();
    for input in Walk::new(&request.inputs) {
        let mut messages = Messages::default();
        let result =
            input.and_then(|input| recover(&input, (request, talk), progress, &reports, &mut messages));
        match result {
            Ok(object) => {
                if object["is_complete"] == false {
                    console.remember(Severity::Damage);
                }
                objects.push(object);
            }
            Err(problem) => messages.add(Err(problem)),
        }
        console.tell(&messages);
        if messages.is_hopeless {
            break;
        }
    }
    if request.as_json {
        let array = format!("{:#}", Value::Array(objects));
        match request.outputs.destination {
            // The data goes to standard output.
            Destination::Stdout => console.say(&array),
            _ => {
                if let Err(problem) = print(|out| writeln!(out, "{array}")) {
                    console.tell_problem(&problem);
                }
            }
        }
    }
    for problem in reports.end() {
        console.tell_problem(&problem);
    }
}

/// Recovers one input, and returns the JSON object about it.
fn recover(
    input: &Input,
    (request, talk): (&Recover, &Talk),
    progress: &Progress,
    reports: &Reports,
    messages: &mut Messages,
) -> Result<Value, Problem> {
    let Some(size) = input.len().filter(|_| input.is_file()) else {
        let message = "--recover reads at arbitrary offsets: it needs the name of a regular file";
        return Err(Problem::error(input, message));
    };
    let mut recovery = recovery(input, request.format)?;
    recovery.fill = request.gaps == Gaps::Sparse;
    recovery.memory_limit = request.memory_limit;
    recovery.workers = request.workers;
    let outputs = &request.outputs;
    let target = Target::of(input, outputs, messages)?;
    let mut output = Output::open(target, outputs, FileId::of(&input.metadata), PRIVATE)?;
    let output_name = output.to_string();

    let source = Followed { input, size, progress, furthest: AtomicU64::new(0) };
    let tell_report = |report: &Report| reports.tell(report);
    let report = reports.is_wanted.then_some(&tell_report as &dyn Fn(&Report));
    let run_options = RunOptions { pool: None, report, traces: reports.traces, ..RunOptions::default() };
    let mut gaps = Vec::new();
    let note = |gap| {
        if gaps.len() < MOST_TOLD {
            gaps.push(gap);
        }
    };
    let done = recovery.run(run_options, &source, &mut output, note).map_err(|error| {
        if let Error::Write(error) = &error {
            messages.is_hopeless = outputs.destination == Destination::Stdout;
            interrupt::end_if_broken_pipe(error);
        }
        Problem::of_run(&input.to_string(), &output_name, &error)
    })?;

    let is_empty = done.parts == 0 && done.gaps > 0;
    if is_empty {
        drop(output);
    } else {
        messages.add(output.commit(Attributes::Of(input), outputs));
    }
    let has_output = !is_empty && !messages.has_failed();
    if !request.as_json {
        let mut tell =
            |message: &dyn Display| messages.add(Err(Problem::damage(input, message).afterwards()));
        gaps.iter().for_each(|gap| tell(&in_words(gap)));
        let more = done.gaps - gaps.len() as u64;
        if more > 0 {
            tell(&format_args!("and {more} more gaps"));
        }
        match done.gaps {
            _ if is_empty => tell(
                &"no part of it is undamaged: there is no output (-dc writes what it can of the contents before the damage)",
            ),
            0 if talk.is_verbose() => messages.say(format!("{input}: {}", summary(&done, &output_name))),
            0 => {}
            _ => tell(&summary(&done, &output_name)),
        }
    }
    let output = has_output.then_some(output_name);
    Ok(as_json(input, &recovery, &done, &gaps, output))
}

/// Returns the recovery for the named format, or else for the detected one, or the one of the file's suffix.
fn recovery(input: &Input, named: Option<Format>) -> Result<Recovery, Problem> {
    if let Some(format) = named {
        return Recovery::new(format).ok_or_else(|| cannot(input, format));
    }
    let by_name = match &input.source {
        Source::File(path) => format_of_archive(path),
        Source::Stdin => None,
    };
    let formats = [input.format(), by_name].into_iter().flatten();
    match formats.clone().find_map(Recovery::new) {
        Some(recovery) => Ok(recovery),
        None => Err(match formats.into_iter().next() {
            Some(format) => cannot(input, format),
            None => {
                let message = "neither its start nor its name shows its format: use -F";
                Problem::damage(input, message)
            }
        }),
    }
}

fn cannot(input: &Input, format: Format) -> Problem {
    let message = format_args!(
        "--recover is for gzip, bzip2 and lzip, not for {format} (-dc writes what it can of the contents before the damage)"
    );
    Problem::error(input, message)
}

/// Formats a gap as a line.
fn in_words(gap: &Gap) -> String {
    let Gap { bits, at, missing, filled, reason } = gap;
    let bytes = gap.bytes();
    if bits.is_empty() {
        return format!("at byte {}: {reason}", bytes.start);
    }
    let in_bits = match bits.start % 8 == 0 && bits.end % 8 == 0 {
        true => String::new(),
        false => format!(", bits {} to {}", bits.start, bits.end - 1),
    };
    let lost = match missing {
        Some(0) => "no contents are missing there".to_owned(),
        Some(missing) if filled == missing => {
            format!("{missing} bytes are missing at byte {at} of the output, and replaced by zeros")
        }
        Some(missing) => format!("{missing} bytes are missing at byte {at} of the output"),
        None => format!("data of unknown size is missing at byte {at} of the output, and left out"),
    };
    let (last, len) = (bytes.end - 1, bytes.end - bytes.start);
    format!("bytes {} to {last} ({len} bytes{in_bits}): {reason}; {lost}", bytes.start)
}

/// Formats the summary line.
fn summary(done: &Recovered, output: &str) -> String {
    let Recovered { parts, bytes, gaps, lost, .. } = done;
    let counted = |count: u64, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let (parts, gaps) = (counted(*parts, "part"), counted(*gaps, "gap"));
    let whole = if done.gaps == 0 { "complete" } else { "NOT complete" };
    format!("{parts} of {bytes} bytes recovered, {gaps} of {lost} bytes; {output} is {whole}")
}

fn as_json(
    input: &Input,
    recovery: &Recovery,
    done: &Recovered,
    gaps: &[Gap],
    output: Option<String>,
) -> Value {
    let gap = |gap: &Gap| {
        json!({
            "start_byte": gap.bytes().start,
            "end_byte": gap.bytes().end,
            "start_bit": gap.bits.start,
            "end_bit": gap.bits.end,
            "output_byte": gap.at,
            "missing_bytes": gap.missing,
            "filled_bytes": gap.filled,
            "reason": gap.reason.to_string(),
        })
    };
    json!({
        "file": input.to_string(),
        "format": recovery.format().name(),
        "output": output,
        "is_complete": done.gaps == 0,
        "parts": done.parts,
        "recovered_bytes": done.bytes,
        "filled_bytes": done.filled,
        "lost_compressed_bytes": done.lost,
        "gap_count": done.gaps,
        "gaps": gaps.iter().map(gap).collect::<Vec<_>>(),
    })
}

/// An input whose bytes count as processed when they are read for the first time.
struct Followed<'a> {
    input: &'a Input,
    size: u64,
    progress: &'a Progress,
    furthest: AtomicU64,
}

impl ReadAt for Followed<'_> {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.input.file.read_exact_at(bytes, offset).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                io::Error::new(error.kind(), "it became shorter while it was read")
            }
            _ => error,
        })?;
        let end = offset + bytes.len() as u64;
        let before = self.furthest.fetch_max(end, Ordering::Relaxed);
        self.progress.advance(end.saturating_sub(before));
        Ok(())
    }
}

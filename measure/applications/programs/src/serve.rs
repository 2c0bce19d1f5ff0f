//! Runs variants in a process of their own, as a rival of [`measure_harness::rival`].
//!
//! A process runs one variant, so its memory is that of this variant. It is ready when the data are there, and says
//! `ready AMOUNT DATA`, where `DATA` names the real data or says that they are generated. A request is the name of the variant.
//! The answer has the hash of the output, and more numbers: the time from the beginning to the first result in seconds, the
//! processor time of all threads in seconds, and the peak of the memory in all runs so far, without the data, in bytes. They
//! are NaN if the system does not tell them.

use std::io;

use measure_harness::rival;

use crate::used::{forget_peak, memory, peak, processor_seconds};
use crate::{Data, Output, Prepared, Program, Scale};

/// Runs what the arguments `APPLICATION WORKLOAD SCALE VARIANT WORKERS` say, once for each request.
///
/// # Errors
/// If the arguments are not understood, a file of the real data is missing, or the other side is gone.
pub fn serve(
    programs: &[Program],
    version: impl Fn(&Program) -> String,
    arguments: &[String],
) -> io::Result<()> {
    let data = Data::of_environment();
    let Some((workers, program, prepared)) =
        prepared(programs, arguments, data.as_ref()).map_err(io::Error::other)?
    else {
        let expected = "expected `APPLICATION WORKLOAD SCALE VARIANT WORKERS`";
        return Err(io::Error::other(format!("{expected}, not `{}`", arguments.join(" "))));
    };
    forget_peak();
    let before = memory();
    let Prepared { amount, data, run } = prepared;
    rival::serve(&[(program.variant, version(program))], &format!("{amount} {data}"), |_| {
        let processor = processor_seconds();
        let output = run(workers, Output::begin());
        let seconds = output.elapsed().as_secs_f64();
        let first = output.first().map_or(seconds, |first| first.as_secs_f64());
        let used = |before: Option<f64>, after: Option<f64>| Some(after? - before?);
        let processor = used(processor, processor_seconds()).unwrap_or(f64::NAN);
        let memory = peak().zip(before).map_or(f64::NAN, |(peak, before)| peak.saturating_sub(before) as f64);
        Ok(rival::Answer { seconds, digest: output.hash(), more: vec![first, processor, memory] })
    })
}

/// The number of workers, the program, and its data. `None` if the arguments are not understood.
fn prepared<'p>(
    programs: &'p [Program],
    arguments: &[String],
    data: Option<&Data>,
) -> Result<Option<(usize, &'p Program, Prepared)>, String> {
    let [application, workload, scale, variant, workers] = arguments else { return Ok(None) };
    let is_it = |program: &&Program| program.application == application && program.variant == variant;
    let program = programs.iter().find(is_it);
    let workers = workers.parse().ok().filter(|&workers| workers > 0);
    let Some(((program, scale), workers)) = program.zip(Scale::named(scale)).zip(workers) else {
        return Ok(None);
    };
    Ok(program.prepare(workload, scale, data)?.map(|prepared| (workers, program, prepared)))
}

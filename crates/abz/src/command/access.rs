//! The action of `--range` and `--line-range`.

use abz::{Reading, RunOptions, Span};

use super::conversion::Setting;
use super::indices::find_index;
use super::input::Input;
use super::io_mode;
use super::messages::Messages;
use super::output::{Attributes, Output};
use super::problem::{Problem, Severity};
use super::request::Access;
use super::target::Target;

/// Writes a span of the contents of `input` to its output.
pub(super) fn take_span(
    request: &Access,
    setting: Setting<'_>,
    input: &Input,
    run_options: RunOptions<'_>,
    messages: &mut Messages,
) -> Result<(), Problem> {
    let (span, outputs) = (&request.span, &request.outputs);
    let mut output = Output::open_for(input, Target::of(input, outputs, messages)?, outputs)?;
    let (input_name, output_name) = (input.to_string(), output.to_string());
    let places = io_mode::source(input, request.mode, setting.progress);
    let mut reader = setting.progress.of(&input.file);
    let reading = match &places {
        Some(places) => Reading::Places(places),
        None => Reading::Stream(&mut reader),
    };
    let index = match &places {
        Some(_) => match find_index(input, request.index_file.as_deref()) {
            Err(problem) if !problem.is_error() => {
                messages.add(Err(problem.afterwards()));
                None
            }
            found => found?,
        },
        None => None,
    };
    let done = input
        .decompression(&request.decompression)
        .span(run_options, span, reading, index.as_ref(), &mut output)
        .map_err(|error| setting.failed(&error, (&input_name, &output_name), Some(outputs), messages))?;
    if let Some(there) = done.end
        && let Some(message) = is_behind(span, there)
    {
        messages.add(Err(Problem::new(Severity::Note, &input_name, message).afterwards()));
    }
    if let Some((severity, at)) = setting.talk.behaviour.severities.garbage.zip(done.garbage_at) {
        messages.add(Err(Problem::trailing_garbage(severity, &input_name, at).afterwards()));
    }
    messages.add(output.commit(Attributes::Of(input), outputs));
    if setting.talk.is_verbose() && !messages.has_failed() {
        messages.say(format!("{input_name}: {} bytes -- written to {output_name}", done.written));
    }
    Ok(())
}

/// Returns the note for a span that begins past the end of the contents.
fn is_behind(span: &Span, there: u64) -> Option<String> {
    match span {
        Span::Bytes(bytes) if bytes.start >= there && bytes.start > 0 => Some(format!(
            "has {there} bytes of uncompressed data: there is nothing from byte {} on",
            bytes.start
        )),
        Span::Lines(lines) if *lines.start() > there && *lines.start() > 1 => {
            Some(format!("has {there} lines of uncompressed data: there is no line {}", lines.start()))
        }
        _ => None,
    }
}

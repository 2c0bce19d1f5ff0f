//! A part of what is in an input, and the index by which it is found.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use abz::{Conduct, Error, Index, Reading, Span};

use super::conversion::Setting;
use super::crew::Crew;
use super::decompressing::of_input;
use super::input::Input;
use super::output::{Attributes, Output};
use super::problem::{Problem, Severity};
use super::request::{Access, MakeIndex, Source};
use super::suffix::INDEX_SUFFIX;
use super::target::Target;
use super::told::Told;
use super::ways;

/// Writes a span of the contents of `input` to where the output goes.
pub(super) fn take_span(
    request: &Access,
    setting: Setting<'_>,
    input: &Input,
    crew: Crew<'_>,
    told: &mut Told,
) -> Result<(), Problem> {
    let (span, outputs) = (&request.span, &request.outputs);
    let conduct = match crew {
        Crew::Together(conduct) => conduct,
        Crew::Alone(_) => Conduct::default(),
    };
    let mut output = Output::open(Target::of(input, outputs, told)?, outputs, input.metadata.is_file())?;
    let (input_name, output_name) = (input.to_string(), output.to_string());
    let places = ways::source(input, request.way, setting.progress);
    let mut reader = setting.progress.of(&input.file);
    let reading = match &places {
        Some(places) => Reading::Places(places),
        None => Reading::Stream(&mut reader),
    };
    let index = match &places {
        Some(_) => match find_index(input, request.index_file.as_deref()) {
            Err(problem) if !problem.is_error() => {
                told.add(Err(problem.afterwards()));
                None
            }
            found => found?,
        },
        None => None,
    };
    let done = of_input(&request.decompression, input)
        .span(conduct, span, reading, index.as_ref(), &mut output)
        .map_err(|error| setting.failed(&error, (&input_name, &output_name), Some(outputs), told))?;
    if let Some(there) = done.end
        && let Some(message) = is_behind(span, there)
    {
        told.add(Err(Problem::new(Severity::Note, &input_name, message).afterwards()));
    }
    if let Some((severity, at)) = setting.talk.manners.severities.garbage.zip(done.garbage_at) {
        told.add(Err(Problem::trailing_garbage(severity, &input_name, at).afterwards()));
    }
    told.add(output.commit(Attributes::Of(input), outputs));
    if setting.talk.is_verbose() && !told.has_failed() {
        told.say(format!("{input_name}: {} bytes -- written to {output_name}", done.written));
    }
    Ok(())
}

/// Makes an index of `input`.
pub(super) fn make_index(
    request: &MakeIndex,
    setting: Setting<'_>,
    input: &Input,
    crew: Crew<'_>,
    told: &mut Told,
) -> Result<(), Problem> {
    let outputs = &request.outputs;
    let is_index =
        matches!(&input.source, Source::File(path) if path.to_string_lossy().ends_with(INDEX_SUFFIX));
    if input.was_found && is_index {
        return Ok(());
    }
    let mut output = Output::open(Target::of(input, outputs, told)?, outputs, input.metadata.is_file())?;
    let (input_name, output_name) = (input.to_string(), output.to_string());
    let Some(places) = ways::source(input, request.way, setting.progress) else {
        return Err(Problem::error(
            input,
            "cannot be read in parts: an index is made of a regular file, and not with --input-io stream",
        ));
    };
    let mut decompression = of_input(&request.decompression, input);
    let conduct = match crew {
        Crew::Together(conduct) => conduct,
        Crew::Alone(_) => {
            decompression.workers = 1;
            Conduct::default()
        }
    };
    let index = decompression.index(conduct, &places, request.every).and_then(|index| {
        output.write_all(&index.to_bytes()).map_err(Error::Write)?;
        Ok(index)
    });
    let index =
        index.map_err(|error| setting.failed(&error, (&input_name, &output_name), Some(outputs), told))?;
    let parts = index.parts().len().max(1);
    if parts == 1 && index.contents() > request.every {
        let message = "has only one place where decoding can begin, its start: ranges are decoded from there";
        told.add(Err(Problem::new(Severity::Note, &input_name, message).afterwards()));
    }
    told.add(output.commit(Attributes::Of(input), outputs));
    if setting.talk.is_verbose() && !told.has_failed() {
        let places = if parts == 1 { "place" } else { "places" };
        told.say(format!("{input_name}: {parts} {places} -- created {output_name}"));
    }
    Ok(())
}

/// The name of the index of a file.
pub(super) fn index_of(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(INDEX_SUFFIX);
    name.into()
}

/// The index of an input, if there is one: that which was named, or that beside it.
fn find_index(input: &Input, named: Option<&Path>) -> Result<Option<Index>, Problem> {
    let Source::File(path) = &input.source else { return Ok(None) };
    let path = named.map_or_else(|| index_of(path), Path::to_owned);
    let go_on = "it is not used: make it anew with --index -f";
    let bytes = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && named.is_none() => {
            return Ok(None);
        }
        Err(error) => return Err(Problem::of_file(path.display(), "cannot be read", &error)),
        Ok(bytes) => bytes,
    };
    let index = Index::parse(&bytes)
        .map_err(|error| Problem::warning(path.display(), format_args!("{error}; {go_on}")))?;
    match index.fits(&mut &input.file) {
        Ok(true) => Ok(Some(index)),
        Ok(false) => {
            let message = format_args!("is of another file, or {input} was changed since; {go_on}");
            Err(Problem::warning(path.display(), message))
        }
        Err(error) => Err(Problem::of_file(input, "cannot be read", &error)),
    }
}

/// What there is to say of a span of which there is nothing.
fn is_behind(span: &Span, there: u64) -> Option<String> {
    match span {
        Span::Bytes(bytes) if bytes.start >= there && bytes.start > 0 => {
            Some(format!("has {there} bytes of plain data: there is nothing from byte {} on", bytes.start))
        }
        Span::Lines(lines) if *lines.start() > there && *lines.start() > 1 => {
            Some(format!("has {there} lines of plain data: there is no line {}", lines.start()))
        }
        _ => None,
    }
}

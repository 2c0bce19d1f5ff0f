//! Indices of compressed files: finding, making and using them.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use abz::program::{RunOptions, decompress_indexed, decompress_indexing, make_index};
use abz::{Decompressed, Decompression, Error, Format, Index, ReadAt};

use super::io_mode;
use crate::command::action::{Action, Done, Failure, Setting, Terms, fits};
use crate::command::input::Input;
use crate::command::messages::Messages;
use crate::command::messages::problem::{Problem, Severity};
use crate::command::output::target::Target;
use crate::command::output::{Attributes, Output};
use crate::command::request::suffix::INDEX_SUFFIX;
use crate::command::request::{Destination, Indexing, MakeIndex, Source};

/// The advice for an index that cannot be used.
const GO_ON: &str = "it is not used: make a new one with abz --index -f";

/// The problem of an input that cannot have an index.
const NOT_IN_PARTS: &str =
    "cannot be read in parts: an index needs a regular file, and not --input-io stream";

impl Action for MakeIndex {
    fn terms(&self) -> Terms<'_> {
        Terms::to_decode(&self.inputs, Some(&self.outputs), &self.reporting, &self.decompression)
    }

    fn may_be_side_by_side(&self, input: &Input) -> bool {
        self.outputs.destination != Destination::Stdout && fits(input, self.decompression.memory_limit)
    }

    /// An index has no index.
    fn passes_over(&self, input: &Input) -> bool {
        matches!(&input.source, Source::File(path) if path.to_string_lossy().ends_with(INDEX_SUFFIX))
    }

    /// Writes the index of `input`.
    fn convert(
        &self,
        input: &Input,
        output: &mut Output,
        run_options: RunOptions<'_>,
        setting: Setting<'_>,
        messages: &mut Messages,
    ) -> Result<Option<Done>, Failure> {
        let Some(source) = io_mode::source(input, self.mode, setting.progress) else {
            return Err(Problem::error(input, NOT_IN_PARTS).into());
        };
        let mut decompression = input.decompression(&self.decompression);
        if run_options.tools.is_some() {
            decompression.workers = 1;
        }
        let index = make_index(&source, self.every, &decompression, run_options)?;
        output.write_all(&index.to_bytes()).map_err(Error::Write)?;
        note((&index, self.every), input, messages);
        let summary = Some(summary(&index, input, output));
        Ok(Some(Done { summary, ..Done::new(index.contents(), source.size()) }))
    }
}

/// Notes that an index is of no use.
fn note((index, every): (&Index, u64), input: &Input, messages: &mut Messages) {
    if index.parts().len() <= 1 && index.contents() > every {
        let message = "has only one place where decoding can begin, its start: ranges are decoded from there";
        messages.add(Err(Problem::new(Severity::Note, input, message).afterwards()));
    }
}

/// Returns the summary of `--verbose` for an index.
fn summary(index: &Index, input: &Input, output: &Output) -> String {
    let parts = index.parts().len().max(1);
    let places = if parts == 1 { "place" } else { "places" };
    format!("{input}: {parts} {places} -- created {output}")
}

/// The settings to decode a file that has an index, or gets one.
pub(crate) struct Indexed<'a> {
    pub(crate) decompression: &'a Decompression,
    pub(crate) indexing: &'a Indexing,
    /// Progress is reported by the reads from `source` alone.
    pub(crate) run_options: RunOptions<'a>,
    pub(crate) source: Option<io_mode::Source<'a>>,
    pub(crate) setting: Setting<'a>,
}

impl Indexed<'_> {
    /// Decodes `input` with its index, or makes one while decoding, if required. Returns `None`, having done nothing,
    /// if neither applies.
    pub(crate) fn decode(
        &self,
        input: &Input,
        plain: &mut (dyn Write + Send),
        messages: &mut Messages,
    ) -> Result<Option<Decompressed>, Failure> {
        let Indexing { file, made } = self.indexing;
        let is_for_use = is_for_use(self.decompression, input);
        let Some(source) = &self.source else {
            return match made {
                Some(_) => Err(Problem::error(input, NOT_IN_PARTS).into()),
                None => Ok(None),
            };
        };
        if !is_for_use && made.is_none() && file.is_none() {
            return Ok(None);
        }
        let is_made_anew = made.as_ref().is_some_and(|(_, outputs)| outputs.force);
        let index = match is_made_anew {
            true => None,
            false => self.find(input, messages)?,
        };
        if let Some(index) = &index
            && is_for_use
            && let Some((done, is_right)) =
                decompress_indexed(source, index, plain, self.decompression, self.run_options)?
        {
            if !is_right {
                let message = format_args!("its index is wrong about where its parts are: {GO_ON}");
                messages.add(Err(Problem::new(Severity::Note, input, message).afterwards()));
            }
            return Ok(Some(done));
        }
        match made {
            Some((every, outputs)) if index.is_none() => {
                let output = Target::of(input, outputs, messages)
                    .and_then(|target| Output::open_for(input, target, outputs));
                let mut output = output.map_err(Failure::Problem)?;
                let (done, index) =
                    decompress_indexing(source, *every, plain, self.decompression, self.run_options)?;
                let written = output.write_all(&index.to_bytes());
                written.map_err(|error| {
                    Failure::Problem(Problem::of_run(
                        &input.to_string(),
                        &output.to_string(),
                        &Error::Write(error),
                    ))
                })?;
                note((&index, *every), input, messages);
                let summary = summary(&index, input, &output);
                messages.add(output.commit(Attributes::Of(input), outputs));
                if self.setting.talk.is_verbose() && !messages.has_failed() {
                    messages.say(summary);
                }
                Ok(Some(done))
            }
            _ => Ok(None),
        }
    }

    /// Returns the index of `input`, if one exists and matches. A problem with an index that was not named is
    /// reported only with `--verbose`.
    fn find(&self, input: &Input, messages: &mut Messages) -> Result<Option<Index>, Failure> {
        let file = self.indexing.file.as_deref();
        let found = find_index(input, file);
        (&input.file).rewind().map_err(Error::Read)?;
        match found {
            Err(problem) if file.is_some() && problem.is_error() => Err(Failure::Problem(problem)),
            Err(problem) => {
                if file.is_some() {
                    messages.add(Err(problem.afterwards()));
                } else if self.setting.talk.is_verbose() {
                    messages.say(problem.to_text(&self.setting.talk.behaviour.options));
                }
                Ok(None)
            }
            Ok(index) => Ok(index),
        }
    }
}

/// Returns `true` if an index may help to decode the whole file.
pub(crate) fn is_for_use(decompression: &Decompression, input: &Input) -> bool {
    decompression.workers > 1 && input.format() == Some(Format::Gzip)
}

/// Returns the name of the index of a file.
pub(crate) fn index_of(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(INDEX_SUFFIX);
    name.into()
}

/// Returns the index of an input: the named one, or the one beside the input, if any. Moves the input's position.
pub(crate) fn find_index(input: &Input, named: Option<&Path>) -> Result<Option<Index>, Problem> {
    let Source::File(path) = &input.source else { return Ok(None) };
    let path = named.map_or_else(|| index_of(path), Path::to_owned);
    let bytes = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && named.is_none() => {
            return Ok(None);
        }
        Err(error) => return Err(Problem::of_file(path.display(), "cannot be read", &error)),
        Ok(bytes) => bytes,
    };
    let index = Index::parse(&bytes)
        .map_err(|error| Problem::warning(path.display(), format_args!("{error}; {GO_ON}")))?;
    match index.fits(&mut &input.file) {
        Ok(true) => Ok(Some(index)),
        Ok(false) => {
            let message = format_args!("belongs to another file, or {input} was changed since; {GO_ON}");
            Err(Problem::warning(path.display(), message))
        }
        Err(error) => Err(Problem::of_file(input, "cannot be read", &error)),
    }
}

//! The target of the output of an input.

use std::fs::{self, Metadata};
use std::io;
use std::path::PathBuf;

use super::mirror::folder_for;
use crate::command::input::Input;
use crate::command::messages::Messages;
use crate::command::messages::problem::Problem;
use crate::command::messages::stdout;
use crate::command::request::suffix::{INDEX_SUFFIX, with_suffix};
use crate::command::request::{Destination, Inputs, Made, Outputs, Source};
use crate::command::system::file_id::FileId;

/// How messages name the standard output.
pub(crate) const STDOUT: &str = "standard output";

/// The present owner of the name of an output: nothing, something with this metadata, or a link that leads nowhere.
pub(crate) type Existing = Option<io::Result<Metadata>>;

/// The target of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    File(PathBuf),
    Stdout,
    Nowhere,
}

impl Target {
    /// Returns the target of the output of `input`. If the name has to be guessed, adds a message.
    pub(crate) fn of(input: &Input, outputs: &Outputs, messages: &mut Messages) -> Result<Target, Problem> {
        let behaviour = &outputs.behaviour;
        let suffixed = behaviour.suffixed;
        let is_beside = matches!(outputs.destination, Destination::Beside | Destination::Folder { .. });
        if let (Some(severity), Source::File(path)) = (behaviour.severities.suffix, &input.source)
            && outputs.made == Made::Compressed
            && (suffixed.everywhere || is_beside)
            && (suffixed.even_forced || !outputs.force)
            && outputs.names.without_suffix(path.file_name().unwrap_or_default()).is_some()
        {
            let message = format_args!("already has the suffix of a compressed file -- {}", suffixed.advice);
            return Err(Problem::new(severity, input, message));
        }
        let path = match (&outputs.destination, &input.source) {
            (Destination::File(file), _) => return Ok(Target::File(file.clone())),
            (Destination::Stdout, _) | (Destination::Beside | Destination::Folder { .. }, Source::Stdin) => {
                return Ok(Target::Stdout);
            }
            (Destination::Beside | Destination::Folder { .. }, Source::File(path)) => path,
        };
        let name = path.file_name().unwrap_or_default();
        let stem = outputs.names.without_suffix(name);
        let name = match (outputs.made, stem) {
            (Made::Index, _) => with_suffix(name, INDEX_SUFFIX.as_ref()),
            (Made::Compressed, _) => with_suffix(name, &outputs.names.suffix),
            (_, stem) if outputs.restores_names => match input.stored_name().or(stem) {
                Some(name) => name,
                None => return Err(unknown_suffix(input, outputs)),
            },
            (_, Some(stem)) => stem,
            (_, None) => {
                let addition = behaviour.guesses.ok_or_else(|| unknown_suffix(input, outputs))?;
                let guess = with_suffix(name, addition.as_ref());
                let used = guess.display();
                let message = format_args!("the original name is not known, using {used}");
                messages.add(Err(Problem::new(behaviour.severities.no_suffix, input, message).afterwards()));
                guess
            }
        };
        Ok(Target::File(match &outputs.destination {
            Destination::Folder { path: folder, mirrors: false } => folder.join(name),
            Destination::Folder { path: root, mirrors: true } => folder_for(root, path)?.join(name),
            _ => path.with_file_name(name),
        }))
    }

    /// Looks what has the name of the target.
    pub(crate) fn existing(&self) -> Existing {
        let Target::File(path) = self else { return None };
        let found = fs::symlink_metadata(path).ok()?;
        Some(if found.is_symlink() { fs::metadata(path) } else { Ok(found) })
    }

    /// Returns the identity of a regular file at the target, of which `existing` has the name. A file behind standard
    /// output counts only if it is not empty, since otherwise a shell has truncated it already.
    pub(crate) fn identity(&self, existing: &Existing) -> Option<FileId> {
        let written = match self {
            Target::Stdout => stdout::file().and_then(|stdout| stdout.metadata()).ok(),
            _ => None,
        };
        let written = written.filter(|found| found.len() > 0);
        let found = existing.as_ref().and_then(|found| found.as_ref().ok()).or(written.as_ref());
        found.filter(|found| found.is_file()).map(FileId::of)
    }

    /// Returns an error if the target is the file that is read, under any name. Otherwise returns what has its name.
    pub(crate) fn spare(&self, read: FileId) -> Result<Existing, Problem> {
        let existing = self.existing();
        match self.identity(&existing) {
            Some(found) if found == read => Err(self.is_read()),
            _ => Ok(existing),
        }
    }

    /// Returns an error if the target is one of the named inputs.
    pub(crate) fn spare_named(&self, inputs: &Inputs) -> Result<(), Problem> {
        match self.identity(&self.existing()) {
            Some(found) if inputs.named().any(|named| FileId::at(named) == Some(found)) => {
                Err(self.is_read())
            }
            _ => Ok(()),
        }
    }

    /// Returns the problem of a target that is an input.
    pub(crate) fn is_read(&self) -> Problem {
        let (name, verb) = match self {
            Target::File(path) => (path.display().to_string(), "replace"),
            _ => (STDOUT.to_owned(), "change"),
        };
        let message =
            format_args!("is the input, and the output would {verb} it: name another file to write to");
        Problem::error(name, message)
    }
}

fn unknown_suffix(input: &Input, outputs: &Outputs) -> Problem {
    let suffix = outputs.names.suffix.display();
    let advice = if outputs.behaviour.is_foreign() { "use -c" } else { "use -c, or -o FILE" };
    let message = format_args!("unknown suffix, expected {suffix} -- ignored ({advice})");
    Problem::new(outputs.behaviour.severities.no_suffix, input, message)
}

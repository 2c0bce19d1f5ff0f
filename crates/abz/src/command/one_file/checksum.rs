//! The output of `--checksum`: the SHA-256 of the uncompressed data, in the format of `sha256sum`.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::command::input::Input;
use crate::command::messages::Messages;
use crate::command::messages::problem::Problem;
use crate::command::messages::stdout::print;
use crate::command::output::target::Target;
use crate::command::output::{Attributes, Output};
use crate::command::request::suffix::Names;
use crate::command::request::{Made, Outputs, Source};

/// The checksum line of one input, and its destination.
#[derive(Debug)]
pub(crate) struct Checksum {
    /// The file name of the uncompressed data, without folders.
    name: OsString,
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// A file beside the output.
    File(Output),
    /// Standard error, since the data goes to standard output.
    StandardError,
    /// Standard output, either at once or when it is the turn of this input.
    StandardOutput { at_once: bool },
}

impl Checksum {
    /// Opens the destination before any work is done. A file that one thread processes `alone` waits for its turn to
    /// print.
    pub(crate) fn open(
        target: &Target,
        alone: bool,
        input: &Input,
        names: &Names,
        outputs: Option<&Outputs>,
    ) -> Result<Self, Problem> {
        let holds_plain = outputs.is_some_and(|outputs| outputs.made == Made::Compressed);
        let name = plain_name(target, input, (names, holds_plain)).unwrap_or_else(|| "-".into());
        let place = match (target, outputs) {
            (Target::File(path), Some(outputs)) => {
                Place::File(Output::open_for(input, Target::File(beside(path, &name)), outputs)?)
            }
            (Target::Stdout, _) => Place::StandardError,
            _ => Place::StandardOutput { at_once: !alone },
        };
        Ok(Checksum { name, place })
    }

    /// Writes the line. A checksum file gets its name only now.
    pub(crate) fn tell(self, sum: &str, input: &Input, outputs: Option<&Outputs>, messages: &mut Messages) {
        let line = line(sum, &self.name);
        match self.place {
            Place::File(file) => {
                if let Some(outputs) = outputs {
                    messages.add(write(file, &line, input, outputs));
                }
            }
            Place::StandardError => {
                messages.say(String::from_utf8_lossy(&line).trim_end_matches('\n').to_owned())
            }
            Place::StandardOutput { at_once: true } => {
                messages.add(print(|out| out.write_all(&line)));
            }
            Place::StandardOutput { at_once: false } => messages.output.extend_from_slice(&line),
        }
    }
}

fn write(mut file: Output, line: &[u8], input: &Input, outputs: &Outputs) -> Result<(), Problem> {
    let name = file.to_string();
    file.write_all(line).map_err(|error| Problem::of_file(name, "cannot be written to", &error))?;
    file.commit(Attributes::Of(input), outputs)
}

/// Returns the line of a file. As sha256sum does it, a line whose name has a backslash, a line feed or a carriage return begins
/// with a backslash, and these are escaped.
fn line(sum: &str, name: &OsStr) -> Vec<u8> {
    let name = name.as_bytes();
    let is_escaped = name.iter().any(|byte| matches!(byte, b'\\' | b'\n' | b'\r'));
    let mut line = if is_escaped { b"\\".to_vec() } else { Vec::new() };
    line.extend_from_slice(sum.as_bytes());
    line.extend_from_slice(b"  ");
    for byte in name {
        match byte {
            b'\\' => line.extend_from_slice(b"\\\\"),
            b'\n' => line.extend_from_slice(b"\\n"),
            b'\r' => line.extend_from_slice(b"\\r"),
            byte => line.push(*byte),
        }
    }
    line.push(b'\n');
    line
}

/// Returns the name of the uncompressed data, which is either the input or the output, or `None` if it has no name.
fn plain_name(target: &Target, input: &Input, (names, is_input): (&Names, bool)) -> Option<OsString> {
    let of_input = match &input.source {
        Source::File(path) => path.file_name(),
        Source::Stdin => None,
    };
    let of_output = match target {
        Target::File(path) => path.file_name(),
        _ => None,
    };
    let plain = |name: &OsStr| names.without_suffix(name);
    match is_input {
        true => of_input.map(OsStr::to_owned).or_else(|| of_output.and_then(plain)),
        false => of_output.map(OsStr::to_owned).or_else(|| {
            let name = of_input?;
            Some(plain(name).unwrap_or_else(|| name.to_owned()))
        }),
    }
}

/// Returns the path of the checksum file for the data called `name`, which is at `path`, compressed or not.
fn beside(path: &Path, name: &OsStr) -> PathBuf {
    let mut name = if name == "-" { path.file_name().unwrap_or(name).to_owned() } else { name.to_owned() };
    name.push(".sha256");
    path.with_file_name(name)
}

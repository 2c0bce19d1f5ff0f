//! Compressed files of limited size, each of which is whole, as lzip makes them: FILE00001.lz and so on.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use super::conversion::Setting;
use super::crew::Crew;
use super::file_id::FileId;
use super::input::Input;
use super::list::saved;
use super::output::{Attributes, Output, rights_meanwhile};
use super::problem::Problem;
use super::request::{Compress, Destination, Outputs, Source};
use super::target::Target;
use super::told::Told;

/// The most volumes that have names.
const MOST: u32 = 99_999;

/// The size of the volumes of what is made of `input`, if it is cut: what goes to standard output is not.
pub(super) fn size(request: &Compress, input: &Input) -> Option<u64> {
    let has_name = match request.outputs.destination {
        Destination::Beside => input.source != Source::Stdin,
        Destination::File(_) => true,
        _ => false,
    };
    request.volume_size.filter(|_| has_name)
}

/// Compresses an input, which stays, to files of at most `size` bytes. They get their names when all of them are whole.
///
/// As with lzip, the first one replaces no file that exists unless that is asked for, and the others do.
pub(super) fn make(
    (request, setting): (&Compress, Setting<'_>),
    size: u64,
    input: &Input,
    crew: Crew<'_>,
    told: &mut Told,
) -> Result<(), Problem> {
    let outputs = &request.outputs;
    // It looks whether the input may be compressed.
    let target = Target::of(input, outputs, told)?;
    let stem = match (&outputs.destination, &input.source) {
        (Destination::File(path), _) | (_, Source::File(path)) => path.clone(),
        _ => return Err(Problem::error(input, format_args!("volumes need a name, found {target:?}"))),
    };
    let mut compression = request.compression_of(input);
    // What cannot be made smaller is a little larger compressed, and a member must fit.
    let most = usize::try_from(size - size / 16).unwrap_or(usize::MAX);
    compression.block_size = Some(compression.block_len().min(most));
    let mode = rights_meanwhile(input);
    let read = FileId::of(&input.metadata);
    let mut volumes = Volumes { outputs, stem, size, mode, read, made: Vec::new(), len: 0, problem: None };
    let tell = |bytes| setting.progress.advance(bytes);
    let done = match crew.telling(&tell) {
        Crew::Alone(tools) => tools.compress(&compression, setting.progress.of(&input.file), &mut volumes),
        Crew::Together(conduct) => compression.conduct(conduct, &input.file, &mut volumes),
    };
    if let Some(problem) = volumes.problem {
        return Err(problem);
    }
    let (name, count) = (input.to_string(), volumes.made.len());
    let output = volumes.made.last().map_or_else(String::new, Output::to_string);
    let done = done.map_err(|error| setting.failed(&error, (&name, &output), Some(outputs), told))?;
    for output in volumes.made {
        output.commit(Attributes::Of(input), outputs)?;
    }
    if setting.talk.is_verbose() {
        let saved = saved(done.written, done.read);
        told.say(format!("{name}: {saved:.1}% -- created {count} volumes, the last of them {output}"));
    }
    Ok(())
}

/// The volumes of an input. What is written at once is a member, which stays in one piece.
struct Volumes<'a> {
    outputs: &'a Outputs,
    /// What their names begin with.
    stem: PathBuf,
    /// The most bytes of each.
    size: u64,
    mode: u32,
    /// The input.
    read: FileId,
    made: Vec<Output>,
    /// The size of the last one so far.
    len: u64,
    /// Why one could not be opened.
    problem: Option<Problem>,
}

impl Volumes<'_> {
    /// Opens the next volume.
    fn next(&mut self) -> Result<(), Problem> {
        let number = self.made.len() as u32 + 1;
        if number > MOST {
            let message = format_args!("expected at most {MOST} volumes: let them be larger");
            return Err(Problem::error(self.stem.display(), message));
        }
        let mut name = OsString::from(&self.stem);
        name.push(format!("{number:05}"));
        name.push(&self.outputs.names.suffix);
        let name = PathBuf::from(name);
        if fs::metadata(&name).is_ok_and(|found| FileId::of(&found) == self.read) {
            return Err(Problem::error(name.display(), "is the input: name the volumes otherwise"));
        }
        let overwrite = self.outputs.force || number > 1;
        let output = Output::open_over(Target::File(name), self.outputs, self.mode, overwrite)?;
        self.made.push(output);
        self.len = 0;
        Ok(())
    }
}

impl Write for Volumes<'_> {
    fn write(&mut self, member: &[u8]) -> io::Result<usize> {
        let len = member.len() as u64;
        if self.made.is_empty() || self.len > 0 && self.len + len > self.size {
            self.next().map_err(|problem| {
                let error = io::Error::other(problem.to_string());
                self.problem = Some(problem);
                error
            })?;
        }
        if let Some(output) = self.made.last_mut() {
            output.write_all(member)?;
        }
        self.len += len;
        Ok(member.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

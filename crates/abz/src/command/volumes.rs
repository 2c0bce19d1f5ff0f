//! Compressed files of limited size, each of which is whole, as lzip makes them: FILE00001.lz and so on.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use abz::Conduct;

use super::crew::Crew;
use super::input::Input;
use super::job::{self, Setting};
use super::list::saved;
use super::options::{Action, Destination, Options, Source};
use super::output::{Attributes, Output};
use super::problem::Problem;
use super::target::Target;
use super::told::Told;

/// The most volumes that have names.
const MOST: u32 = 99_999;

/// Whether what is made of `input` is cut: what goes to standard output is not.
pub(super) fn are_asked_for(input: &Input, options: &Options) -> bool {
    let has_name = match options.destination {
        Destination::Beside => input.source != Source::Stdin,
        Destination::File(_) => true,
        _ => false,
    };
    options.action == Action::Compress && has_name
}

impl Setting<'_> {
    /// Compresses an input, which stays, to files of at most `size` bytes. They get their names when all of them are whole.
    pub(super) fn make_volumes(
        &self,
        size: u64,
        input: &Input,
        crew: Crew<'_>,
        told: &mut Told,
    ) -> Result<(), Problem> {
        let options = self.options;
        // It looks whether the input may be compressed.
        let target = Target::of(input, options, told)?;
        let stem = match (&options.destination, &input.source) {
            (Destination::File(path), _) | (_, Source::File(path)) => path.clone(),
            _ => return Err(Problem::error(input, format_args!("volumes need a name, found {target:?}"))),
        };
        let mut compression = job::compression(input, options);
        // What cannot be made smaller is a little larger compressed, and a member must fit.
        let most = usize::try_from(size - size / 16).unwrap_or(usize::MAX);
        compression.block_size = Some(compression.block_len().min(most));
        let privately = input.metadata.is_file();
        let mut volumes =
            Volumes { options, stem, size, privately, outputs: Vec::new(), len: 0, problem: None };
        let tell = |bytes| self.progress.advance(bytes);
        let done = match crew {
            Crew::Alone(tools) => tools.compress(&compression, self.progress.of(&input.file), &mut volumes),
            Crew::Together(conduct) => {
                let conduct = Conduct { progress: Some(&tell), ..conduct };
                compression.conduct(conduct, &input.file, &mut volumes)
            }
        };
        if let Some(problem) = volumes.problem {
            return Err(problem);
        }
        let (name, count) = (input.to_string(), volumes.outputs.len());
        let output = volumes.outputs.last().map_or_else(String::new, Output::to_string);
        let done = done.map_err(|error| job::failed(&error, &name, &output, options, told))?;
        for output in volumes.outputs {
            output.commit(Attributes::Of(input), options)?;
        }
        if options.is_verbose() {
            let saved = saved(done.written, done.read);
            told.say(format!("{name}: {saved:.1}% -- created {count} volumes, the last of them {output}"));
        }
        Ok(())
    }
}

/// The volumes of an input. What is written at once is a member, which stays in one piece.
struct Volumes<'a> {
    options: &'a Options,
    /// What their names begin with.
    stem: PathBuf,
    /// The most bytes of each.
    size: u64,
    privately: bool,
    outputs: Vec<Output>,
    /// The size of the last one so far.
    len: u64,
    /// Why one could not be opened.
    problem: Option<Problem>,
}

impl Volumes<'_> {
    /// Opens the next volume.
    fn next(&mut self) -> Result<(), Problem> {
        let number = self.outputs.len() as u32 + 1;
        if number > MOST {
            let message = format_args!("expected at most {MOST} volumes: let them be larger");
            return Err(Problem::error(self.stem.display(), message));
        }
        let mut name = OsString::from(&self.stem);
        name.push(format!("{number:05}"));
        name.push(&self.options.suffix);
        let output = Output::open(Target::File(name.into()), self.options, self.privately)?;
        self.outputs.push(output);
        self.len = 0;
        Ok(())
    }
}

impl Write for Volumes<'_> {
    fn write(&mut self, member: &[u8]) -> io::Result<usize> {
        let len = member.len() as u64;
        if self.outputs.is_empty() || self.len > 0 && self.len + len > self.size {
            self.next().map_err(|problem| {
                let error = io::Error::other(problem.to_string());
                self.problem = Some(problem);
                error
            })?;
        }
        if let Some(output) = self.outputs.last_mut() {
            output.write_all(member)?;
        }
        self.len += len;
        Ok(member.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

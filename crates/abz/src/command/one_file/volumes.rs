//! Volumes: complete compressed files of limited size, FILE00001.lz and so on, as lzip writes them.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use abz::program::{RunOptions, block_len, compress_with};

use crate::command::action::Setting;
use crate::command::input::Input;
use crate::command::list::saved;
use crate::command::messages::Messages;
use crate::command::messages::problem::Problem;
use crate::command::output::target::Target;
use crate::command::output::{Attributes, Output, rights_meanwhile};
use crate::command::request::{Compress, Destination, Outputs, Source};
use crate::command::system::file_id::FileId;

/// The largest number of volumes.
const MOST: u32 = 99_999;

/// Returns the size of volumes for `input`, or `None` if its output is not split, as for standard output.
pub(crate) fn size(request: &Compress, input: &Input) -> Option<u64> {
    let has_name = match request.outputs.destination {
        Destination::Beside => input.source != Source::Stdin,
        Destination::File(_) => true,
        _ => false,
    };
    request.volume_size.filter(|_| has_name)
}

/// Compresses an input to files of at most `size` bytes, and keeps it. The files get their names when all of them are
/// complete.
///
/// As in lzip, the first file replaces an existing one only with `--force`; the others always do.
pub(crate) fn make(
    (request, setting): (&Compress, Setting<'_>),
    size: u64,
    input: &Input,
    run_options: RunOptions<'_>,
    messages: &mut Messages,
) -> Result<(), Problem> {
    let outputs = &request.outputs;
    // This checks whether the input may be compressed.
    let target = Target::of(input, outputs, messages)?;
    let stem = match (&outputs.destination, &input.source) {
        (Destination::File(path), _) | (_, Source::File(path)) => path.clone(),
        _ => return Err(Problem::error(input, format_args!("volumes need a name, found {target:?}"))),
    };
    let mut compression = request.compression_of(input);
    // Incompressible data becomes slightly larger, and a member must fit in a volume.
    let most = usize::try_from(size - size / 16).unwrap_or(usize::MAX);
    compression.block_size = Some(block_len(&compression).min(most));
    let mut volumes = Volumes { input, outputs, stem, size, made: Vec::new(), len: 0, problem: None };
    let tell = |bytes| setting.progress.advance(bytes);
    let run_options = RunOptions { progress: Some(&tell), ..run_options };
    let done = compress_with(&input.file, &mut volumes, &compression, run_options);
    if let Some(problem) = volumes.problem {
        return Err(problem);
    }
    let (name, count) = (input.to_string(), volumes.made.len());
    let output = volumes.made.last().map_or_else(String::new, Output::to_string);
    let done = done.map_err(|error| setting.failed(&error, (&name, &output), Some(outputs), messages))?;
    for output in volumes.made {
        output.commit(Attributes::Of(input), outputs)?;
    }
    if setting.talk.is_verbose() {
        let saved = saved(done.written, done.read);
        messages.say(format!("{name}: {saved:.1}% -- created {count} volumes, the last of them {output}"));
    }
    Ok(())
}

/// A writer that splits its output into volumes. Each write is one member, which is not split.
struct Volumes<'a> {
    input: &'a Input,
    outputs: &'a Outputs,
    /// The path to which the number and suffix are added.
    stem: PathBuf,
    /// The largest size of a volume in bytes.
    size: u64,
    made: Vec<Output>,
    /// The size of the last volume so far.
    len: u64,
    /// The problem of a volume that could not be opened.
    problem: Option<Problem>,
}

impl Volumes<'_> {
    /// Opens the next volume.
    fn next(&mut self) -> Result<(), Problem> {
        let number = self.made.len() as u32 + 1;
        if number > MOST {
            let message = format_args!("expected at most {MOST} volumes: use larger ones");
            return Err(Problem::error(self.stem.display(), message));
        }
        let mut name = OsString::from(&self.stem);
        name.push(format!("{number:05}"));
        name.push(&self.outputs.names.suffix);
        let target = Target::File(name.into());
        let existing = target.spare(FileId::of(&self.input.metadata))?;
        // As in lzip, permission to write the first volume includes the ones after it.
        let overwrite = self.outputs.force || number > 1;
        let output =
            Output::open_over((target, existing), self.outputs, rights_meanwhile(self.input), overwrite)?;
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

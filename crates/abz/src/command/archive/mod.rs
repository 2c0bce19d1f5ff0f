//! The actions of `--archive` and `--extract`: tar archives, compressed or not.
//!
//! No uncompressed archive is written to disk. [`pack`] is a reader that produces the archive from the files, and the
//! pipeline compresses what it reads. To extract, [`unpack`] creates files from what an [`abz::Reader`] decompresses.

mod entries;
mod extended;
mod header;
#[cfg(test)]
mod mutations;
mod names;
mod pack;
mod unpack;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::PoisonError;

use abz::program::{RunOptions, compress_with};
use abz::{Error, Reader, ReaderBuilder};

use self::pack::{Pack, Problems};
use self::unpack::Unpack;
use super::input::Input;
use super::messages::Messages;
use super::output::{Attributes, Output, USUAL};
use super::request::{Archive, Extract, Talk};
use crate::command::input::walk::Walk;
use crate::command::messages::console::Console;
use crate::command::messages::problem::Problem;
use crate::command::messages::progress::{Metered, Progress};
use crate::command::output::target::Target;
use crate::command::system::file_id::FileId;
use crate::command::system::interrupt;
use crate::command::system::patient::Patient;

/// The number of bytes at the start of a file that show whether it is an uncompressed archive.
const LOOK: u64 = header::BLOCK as u64;

/// Makes one archive of all inputs.
pub(super) fn make(request: &Archive, progress: &Progress, console: &mut Console) {
    let mut messages = Messages::default();
    let result = make_one(request, progress, &mut messages);
    messages.add(result);
    console.tell(&messages);
}

fn make_one(request: &Archive, progress: &Progress, messages: &mut Messages) -> Result<(), Problem> {
    let (archiving, outputs) = (&request.archiving, &request.outputs);
    let target = match archiving.output.as_os_str() == "-" {
        true => Target::Stdout,
        false => Target::File(archiving.output.clone()),
    };
    target.spare_named(&request.inputs)?;
    let existing = target.existing();
    let own = target.identity(&existing);
    let mut output = Output::open_over((target, existing), outputs, USUAL, outputs.force)?;
    let name = output.to_string();
    let problems = Problems::default();
    let archive = Pack::new(request.inputs.named(), archiving, own, &problems);
    let archive = progress.of(archive);
    let done = match &request.compression {
        None => copy(archive, &mut output),
        Some(compression) => {
            compress_with(archive, &mut output, compression, RunOptions::default()).map(drop)
        }
    };
    for problem in problems.into_inner().unwrap_or_else(PoisonError::into_inner) {
        messages.add(Err(problem.afterwards()));
    }
    done.map_err(|error| {
        if let Error::Write(error) = &error {
            interrupt::end_if_broken_pipe(error);
        }
        Problem::of_run("the archive", &name, &error)
    })?;
    output.commit(Attributes::Usual, outputs)
}

/// Extracts each input.
pub(super) fn take_apart(request: &Extract, talk: &Talk, progress: &Progress, console: &mut Console) {
    let folder = &request.folder;
    if !folder.is_dir() {
        return console.tell_problem(&Problem::error(folder.display(), "is not a folder: create it first"));
    }
    for input in Walk::new(&request.inputs) {
        let mut messages = Messages::default();
        let result = input.and_then(|input| take_one_apart(&input, (request, talk), progress, &mut messages));
        messages.add(result);
        console.tell(&messages);
    }
}

fn take_one_apart(
    input: &Input,
    (request, talk): (&Extract, &Talk),
    progress: &Progress,
    messages: &mut Messages,
) -> Result<(), Problem> {
    let name = &input.to_string();
    let cannot = |error: io::Error| Problem::of_file(name, "cannot be extracted", &error);
    let mut rest = progress.of(&input.file);
    let mut head = Vec::new();
    rest.by_ref().take(LOOK).read_to_end(&mut head).map_err(cannot)?;
    let is_plain = entries::begins(&head);
    let mut reader = Begun { head: io::Cursor::new(head), rest };
    let no_archive = |error| Err(Problem::error(name, format_args!("expected a tar archive: {error}")));
    if is_plain {
        return Unpack::new(request, FileId::of(&input.metadata), messages)
            .run(&mut reader)
            .or_else(no_archive);
    }
    let reader = ReaderBuilder::new().settings(request.decompression.clone()).build_seekable(reader);
    let reader = reader.map_err(|error| match error.downcast() {
        Ok(Error::Read(error)) | Err(error) => cannot(error),
        Ok(error) => Problem::of_run(name, "the folder", &error),
    })?;
    let mut contents = Contents { reader, error: None };
    let mut unpacked = Unpack::new(request, FileId::of(&input.metadata), messages).run(&mut contents);
    // Padding follows the end of the archive. The rest of the compressed file has to be verified too.
    if unpacked.is_ok() {
        unpacked = io::copy(&mut contents, &mut io::sink()).map(drop);
    }
    match (contents.error, unpacked) {
        // The archive may only seem wrong because its contents are missing.
        (Some(error), _) => Err(Problem::of_run(name, "the folder", &error)),
        (None, Err(error)) => no_archive(error),
        (None, Ok(())) => match talk.behaviour.severities.garbage.zip(contents.reader.garbage_at()) {
            Some((severity, at)) => Err(Problem::trailing_garbage(severity, name, at)),
            None => Ok(()),
        },
    }
}

/// An input of which the first bytes were read already.
struct Begun<'a> {
    head: io::Cursor<Vec<u8>>,
    rest: Metered<&'a Patient<File>>,
}

impl Read for Begun<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.head.read(buffer)? {
            0 => self.rest.read(buffer),
            len => Ok(len),
        }
    }
}

impl Seek for Begun<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let left = self.head.get_ref().len() as i64 - self.head.position() as i64;
        let place = self.rest.seek(match to {
            SeekFrom::Current(distance) => SeekFrom::Current(distance - left),
            to => to,
        })?;
        self.head = io::Cursor::default();
        Ok(place)
    }
}

/// The contents of a compressed archive, and the error of decompressing it.
struct Contents<R> {
    reader: Reader<R>,
    error: Option<Error>,
}

impl<R: Read> Read for Contents<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer).map_err(|error| match error.downcast() {
            Ok(error) => {
                self.error.get_or_insert(error);
                io::Error::other("the archive cannot be decompressed")
            }
            Err(error) => error,
        })
    }
}

/// Copies all of `reader` to `output`.
fn copy(mut reader: impl Read, output: &mut Output) -> Result<(), Error> {
    let mut buffer = vec![0; 128 << 10];
    loop {
        let len = match reader.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read.map_err(Error::Read)?,
        };
        if len == 0 {
            return Ok(());
        }
        output.write_all(&buffer[..len]).map_err(Error::Write)?;
    }
}

//! The actions of `--archive` and `--extract`: tar archives, compressed or not.
//!
//! No uncompressed archive is written to disk. [`pack`] is a reader that produces the archive from the files, and the
//! pipeline compresses what it reads. To extract, the pipeline decompresses into a pipe, and [`unpack`] creates files
//! from the other end.

mod entries;
mod extended;
mod header;
#[cfg(test)]
mod mutations;
mod names;
mod pack;
mod unpack;

use std::io::{self, Read, Seek, Write};
use std::sync::{Mutex, PoisonError};
use std::thread;

use abz::{Decompressed, Decompression, Error, RunOptions};

use self::pack::{Pack, Problems};
use self::unpack::Unpack;
use super::input::Input;
use super::messages::Messages;
use super::output::{Attributes, Output, PRIVATE, USUAL};
use super::request::{Archive, Extract, Talk};
use crate::command::input::walk::Walk;
use crate::command::messages::console::Console;
use crate::command::messages::problem::Problem;
use crate::command::messages::progress::Progress;
use crate::command::output::target::Target;
use crate::command::system::file_id::FileId;
use crate::command::system::interrupt;
use crate::command::system::temporary::Unnamed;

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
    let own = target.found();
    let mut output = Output::open_over(target, outputs, USUAL, outputs.force)?;
    let name = output.to_string();
    let problems = Problems::default();
    let archive = Pack::new(request.inputs.named(), archiving, own, &problems);
    let archive = progress.of(archive);
    let done = match &request.compression {
        None => copy(archive, &mut output),
        Some(compression) => compression.run_with(RunOptions::default(), archive, &mut output).map(drop),
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
    let start = input.position();
    let mut reader = progress.of(&input.file);
    let mut head = Vec::new();
    reader.by_ref().take(LOOK).read_to_end(&mut head).map_err(cannot)?;
    let is_plain = entries::begins(&head);
    let mut reader = io::Cursor::new(head).chain(reader);
    let no_archive = |error| Err(Problem::error(name, format_args!("expected a tar archive: {error}")));
    if is_plain {
        return Unpack::new(request, FileId::of(&input.metadata), messages)
            .run(&mut reader)
            .or_else(no_archive);
    }
    let (mut contents, into) = io::pipe().map_err(cannot)?;
    let decompression = &request.decompression;
    // Taken by the decompressing thread. If it cannot be started, this thread takes it.
    let work = Mutex::new(Some((reader, into)));
    let take = || work.lock().unwrap_or_else(PoisonError::into_inner).take().expect("it is taken once");
    let decompress = || {
        let (reader, mut into) = take();
        in_two_tries((decompression, reader), (input, start), &mut into)
    };
    let (unpacked, decompressed) = thread::scope(|scope| {
        let worker = thread::Builder::new().name("abz extract".into()).spawn_scoped(scope, decompress);
        let Ok(worker) = worker else {
            return one_after_the_other(
                (take().0, input, start),
                request,
                FileId::of(&input.metadata),
                messages,
            );
        };
        let unpacked = Unpack::new(request, FileId::of(&input.metadata), messages).run(&mut contents);
        // Padding follows the end of the archive. The rest of the compressed file has to be verified too.
        if unpacked.is_ok() {
            let _ = io::copy(&mut contents.by_ref(), &mut io::sink());
        }
        drop(contents);
        (unpacked, worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    match (decompressed, unpacked) {
        // Extraction stopped first, so the write error of the decompressor is only a consequence.
        (Err(Error::Write(_)), Err(error)) | (Ok(_), Err(error)) => no_archive(error),
        (Err(error), _) => Err(Problem::of_run(name, "the folder", &error)),
        (Ok(done), Ok(())) => match talk.behaviour.severities.garbage.zip(done.garbage_at) {
            Some((severity, at)) => Err(Problem::trailing_garbage(severity, name, at)),
            None => Ok(()),
        },
    }
}

/// Decompresses an archive to an unnamed file in the folder, and then extracts it, when no thread can be started to
/// do both at once.
fn one_after_the_other(
    (reader, input, start): (impl Read + Send, &Input, Option<u64>),
    request: &Extract,
    archive: FileId,
    messages: &mut Messages,
) -> (io::Result<()>, Result<Decompressed, Error>) {
    let plain = match Unnamed::make(&request.folder, PRIVATE) {
        Ok(plain) => plain,
        Err(error) => return (Ok(()), Err(Error::Write(error))),
    };
    let mut file = plain.file();
    let decompressed = in_two_tries((&request.decompression, reader), (input, start), &mut file);
    let unpacked = file.rewind().and_then(|()| Unpack::new(request, archive, messages).run(file));
    (unpacked, decompressed)
}

/// Decompresses `reader`, and a second time from `input` at `start` if the file has to be read twice.
fn in_two_tries(
    (decompression, reader): (&Decompression, impl Read + Send),
    (input, start): (&Input, Option<u64>),
    output: &mut (dyn Write + Send),
) -> Result<Decompressed, Error> {
    let again = |how: &Decompression, output: &mut (dyn Write + Send)| {
        let reader = input.again(start)?.map_err(Error::Read);
        Some(reader.and_then(|reader| how.run(reader, output)))
    };
    decompression.in_two_tries(output, |how, output| how.run(reader, output), again)
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

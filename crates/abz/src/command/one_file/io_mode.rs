//! The I/O modes of `--input-io` and `--output-io`: streams, or parts at offsets, with system calls or mapped memory.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use abz::program::{Reading, RunOptions, WriteAt, Writing, compress_io, decompress_at, facts, mapped};
use abz::{Compressed, Compression, Decompression, Error, ReadAt};

use crate::command::arguments::{InputMode, OutputMode};
use crate::command::input::Input;
use crate::command::messages::progress::Progress;
use crate::command::output::Output;
use crate::command::request::IoModes;
use crate::command::system::holes::solid;

/// The access to parts of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// By system calls (`pread`, `pwrite`).
    Calls,
    /// Through mapped memory.
    Mapping,
}

/// An input that is read in parts.
pub(crate) struct Source<'a> {
    file: &'a File,
    size: u64,
    by: By,
    progress: &'a Progress,
}

impl ReadAt for Source<'_> {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        let read = match self.by {
            By::Calls => self.file.read_exact_at(bytes, offset),
            By::Mapping => mapped::read_exact_at(self.file, bytes, offset),
        };
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                io::Error::new(error.kind(), "it became shorter while it was read")
            }
            _ => error,
        })?;
        self.progress.advance(bytes.len() as u64);
        Ok(())
    }
}

/// An output that is written in parts.
struct Sink<'a> {
    file: &'a File,
    is_sparse: bool,
    by: By,
}

impl Sink<'_> {
    fn write(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if self.by == By::Mapping && !bytes.is_empty() && allocate(self.file, offset, bytes.len() as u64)? {
            return mapped::write_all_at(self.file, bytes, offset);
        }
        self.file.write_all_at(bytes, offset)
    }
}

impl WriteAt for Sink<'_> {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if !self.is_sparse {
            return self.write(bytes, offset);
        }
        solid(offset, bytes).try_for_each(|part| self.write(&bytes[part.clone()], offset + part.start as u64))
    }
}

/// Allocates disk space, which has to exist before mapped memory is written. Returns `false` if the file system does
/// not support this.
#[cfg(all(target_os = "linux", not(portable)))]
fn allocate(file: &File, offset: u64, len: u64) -> io::Result<bool> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;
    match fallocate(file, FallocateFlags::empty(), offset, len) {
        Ok(()) => Ok(true),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(all(target_os = "linux", not(portable))))]
fn allocate(_: &File, _: u64, _: u64) -> io::Result<bool> {
    Ok(false)
}

/// Returns a reader of parts of `input`, if it can be read in parts.
pub(crate) fn source<'a>(input: &'a Input, mode: InputMode, progress: &'a Progress) -> Option<Source<'a>> {
    let by = match mode {
        InputMode::Stream => return None,
        InputMode::Auto | InputMode::Pread => By::Calls,
        InputMode::Mmap => By::Mapping,
    };
    // The parts of standard input would have to begin at its position.
    let size = input.is_file().then(|| input.len()).flatten()?;
    Some(Source { file: &input.file, size, by, progress })
}

/// Returns a writer of parts of `output`, if it can be written in parts.
fn sink(output: &Output, mode: OutputMode) -> Option<Sink<'_>> {
    let by = match mode {
        OutputMode::Stream => return None,
        OutputMode::Auto | OutputMode::Pwrite => By::Calls,
        OutputMode::Mmap => By::Mapping,
    };
    let (file, is_sparse) = output.parts()?;
    Some(Sink { file, is_sparse, by })
}

/// Compresses with parts at offsets, if requested. Returns `None`, having done nothing, if not.
pub(crate) fn compress(
    compression: &Compression,
    run_options: RunOptions<'_>,
    (input, output): (&Input, &mut Output),
    io_modes: IoModes,
    progress: &Progress,
) -> Option<Result<Compressed, Error>> {
    let facts = facts(compression.format);
    // Compression is bound by the processor, so another mode than streams is used only if requested.
    let source = source(input, io_modes.input, progress)
        .filter(|_| facts.blocks_are_read_at && io_modes.input != InputMode::Auto);
    let can_write = facts.is_written_at && io_modes.output != OutputMode::Auto;
    if source.is_none() && (!can_write || sink(output, io_modes.output).is_none()) {
        return None;
    }
    let mut reader = &input.file;
    let reading = match &source {
        Some(source) => Reading::Positional(source),
        None => Reading::Stream(&mut reader),
    };
    let done = match sink(output, io_modes.output).filter(|_| can_write) {
        Some(sink) => compress_io(reading, Writing::Positional(&sink), compression, run_options),
        None => compress_io(reading, Writing::Stream(output), compression, run_options),
    };
    Some(done)
}

/// Decompresses a file that records where its parts are, with parts at offsets. Returns `None` if that is not
/// possible or the file is damaged; the output is then empty again.
pub(crate) fn decompress(
    decompression: &Decompression,
    run_options: RunOptions<'_>,
    (input, output): (&Input, &mut Output),
    io_modes: IoModes,
    progress: &Progress,
) -> Result<Option<Compressed>, Error> {
    if decompression.workers == 1 || !input.format().is_some_and(|format| facts(format).is_read_at) {
        return Ok(None);
    }
    let (Some(source), Some(sink)) = (source(input, io_modes.input, progress), sink(output, io_modes.output))
    else {
        return Ok(None);
    };
    let before = progress.position();
    match decompress_at(&source, &sink, decompression, run_options)? {
        Some(done) => {
            // This includes a hole at the end.
            sink.file.set_len(done.written).map_err(Error::Write)?;
            Ok(Some(Compressed { read: done.written, written: done.read }))
        }
        None => {
            progress.set_back(before);
            sink.file.set_len(0).map_err(Error::Write)?;
            Ok(None)
        }
    }
}

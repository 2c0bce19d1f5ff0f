//! How inputs are read and outputs written: in order, by one thread at a time, or in parts, by all.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use abz::{
    Compressed, Compression, Conduct, Decompression, Error, Format, ReadAt, Reading, WriteAt, Writing, mapped,
};

use super::arguments::{InputWay, OutputWay};
use super::holes::solid;
use super::input::Input;
use super::output::Output;
use super::progress::Progress;
use super::request::Ways;

/// How the parts of a file are moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// By calls of the system.
    Calls,
    /// Through memory.
    Mapping,
}

/// An input that is read in parts.
pub(super) struct Source<'a> {
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

/// Makes sure of room on the disk, without which mapped memory must not be touched. `false` where the file system
/// cannot do that.
#[cfg(target_os = "linux")]
fn allocate(file: &File, offset: u64, len: u64) -> io::Result<bool> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;
    match fallocate(file, FallocateFlags::empty(), offset, len) {
        Ok(()) => Ok(true),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn allocate(_: &File, _: u64, _: u64) -> io::Result<bool> {
    Ok(false)
}

/// How `input` may be read in parts.
pub(super) fn source<'a>(input: &'a Input, way: InputWay, progress: &'a Progress) -> Option<Source<'a>> {
    let by = match way {
        InputWay::Stream => return None,
        InputWay::Auto | InputWay::Pread => By::Calls,
        InputWay::Mmap => By::Mapping,
    };
    // The parts of standard input would have to begin where it stands.
    let size = input.is_file().then(|| input.len()).flatten()?;
    Some(Source { file: &input.file, size, by, progress })
}

/// How `output` may be written in parts.
fn sink(output: &Output, way: OutputWay) -> Option<Sink<'_>> {
    let by = match way {
        OutputWay::Stream => return None,
        OutputWay::Auto | OutputWay::Pwrite => By::Calls,
        OutputWay::Mmap => By::Mapping,
    };
    let (file, is_sparse) = output.parts()?;
    Some(Sink { file, is_sparse, by })
}

/// Compresses in parts, if that is asked for. `None` if not: nothing was done.
pub(super) fn compress(
    compression: &Compression,
    conduct: Conduct<'_>,
    (input, output): (&Input, &mut Output),
    ways: Ways,
    progress: &Progress,
) -> Option<Result<Compressed, Error>> {
    // Compression waits for the processor and hardly ever for a file, so another way is taken only where it is asked for.
    let source = source(input, ways.input, progress)
        .filter(|_| compression.can_read_at() && ways.input != InputWay::Auto);
    let can_write = compression.can_write_at() && ways.output != OutputWay::Auto;
    if source.is_none() && (!can_write || sink(output, ways.output).is_none()) {
        return None;
    }
    let mut reader = &input.file;
    let reading = match &source {
        Some(source) => Reading::Places(source),
        None => Reading::Stream(&mut reader),
    };
    let done = match sink(output, ways.output).filter(|_| can_write) {
        Some(sink) => compression.conduct_by(conduct, reading, Writing::Places(&sink)),
        None => compression.conduct_by(conduct, reading, Writing::Stream(output)),
    };
    Some(done)
}

/// Decompresses in parts a file that tells where they lie, if that is asked for, or if it pays. `None` if it does not,
/// or something is wrong with it: the output is empty again.
pub(super) fn decompress(
    decompression: &Decompression,
    conduct: Conduct<'_>,
    (input, output): (&Input, &mut Output),
    ways: Ways,
    progress: &Progress,
) -> Result<Option<Compressed>, Error> {
    if decompression.workers == 1 || !input.format().is_some_and(Format::is_read_at) {
        return Ok(None);
    }
    let (Some(source), Some(sink)) = (source(input, ways.input, progress), sink(output, ways.output)) else {
        return Ok(None);
    };
    let before = progress.position();
    match decompression.conduct_at(conduct, &source, &sink)? {
        Some(done) => {
            // What is left out at its end counts too.
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

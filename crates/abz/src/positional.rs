//! Input and output at given offsets: all workers read and write parts of a file at once.

#[cfg(unix)]
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
#[cfg(unix)]
use std::os::unix::fs::FileExt;

/// An input of known size that any thread may read at any offset, at any time.
pub trait ReadAt: Sync {
    /// The number of bytes to read. Bytes past it are ignored.
    fn size(&self) -> u64;

    /// Fills `bytes` with the bytes at `offset`.
    ///
    /// # Errors
    ///
    /// If they cannot be read, or the file has become shorter.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()>;
}

/// An output that any thread may write at any offset, at any time.
pub trait WriteAt: Sync {
    /// Writes `bytes` at `offset`, which may lie before, at or past the end of the bytes written so far.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
}

/// How an input is read.
#[allow(missing_debug_implementations)] // the inner types need not implement it
pub enum Reading<'a> {
    /// A stream, used by one thread at a time.
    Stream(&'a mut (dyn Read + Send)),
    /// Offsets, used by all workers at the same time.
    Positional(&'a dyn ReadAt),
}

/// How an output is written.
#[allow(missing_debug_implementations)] // the inner types need not implement it
pub enum Writing<'a> {
    /// A stream, used by one thread at a time.
    Stream(&'a mut (dyn Write + Send)),
    /// Offsets, used by all workers at the same time.
    Positional(&'a dyn WriteAt),
}

impl<T: ReadAt + ?Sized> ReadAt for &T {
    fn size(&self) -> u64 {
        (**self).size()
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        (**self).read_at(bytes, offset)
    }
}

impl ReadAt for Vec<u8> {
    fn size(&self) -> u64 {
        self.as_slice().size()
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.as_slice().read_at(bytes, offset)
    }
}

/// The size of a file is 0 if it cannot be found out.
#[cfg(unix)]
impl ReadAt for File {
    fn size(&self) -> u64 {
        self.metadata().map_or(0, |metadata| metadata.len())
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_exact_at(bytes, offset)
    }
}

impl ReadAt for [u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).ok();
        let range = start.and_then(|start| Some(start..start.checked_add(bytes.len())?));
        bytes.copy_from_slice(range.and_then(|range| self.get(range)).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// Reads an input in order, from a position on.
pub(crate) struct Along<'a> {
    source: &'a dyn ReadAt,
    position: u64,
}

impl<'a> Along<'a> {
    /// Reads from the start.
    pub(crate) fn new(source: &'a dyn ReadAt) -> Self {
        Along::at(source, 0)
    }

    pub(crate) fn at(source: &'a dyn ReadAt, position: u64) -> Self {
        Along { source, position }
    }
}

impl Read for Along<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.source.size().saturating_sub(self.position);
        let len = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        self.source.read_at(&mut bytes[..len], self.position)?;
        self.position += len as u64;
        Ok(len)
    }
}

impl Seek for Along<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(distance) => self.source.size().checked_add_signed(distance),
            SeekFrom::Current(distance) => self.position.checked_add_signed(distance),
        };
        self.position = target.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

impl<'a> Reading<'a> {
    /// The same input, for a shorter time.
    pub(crate) fn shortened<'b>(self) -> Reading<'b>
    where
        'a: 'b,
    {
        match self {
            Reading::Stream(input) => Reading::Stream(input),
            Reading::Positional(source) => Reading::Positional(source),
        }
    }

    /// Returns the input as a stream.
    pub(crate) fn in_order(self) -> Box<dyn Read + Send + 'a> {
        match self {
            Reading::Stream(input) => Box::new(input),
            Reading::Positional(source) => Box::new(Along::new(source)),
        }
    }
}

//! A reader or writer that counts bytes, and a writer that leaves out those that were counted.

use std::io::{self, Read, Write};

/// Counts the bytes that are read from or written to `inner`.
#[derive(Debug)]
pub(crate) struct Counted<T> {
    inner: T,
    pub(crate) bytes: u64,
}

impl<T> Counted<T> {
    pub(crate) fn new(inner: T) -> Self {
        Counted { inner, bytes: 0 }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(buffer)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// A writer that leaves out the first `left` bytes, because an earlier try has written them.
pub(crate) struct Rest<W> {
    pub(crate) left: u64,
    pub(crate) output: W,
}

impl<W: Write> Write for Rest<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let known = self.left.min(data.len() as u64);
        self.output.write_all(&data[known as usize..])?;
        self.left -= known;
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

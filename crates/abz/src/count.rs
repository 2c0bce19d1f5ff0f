//! A reader and writer adapter that counts bytes.

use std::io::{self, Read, Write};

/// Counts the bytes read from, or written to, `inner`.
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

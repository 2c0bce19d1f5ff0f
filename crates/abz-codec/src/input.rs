//! A buffered reader for a scanner on the same thread.

use std::io::{self, Read};

/// The size of the buffer in bytes.
const LEN: usize = 128 * 1024;

/// A reader, and a buffer of the bytes that the scanner has not taken yet.
pub(crate) struct Input<R> {
    reader: R,
    /// The bytes at `begin..end` have not been taken yet.
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    is_over: bool,
}

impl<R: Read> Input<R> {
    /// Creates an input that has not read anything. The first read allocates the buffer.
    pub(crate) fn new(reader: R) -> Self {
        Input { reader, buffer: Vec::new(), begin: 0, end: 0, is_over: false }
    }

    /// Returns true if the reader has reached its end.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Calls `scan` with the bytes in the buffer. It takes bytes by moving the start of the slice.
    pub(crate) fn scan<T>(&mut self, scan: impl FnOnce(&mut &[u8]) -> T) -> T {
        let mut input = &self.buffer[self.begin..self.end];
        let found = scan(&mut input);
        self.begin = self.end - input.len();
        found
    }

    /// Fills the buffer again, when all its bytes have been taken.
    ///
    /// # Errors
    ///
    /// The error of the reader. A read that was interrupted is repeated.
    pub(crate) fn read(&mut self) -> io::Result<()> {
        self.buffer.resize(LEN, 0);
        let read = loop {
            match self.reader.read(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        (self.begin, self.end) = (0, read);
        self.is_over = read == 0;
        Ok(())
    }
}

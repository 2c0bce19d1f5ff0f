//! What a reader gives, on its way to a scanner on the same thread.

use std::io::{self, Read};

/// How much is read at once, in bytes.
const LEN: usize = 128 * 1024;

/// A reader, and what it gave that was not yet taken.
pub(crate) struct Input<R> {
    reader: R,
    /// What was not yet taken lies in `buffer` at `begin..end`.
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    is_over: bool,
}

impl<R: Read> Input<R> {
    /// Nothing of what `reader` gives. The buffer is made when it is read.
    pub(crate) fn new(reader: R) -> Self {
        Input { reader, buffer: Vec::new(), begin: 0, end: 0, is_over: false }
    }

    /// True if the reader has given all.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Lets `scan` take from the front of what is there.
    pub(crate) fn scan<T>(&mut self, scan: impl FnOnce(&mut &[u8]) -> T) -> T {
        let mut input = &self.buffer[self.begin..self.end];
        let found = scan(&mut input);
        self.begin = self.end - input.len();
        found
    }

    /// Reads on, when everything was taken.
    ///
    /// # Errors
    ///
    /// That of the reader, but for an interruption.
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

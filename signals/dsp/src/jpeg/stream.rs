//! The bytes of a file, with their offsets.

use crate::{Error, Input, Result};

/// The number of bytes that are read at once.
const BUFFER_BYTES: usize = 64 << 10;

/// A file that is read byte after byte.
#[derive(Debug)]
pub(super) struct Stream<'a> {
    input: Input<'a>,
    buffer: Vec<u8>,
    at: usize,
    /// The offset in the file of the first byte of `buffer`.
    first: u64,
    is_over: bool,
}

impl<'a> Stream<'a> {
    pub(super) fn new(input: Input<'a>) -> Self {
        Self { first: input.offset(), input, buffer: Vec::new(), at: 0, is_over: false }
    }

    /// Returns the offset of the next byte.
    pub(super) fn offset(&self) -> u64 {
        self.first + self.at as u64
    }

    /// Creates an error at the next byte.
    pub(super) fn error(&self, what: impl Into<String>) -> Error {
        self.input.error_at(self.offset(), what)
    }

    /// Creates an error at an offset.
    pub(super) fn error_at(&self, offset: u64, what: impl Into<String>) -> Error {
        self.input.error_at(offset, what)
    }

    /// Returns the next bytes: at least `count` of them, or fewer at the end of the file.
    pub(super) fn look(&mut self, count: usize) -> Result<&[u8]> {
        while self.buffer.len() - self.at < count && !self.is_over {
            self.buffer.drain(..self.at);
            self.first += self.at as u64;
            self.at = 0;
            let old = self.buffer.len();
            self.buffer.resize(old + BUFFER_BYTES, 0);
            let read = self.input.fill(&mut self.buffer[old..])?;
            self.buffer.truncate(old + read);
            self.is_over = read < BUFFER_BYTES;
        }
        Ok(&self.buffer[self.at..])
    }

    /// Skips `count` bytes that were looked at.
    pub(super) fn skip(&mut self, count: usize) {
        self.at += count;
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        match self.look(1)?.first() {
            Some(&byte) => {
                self.skip(1);
                Ok(byte)
            }
            None => Err(self.ended()),
        }
    }

    /// Creates the error for a file that ends here.
    pub(super) fn ended(&self) -> Error {
        self.error("the file ends within the picture; get a whole copy of it")
    }

    /// Takes a number of two bytes, the first being the higher.
    pub(super) fn number(&mut self) -> Result<u16> {
        Ok(u16::from_be_bytes([self.byte()?, self.byte()?]))
    }
}

//! Reading of a file in pieces.

use std::io::{self, Read};

use anabranch::{Recycled, Recycler};

use crate::error::Error;
use crate::run_options::{Advance, Pauses};

/// The number of bytes read at once.
const INPUT: usize = 128 * 1024;

/// A piece of the file, or the mark of its end or of a pause.
pub(crate) struct Input {
    buffer: Recycled<Vec<u8>>,
    /// The bytes at `begin..end` have not been consumed by a scanner.
    begin: usize,
    end: usize,
    /// Marks the end of the file.
    is_end: bool,
    /// Marks a pause of the file.
    is_pause: bool,
    /// The offset of the piece in the file.
    place: u64,
}

impl Input {
    /// Returns `true` if this marks the end of the file.
    pub(crate) fn is_end(&self) -> bool {
        self.is_end
    }

    /// Returns `true` if this marks a pause: the file has no more bytes at the moment.
    pub(crate) fn is_pause(&self) -> bool {
        self.is_pause
    }

    /// Returns the offset of the piece in the file.
    pub(crate) fn place(&self) -> u64 {
        self.place
    }

    /// Returns all bytes of the piece, consumed or not.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.end]
    }

    /// Returns the number of bytes that no scanner has consumed.
    pub(crate) fn left(&self) -> usize {
        self.end - self.begin
    }

    /// Passes the remaining bytes to `scan`, which consumes bytes from their front.
    pub(crate) fn scan<T>(&mut self, scan: impl FnOnce(&mut &[u8]) -> T) -> T {
        let mut rest = &self.buffer[self.begin..self.end];
        let found = scan(&mut rest);
        self.begin = self.end - rest.len();
        found
    }
}

/// Reads a file in pieces. The last item marks the end of the file.
pub(crate) struct Inputs<'a, R> {
    reader: R,
    buffers: Recycler<Vec<u8>>,
    ended: bool,
    pauses: Pauses<'a>,
    /// No bytes have been read since the last pause, or at all.
    has_paused: bool,
    place: u64,
}

impl<'a, R: Read> Inputs<'a, R> {
    /// Creates a reader that keeps at most `keep` idle buffers.
    pub(crate) fn new(reader: R, keep: usize) -> Self {
        Inputs::of_size(reader, keep, INPUT)
    }

    /// As [`new`](Inputs::new), with pieces of up to `size` bytes.
    pub(crate) fn of_size(reader: R, keep: usize, size: usize) -> Self {
        Inputs {
            reader,
            buffers: Recycler::new(keep, move || vec![0; size]),
            ended: false,
            pauses: Pauses::default(),
            has_paused: true,
            place: 0,
        }
    }

    /// Yields a mark whenever the file pauses.
    pub(crate) fn telling(self, pauses: Pauses<'a>) -> Self {
        Inputs { pauses, ..self }
    }
}

impl<R: Read> Iterator for Inputs<'_, R> {
    type Item = Result<Input, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let mut buffer = self.buffers.take();
        if !self.has_paused && self.pauses.is_one() {
            self.has_paused = true;
            let place = self.place;
            return Some(Ok(Input { buffer, begin: 0, end: 0, is_end: false, is_pause: true, place }));
        }
        loop {
            match self.reader.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Some(Err(Error::Read(error))),
                Ok(len) => {
                    self.ended = len == 0;
                    let place = self.place;
                    self.place += len as u64;
                    self.has_paused = false;
                    let is_end = self.ended;
                    return Some(Ok(Input { buffer, begin: 0, end: len, is_end, is_pause: false, place }));
                }
            }
        }
    }
}

/// A reader that reports bytes as done when they are read.
pub(crate) struct Telling<'a, R> {
    reader: R,
    advance: Advance<'a>,
}

impl<'a, R> Telling<'a, R> {
    /// Creates a reader that reports to `advance`.
    pub(crate) fn new(reader: R, advance: Advance<'a>) -> Self {
        Telling { reader, advance }
    }
}

impl<R: Read> Read for Telling<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.reader.read(buffer)?;
        self.advance.by(len);
        Ok(len)
    }
}

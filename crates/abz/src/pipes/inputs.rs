//! A file, read piece by piece.

use std::io::{self, Read};

use anabranch::{Recycled, Recycler};

use crate::conduct::{Advance, Pauses};
use crate::error::Error;

/// How much is read at once, in bytes.
const INPUT: usize = 128 * 1024;

/// What was read at once.
pub(crate) struct Input {
    buffer: Recycled<Vec<u8>>,
    /// What a scanner has not yet taken lies at `begin..end`.
    begin: usize,
    end: usize,
    /// It stands for the end of the file.
    is_end: bool,
    /// It stands for a pause.
    is_pause: bool,
    /// Where it begins in the file.
    place: u64,
}

impl Input {
    /// True if nothing was read because the file ends there.
    pub(crate) fn is_end(&self) -> bool {
        self.is_end
    }

    /// True if nothing was read because the file has no more at the moment.
    pub(crate) fn is_pause(&self) -> bool {
        self.is_pause
    }

    /// Where it begins in the file.
    pub(crate) fn place(&self) -> u64 {
        self.place
    }

    /// All of it, what scanners have taken too.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.end]
    }

    /// How many bytes no scanner has taken yet.
    pub(crate) fn left(&self) -> usize {
        self.end - self.begin
    }

    /// Gives what is left to a scanner, which takes what it has done with from the front.
    pub(crate) fn scan<T>(&mut self, scan: impl FnOnce(&mut &[u8]) -> T) -> T {
        let mut rest = &self.buffer[self.begin..self.end];
        let found = scan(&mut rest);
        self.begin = self.end - rest.len();
        found
    }
}

/// Reads a file piece by piece. The last piece, of no bytes, says that there are no more.
pub(crate) struct Inputs<'a, R> {
    reader: R,
    buffers: Recycler<Vec<u8>>,
    ended: bool,
    pauses: Pauses<'a>,
    /// Nothing was read since the last pause, or ever.
    has_paused: bool,
    place: u64,
}

impl<'a, R: Read> Inputs<'a, R> {
    /// Reads into buffers of which at most `keep` idle ones are kept.
    pub(crate) fn new(reader: R, keep: usize) -> Self {
        Inputs::of_size(reader, keep, INPUT)
    }

    /// As [`new`](Inputs::new), and so many bytes at once, if there are so many.
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

    /// Gives a piece of no bytes whenever the file pauses.
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

/// A reader of which what is read is as good as done with.
pub(crate) struct Telling<'a, R> {
    reader: R,
    advance: Advance<'a>,
}

impl<'a, R> Telling<'a, R> {
    /// Tells what is read by `advance`.
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

//! An input, read piece by piece.

use std::any::Any;
use std::io::{self, Read};

use anabranch::{Recycled, Recycler};

use super::Item;
use crate::error::Error;
use crate::run_options::{Advance, Pauses};

/// A piece of input, or a mark of its end or of a pause.
pub(crate) struct Input {
    buffer: Recycled<Vec<u8>>,
    /// `begin..end` are the bytes that no scanner has taken yet.
    begin: usize,
    end: usize,
    /// The mark of the end of the file.
    is_end: bool,
    /// The mark of a pause.
    is_pause: bool,
    /// The offset in the file of its first byte.
    place: u64,
    /// An `Option` of a guess at what begins in it, if guesses were made.
    guess: Option<Item>,
}

impl Input {
    /// Reads the next piece of a file, from the offset `place` on, into `buffer`, whose size determines how many bytes are
    /// read at most. It marks the end of the file if there are no more bytes.
    pub(crate) fn read(
        reader: &mut (impl Read + ?Sized),
        mut buffer: Recycled<Vec<u8>>,
        place: u64,
    ) -> Result<Input, Error> {
        loop {
            match reader.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::Read(error)),
                Ok(end) => {
                    let is_end = end == 0;
                    return Ok(Input { buffer, begin: 0, end, is_end, is_pause: false, place, guess: None });
                }
            }
        }
    }

    /// The same piece, with the guess that `guess` makes.
    pub(crate) fn guessed(self, guess: impl FnOnce(&[u8]) -> Item) -> Input {
        let guess = Some(guess(self.bytes()));
        Input { guess, ..self }
    }

    /// Returns true if this marks the end of the file.
    pub(crate) fn is_end(&self) -> bool {
        self.is_end
    }

    /// Returns true if this marks a pause of the file.
    pub(crate) fn is_pause(&self) -> bool {
        self.is_pause
    }

    /// All bytes, including those that scanners have taken.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.end]
    }

    /// The number of bytes that no scanner has taken yet.
    pub(crate) fn left(&self) -> usize {
        self.end - self.begin
    }

    /// Passes the remaining bytes to `scan`, which removes from the front the bytes that it has taken.
    pub(crate) fn scan<T>(&mut self, scan: impl FnOnce(&mut &[u8]) -> T) -> T {
        self.scan_with::<(), T>(|rest, _| scan(rest))
    }

    /// As [`scan`](Self::scan), and passes the guess and the offset in the file of the first byte, too.
    pub(crate) fn scan_with<G: Any, T>(
        &mut self,
        scan: impl FnOnce(&mut &[u8], (&mut Option<G>, u64)) -> T,
    ) -> T {
        let mut rest = &self.buffer[self.begin..self.end];
        let guess = self.guess.as_mut().and_then(|guess| guess.downcast_mut());
        let found = scan(&mut rest, (guess.unwrap_or(&mut None), self.place));
        self.begin = self.end - rest.len();
        found
    }
}

/// Reads a file piece by piece. The last piece is empty and marks the end.
pub(crate) struct Inputs<'a, R> {
    reader: R,
    buffers: Recycler<Vec<u8>>,
    ended: bool,
    pauses: Pauses<'a>,
    /// Nothing has been read since the last pause or since the start.
    has_paused: bool,
    place: u64,
}

impl<'a, R: Read> Inputs<'a, R> {
    /// Reads into recycled buffers, which determine how many bytes are read at once.
    pub(crate) fn new(reader: R, buffers: Recycler<Vec<u8>>) -> Self {
        Inputs { reader, buffers, ended: false, pauses: Pauses::default(), has_paused: true, place: 0 }
    }

    /// Also gives an empty piece that marks a pause, whenever the file pauses.
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
        let (buffer, place) = (self.buffers.take(), self.place);
        if !self.has_paused && self.pauses.is_one() {
            self.has_paused = true;
            let (is_end, is_pause) = (false, true);
            return Some(Ok(Input { buffer, begin: 0, end: 0, is_end, is_pause, place, guess: None }));
        }
        let read = Input::read(&mut self.reader, buffer, place);
        if let Ok(input) = &read {
            self.ended = input.is_end;
            self.place += input.end as u64;
            self.has_paused = false;
        }
        Some(read)
    }
}

/// A reader that reports bytes as progress as soon as they are read.
pub(crate) struct Telling<'a, R> {
    reader: R,
    advance: Advance<'a>,
}

impl<'a, R> Telling<'a, R> {
    /// Reports the bytes that are read to `advance`.
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

//! Splitting of a file into whole members, if they state their size, and into verified data, if not.

use std::fmt;
use std::io::Read;
use std::mem;

use super::error::DecodeError;
use super::member::Member;
use super::scan::{Scanned, Scanner};
use super::sums::Verifier;
use crate::input::Input;
use crate::parts::CHUNK;

/// A piece of a file, from a [`Splitter`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A whole member, still to be decoded. Any thread can do that without the other members.
    Member(Member),
    /// Decoded data, at least one byte, because its member did not state its size. An error in the member may be found
    /// only after some of its data was given out.
    Data(Vec<u8>),
}

/// An iterator that splits a gzip file into [`Piece`]s, in order: a reader, a [`Scanner`] and a [`Verifier`]. Whole
/// members are left to a [`Decoder`](super::Decoder).
///
/// It ends after its first error. Zeros after the last member are padding. Other bytes there are
/// [`Fault::TrailingGarbage`](super::Fault::TrailingGarbage), which comes after all the data.
pub struct Splitter<R> {
    input: Input<R>,
    scanner: Scanner,
    verifier: Verifier,
    /// The buffer for decoded data.
    data: Vec<u8>,
    ended: bool,
}

impl<R: Read> Splitter<R> {
    /// Creates a splitter of the file that `reader` gives. It has its own buffer.
    pub fn new(reader: R) -> Self {
        Splitter::with(Scanner::new(), reader)
    }

    /// Creates a splitter that continues with `scanner`, from the bytes that `reader` gives.
    pub fn with(scanner: Scanner, reader: R) -> Self {
        Splitter {
            input: Input::new(reader),
            scanner,
            verifier: Verifier::new(),
            data: Vec::new(),
            ended: false,
        }
    }

    /// See [`Scanner::mistaken`].
    pub fn mistaken(&self) -> Option<u64> {
        self.scanner.mistaken()
    }

    /// See [`Scanner::is_between`].
    pub(super) fn is_between(&self) -> bool {
        self.scanner.is_between()
    }

    /// Returns the next piece; `None` at the end of the file.
    fn next_piece(&mut self) -> Result<Option<Piece>, DecodeError> {
        loop {
            let found = match self.input.is_over() {
                true => self.scanner.finish(&mut self.data),
                false => self.input.scan(|input| self.scanner.next(input, &mut self.data)),
            };
            match found? {
                Some(Scanned::Member(member)) => return Ok(Some(Piece::Member(member))),
                Some(Scanned::Data(stretch)) => {
                    self.verifier.verify(&stretch, &self.data)?;
                    match self.data.len() {
                        0 => {}
                        // Copying much data costs more than a new buffer.
                        len if len > CHUNK / 4 => return Ok(Some(Piece::Data(mem::take(&mut self.data)))),
                        _ => return Ok(Some(Piece::Data(self.data.clone()))),
                    }
                }
                None if self.input.is_over() => return Ok(None),
                None => self.input.read().map_err(|error| self.scanner.failed(error))?,
            }
        }
    }
}

impl<R: Read> Iterator for Splitter<R> {
    type Item = Result<Piece, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.next_piece();
        self.ended = !matches!(next, Ok(Some(_)));
        next.transpose()
    }
}

impl<R> fmt::Debug for Splitter<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Splitter").field("scanner", &self.scanner).finish_non_exhaustive()
    }
}

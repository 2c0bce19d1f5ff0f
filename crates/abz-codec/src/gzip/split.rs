//! A file into whole members where it says how long they are, into verified data where it does not.

use std::fmt;
use std::io::{self, Read};
use std::mem;

use super::error::DecodeError;
use super::member::Member;
use super::scan::{CHUNK, Scanned, Scanner};
use super::sums::Verifier;

/// How much is asked of the reader at once, in bytes.
const CAPACITY: usize = 128 * 1024;

/// The next piece of a file, from a [`Splitter`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A whole member to be decoded, which any thread can do without the others.
    Member(Member),
    /// Data that is decoded already, not empty, because its member did not say how long it is. What is wrong
    /// with its member may be known only after some of its data was given out.
    Data(Vec<u8>),
}

/// Splits a gzip file into [`Piece`]s, in order: a [`Scanner`] with a reader before it and a [`Verifier`] behind.
/// Whole members are left to a [`Decoder`](super::Decoder).
///
/// It is an iterator that ends after its first error. Padding with zeros after the last member ends a file as its
/// end does; anything else there is [`Fault::TrailingGarbage`](super::Fault::TrailingGarbage), which comes after all
/// the data.
pub struct Splitter<R> {
    reader: R,
    scanner: Scanner,
    verifier: Verifier,
    /// What was read and not yet scanned lies in `buffer` at `begin..end`.
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    /// For decoded data.
    data: Vec<u8>,
    /// The reader has given all.
    is_over: bool,
    ended: bool,
}

impl<R: Read> Splitter<R> {
    /// Splits what `reader` gives. It has a buffer of its own.
    pub fn new(reader: R) -> Self {
        Splitter::with(Scanner::new(), reader)
    }

    /// Splits what `reader` gives from where `scanner` is.
    pub(crate) fn with(scanner: Scanner, reader: R) -> Self {
        Splitter {
            reader,
            scanner,
            verifier: Verifier::new(),
            buffer: Vec::new(),
            begin: 0,
            end: 0,
            data: Vec::new(),
            is_over: false,
            ended: false,
        }
    }

    /// As [`Scanner::mistaken`].
    pub fn mistaken(&self) -> Option<u64> {
        self.scanner.mistaken()
    }

    /// As [`Scanner::is_between`].
    pub(super) fn is_between(&self) -> bool {
        self.scanner.is_between()
    }

    /// The next piece; `None` at the end of the file.
    fn next_piece(&mut self) -> Result<Option<Piece>, DecodeError> {
        loop {
            let found = match self.is_over {
                true => self.scanner.finish(&mut self.data)?,
                false => {
                    let mut input = &self.buffer[self.begin..self.end];
                    let found = self.scanner.next(&mut input, &mut self.data)?;
                    self.begin = self.end - input.len();
                    found
                }
            };
            match found {
                Some(Scanned::Member(member)) => return Ok(Some(Piece::Member(member))),
                Some(Scanned::Data(stretch)) => {
                    self.verifier.verify(&stretch, &self.data)?;
                    match self.data.len() {
                        0 => {}
                        // A long copy costs more than a new buffer.
                        len if len > CHUNK / 4 => return Ok(Some(Piece::Data(mem::take(&mut self.data)))),
                        _ => return Ok(Some(Piece::Data(self.data.clone()))),
                    }
                }
                None if self.is_over => return Ok(None),
                None => self.read()?,
            }
        }
    }

    /// Reads on.
    fn read(&mut self) -> Result<(), DecodeError> {
        self.buffer.resize(CAPACITY, 0);
        let read = loop {
            match self.reader.read(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.scanner.failed(error)),
                Ok(read) => break read,
            }
        };
        (self.begin, self.end) = (0, read);
        self.is_over = read == 0;
        Ok(())
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

//! Reading of a bzip2 file on one thread.

use std::fmt;
use std::io::{self, Read, Write};

use super::{Assembler, Contents, Decoder, Scanner, Segment};
use crate::input::Input;

/// A reader of the blocks of any bzip2 file: a [`Scanner`], a [`Decoder`] and an [`Assembler`] on the caller's thread.
///
/// It is an iterator over the contents of the blocks, and ends after its first error. That is the error of the reader,
/// or a [`DecodeError`](super::DecodeError) inside an [`io::Error`] (`downcast` returns it).
pub struct Reader<R> {
    input: Input<R>,
    scanner: Scanner,
    decoder: Decoder,
    assembler: Assembler,
    state: State,
    /// An allocation for segments.
    spare: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Reading,
    /// All of the file was read, and blocks may be left in the assembler.
    Finishing,
    Ended,
}

impl<R: Read> Reader<R> {
    /// Creates a reader of the bzip2 file that `reader` gives. It has its own buffer.
    pub fn new(reader: R) -> Self {
        Reader {
            input: Input::new(reader),
            scanner: Scanner::new(),
            decoder: Decoder::new(),
            assembler: Assembler::new(),
            state: State::Reading,
            spare: Vec::new(),
        }
    }

    fn next_contents(&mut self) -> io::Result<Option<Contents>> {
        while self.state == State::Reading {
            let Some(segment) = self.next_segment()? else {
                self.state = State::Finishing;
                break;
            };
            let decoded = self.decoder.decode_into(segment, Vec::new());
            if let Some(contents) = self.assembler.next(decoded)? {
                return Ok(Some(contents));
            }
        }
        Ok(self.assembler.finish()?)
    }

    fn next_segment(&mut self) -> io::Result<Option<Segment>> {
        loop {
            let segment = self.input.scan(|input| self.scanner.next(input, &mut self.spare));
            if segment.is_some() {
                return Ok(segment);
            }
            if self.input.is_over() {
                return Ok(self.scanner.finish());
            }
            self.input.read()?;
        }
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = io::Result<Contents>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == State::Ended {
            return None;
        }
        let next = self.next_contents();
        if !matches!(next, Ok(Some(_))) {
            self.state = State::Ended;
        }
        next.transpose()
    }
}

impl<R> fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("assembler", &self.assembler).finish_non_exhaustive()
    }
}

/// Decodes the bzip2 file that `input` gives to `output`. Returns the size of its contents in bytes.
///
/// # Errors
///
/// The error of `input` or `output`, or a [`DecodeError`](super::DecodeError) inside an [`io::Error`]. The contents
/// before that place were written then.
///
/// ```
/// let empty = b"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0";
/// assert_eq!(abz_codec::bzip2::decode(&empty[..], Vec::new())?, 0);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn decode(input: impl Read, mut output: impl Write) -> io::Result<u64> {
    let mut written = 0;
    for contents in Reader::new(input) {
        written += contents?.write_to(&mut output)?;
    }
    Ok(written)
}

//! A bzip2 file decoded on one thread.

use std::fmt;
use std::io::{self, Read, Write};

use super::{Assembler, Contents, Decoder, Scanner, Segment};

/// How much is read at once, in bytes.
const INPUT: usize = 128 * 1024;

/// Reads the blocks of any bzip2 file: a [`Scanner`], a [`Decoder`] and an [`Assembler`] on the caller's thread.
///
/// It is an iterator over the contents of the blocks that ends after its first error: that of the reader, or a
/// [`DecodeError`](super::DecodeError) inside of an [`io::Error`] (`downcast` gives it back).
pub struct Reader<R> {
    reader: R,
    scanner: Scanner,
    decoder: Decoder,
    assembler: Assembler,
    /// What was read and not yet scanned lies in `buffer` at `begin..end`.
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    state: State,
    /// The reader has given all.
    is_over: bool,
    /// An allocation for segments.
    spare: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Reading,
    /// All was read and decoded.
    Finishing,
    Ended,
}

impl<R: Read> Reader<R> {
    /// Reads the bzip2 file that `reader` gives. It has a buffer of its own.
    pub fn new(reader: R) -> Self {
        Reader {
            reader,
            scanner: Scanner::new(),
            decoder: Decoder::new(),
            assembler: Assembler::new(),
            buffer: vec![0; INPUT],
            begin: 0,
            end: 0,
            state: State::Reading,
            is_over: false,
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
            let mut input = &self.buffer[self.begin..self.end];
            let segment = self.scanner.next(&mut input, &mut self.spare);
            self.begin = self.end - input.len();
            if segment.is_some() {
                return Ok(segment);
            }
            if self.is_over {
                return Ok(None);
            }
            let read = match self.reader.read(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            (self.begin, self.end) = (0, read);
            if read == 0 {
                self.is_over = true;
                return Ok(self.scanner.finish());
            }
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

/// Decodes the bzip2 file that `input` gives to `output`, and returns the size of its contents in bytes.
///
/// # Errors
///
/// That of the reader or the writer, or a [`DecodeError`](super::DecodeError) inside of an [`io::Error`]. What was
/// written by then is the contents before that place.
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

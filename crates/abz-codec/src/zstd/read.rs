//! A Zstandard file decoded on one thread.

use std::fmt;
use std::io::{self, Read};
use std::mem;

use super::{Decoder, Decoding, Scanned, Scanner};

/// How much is read at once, in bytes.
const INPUT: usize = 128 << 10;

/// Reads the contents of any Zstandard file: a [`Scanner`] and a [`Decoder`] on the caller's thread.
///
/// It is an iterator over pieces of the contents that ends after its first error: that of the reader, or a
/// [`DecodeError`](super::DecodeError) inside of an [`io::Error`] (`downcast` gives it back).
///
/// ```
/// use abz_codec::zstd::{Decoding, Reader};
///
/// let hello = b"\x28\xb5\x2f\xfd\x20\x05\x29\0\0hello";
/// let pieces = Reader::new(&hello[..], &Decoding::default()).collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(pieces.concat(), b"hello");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Reader<R> {
    reader: R,
    scanner: Scanner,
    decoder: Decoder,
    /// What was read and not yet scanned lies in `buffer` at `begin..end`.
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    /// An allocation for frames.
    spare: Vec<u8>,
    has_ended: bool,
}

impl<R: Read> Reader<R> {
    /// Reads the file that `reader` gives. It has a buffer of its own.
    pub fn new(reader: R, decoding: &Decoding) -> Self {
        Reader {
            reader,
            scanner: Scanner::new(decoding),
            decoder: Decoder::new(decoding),
            buffer: vec![0; INPUT],
            begin: 0,
            end: 0,
            spare: Vec::new(),
            has_ended: false,
        }
    }

    fn next_data(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let mut input = &self.buffer[self.begin..self.end];
            let found = self.scanner.next(&mut input, &mut self.spare)?;
            self.begin = self.end - input.len();
            match found {
                Some(Scanned::Frame(frame)) => {
                    let mut data = Vec::new();
                    self.decoder.decode_into(&frame, &mut data)?;
                    self.spare = frame.into_bytes();
                    return Ok(Some(data));
                }
                Some(Scanned::Data) => return Ok(Some(mem::take(&mut self.spare))),
                None => {}
            }
            match self.reader.read(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(0) => return Ok(self.scanner.finish().map(|()| None)?),
                Ok(read) => (self.begin, self.end) = (0, read),
            }
        }
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let next = self.next_data();
        self.has_ended = !matches!(next, Ok(Some(_)));
        next.transpose()
    }
}

impl<R> fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("scanner", &self.scanner).finish_non_exhaustive()
    }
}

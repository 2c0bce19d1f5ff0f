//! Reading of a gzip file on one thread.

use std::fmt;
use std::io::{self, Read};

use super::{Decoder, Piece, Splitter};

/// A reader of the contents of any gzip file: a [`Splitter`] and a [`Decoder`] on the caller's thread.
///
/// Its errors are [`DecodeError`](super::DecodeError)s inside an [`io::Error`] (`get_ref` returns them).
///
/// ```
/// use abz_codec::gzip::Reader;
///
/// let hello = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0";
/// assert_eq!(std::io::read_to_string(Reader::new(&hello[..]))?, "hello");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Reader<R> {
    splitter: Splitter<R>,
    decoder: Decoder,
    data: Vec<u8>,
    given: usize,
}

impl<R: Read> Reader<R> {
    /// Creates a reader of the gzip file that `reader` gives.
    pub fn new(reader: R) -> Self {
        Reader { splitter: Splitter::new(reader), decoder: Decoder::new(), data: Vec::new(), given: 0 }
    }
}

impl<R: Read> Read for Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.data.len() {
            self.given = 0;
            self.data.clear();
            match self.splitter.next().transpose()? {
                None => return Ok(0),
                Some(Piece::Data(data)) => self.data = data,
                Some(Piece::Member(member)) => self.decoder.decode_into(&member, &mut self.data)?,
            }
        }
        let len = buffer.len().min(self.data.len() - self.given);
        buffer[..len].copy_from_slice(&self.data[self.given..][..len]);
        self.given += len;
        Ok(len)
    }
}

impl<R> fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("splitter", &self.splitter).finish_non_exhaustive()
    }
}

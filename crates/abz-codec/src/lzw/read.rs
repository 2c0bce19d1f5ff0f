//! A file of `compress` read on one thread.

use std::fmt;
use std::io::{self, Read};

use super::Decoder;

/// How much is asked of the reader at once, in bytes.
const CAPACITY: usize = 128 * 1024;

/// Reads the contents of a file of `compress`: a [`Decoder`] on the caller's thread.
///
/// Errors are [`DecodeError`](super::DecodeError)s inside of an [`io::Error`] (`downcast` gives them back).
///
/// ```
/// use abz_codec::lzw::Reader;
///
/// assert_eq!(std::io::read_to_string(Reader::new(&b"\x1f\x9d\x90\x61\x02\x86\x01"[..]))?, "aaaa");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Reader<R> {
    reader: R,
    decoder: Decoder,
    /// What was read and not yet decoded lies in `buffer` at `begin..end`.
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    is_over: bool,
    data: Vec<u8>,
    given: usize,
}

impl<R: Read> Reader<R> {
    /// Reads the file that `reader` gives. It has a buffer of its own.
    pub fn new(reader: R) -> Self {
        Reader {
            reader,
            decoder: Decoder::new(),
            buffer: vec![0; CAPACITY],
            begin: 0,
            end: 0,
            is_over: false,
            data: Vec::new(),
            given: 0,
        }
    }

    /// Decodes more data; false at the end of the file.
    fn decode(&mut self) -> io::Result<bool> {
        self.given = 0;
        loop {
            if self.is_over {
                return Ok(self.decoder.finish(&mut self.data)?);
            }
            let mut input = &self.buffer[self.begin..self.end];
            let has_data = self.decoder.next(&mut input, &mut self.data)?;
            self.begin = self.end - input.len();
            if has_data {
                return Ok(true);
            }
            (self.begin, self.end) = (0, self.reader.read(&mut self.buffer)?);
            self.is_over = self.end == 0;
        }
    }
}

impl<R: Read> Read for Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.data.len() && !self.decode()? {
            return Ok(0);
        }
        let len = buffer.len().min(self.data.len() - self.given);
        buffer[..len].copy_from_slice(&self.data[self.given..][..len]);
        self.given += len;
        Ok(len)
    }
}

impl<R> fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("decoder", &self.decoder).finish_non_exhaustive()
    }
}

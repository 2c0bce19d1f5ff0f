//! Reading of a file of `compress` on one thread.

use std::fmt;
use std::io::{self, Read};

use super::Decoder;
use crate::input::Input;

/// A reader of the contents of a file of `compress`: a [`Decoder`] on the caller's thread.
///
/// Its errors are [`DecodeError`](super::DecodeError)s inside an [`io::Error`] (`downcast` returns them).
///
/// ```
/// use abz_codec::lzw::Reader;
///
/// assert_eq!(std::io::read_to_string(Reader::new(&b"\x1f\x9d\x90\x61\x02\x86\x01"[..]))?, "aaaa");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Reader<R> {
    input: Input<R>,
    decoder: Decoder,
    data: Vec<u8>,
    given: usize,
}

impl<R: Read> Reader<R> {
    /// Creates a reader of the file that `reader` gives. It has its own buffer.
    pub fn new(reader: R) -> Self {
        Reader { input: Input::new(reader), decoder: Decoder::new(), data: Vec::new(), given: 0 }
    }

    /// Decodes more data. Returns `false` at the end of the file.
    fn decode(&mut self) -> io::Result<bool> {
        self.given = 0;
        loop {
            if self.input.is_over() {
                return Ok(self.decoder.finish(&mut self.data)?);
            }
            if self.input.scan(|input| self.decoder.next(input, &mut self.data))? {
                return Ok(true);
            }
            self.input.read()?;
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

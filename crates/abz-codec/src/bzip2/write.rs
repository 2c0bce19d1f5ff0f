//! Writing of a stream from encoded blocks.

use std::fmt;
use std::io::{self, Write};

use super::bits::BitWriter;
use super::encode::EncodedBlock;
use super::runs::combine;
use super::{END_MAGIC, Level};

/// A writer of one stream: its header, its blocks in order, and its end.
///
/// ```
/// use abz_codec::bzip2::{Cutter, Encoder, Level, StreamWriter};
///
/// let text = b"a branch of a river\n".repeat(20_000);
/// let mut encoder = Encoder::new();
/// let mut stream = StreamWriter::new(Vec::new(), Level::new(1).unwrap());
/// let (mut cutter, mut input) = (Cutter::new(Level::new(1).unwrap()), &text[..]);
/// while let Some(block) = cutter.next(&mut input)?.or_else(|| cutter.rest()) {
///     stream.write(&encoder.encode_into(&block, Vec::new())?)?;
/// }
/// let file = stream.finish()?;
/// assert!(file.starts_with(b"BZh1") && file.len() < text.len() / 50);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct StreamWriter<W> {
    writer: W,
    level: Level,
    began: bool,
    checksum: u32,
    /// The bits of the last byte, which is not yet full, at the high end, and their number, less than 8.
    rest: u8,
    count: u32,
    /// A buffer for blocks that do not begin at a byte boundary.
    shifted: Vec<u8>,
}

impl<W: Write> StreamWriter<W> {
    /// Creates a writer of a stream of blocks of `level` to `writer`.
    pub fn new(writer: W, level: Level) -> Self {
        StreamWriter { writer, level, began: false, checksum: 0, rest: 0, count: 0, shifted: Vec::new() }
    }

    /// Returns the underlying writer, for example to take the bytes written so far.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.writer
    }

    /// Writes a block.
    ///
    /// # Errors
    ///
    /// The error of the writer. Do not write any more then.
    pub fn write(&mut self, block: &EncodedBlock) -> io::Result<()> {
        self.begin()?;
        self.checksum = combine(self.checksum, block.checksum);
        self.append(&block.bytes, block.last_bits)
    }

    /// Writes the end, and returns the underlying writer. A stream without blocks is valid and has no contents.
    ///
    /// # Errors
    ///
    /// The error of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.begin()?;
        let mut end = BitWriter::default();
        end.put(24, (END_MAGIC >> 24) as u32);
        end.put(24, END_MAGIC as u32 & 0xff_ffff);
        end.put(32, self.checksum);
        let (bytes, last_bits) = end.finish();
        self.append(&bytes, last_bits)?;
        if self.count > 0 {
            self.writer.write_all(&[self.rest])?;
        }
        Ok(self.writer)
    }

    fn begin(&mut self) -> io::Result<()> {
        if !self.began {
            self.began = true;
            self.writer.write_all(&[b'B', b'Z', b'h', self.level.digit()])?;
        }
        Ok(())
    }

    /// Appends bits, of which `last_bits` are in the last byte of `bytes`.
    fn append(&mut self, bytes: &[u8], last_bits: u32) -> io::Result<()> {
        self.shifted.clear();
        if self.count == 0 {
            self.shifted.extend_from_slice(bytes);
        } else {
            let (words, tail) = bytes.as_chunks::<8>();
            for &word in words {
                let word = u64::from_be_bytes(word);
                let full = word >> self.count | u64::from(self.rest) << 56;
                self.rest = (word << (8 - self.count)) as u8;
                self.shifted.extend_from_slice(&full.to_be_bytes());
            }
            for &byte in tail {
                self.shifted.push(self.rest | byte >> self.count);
                self.rest = byte << (8 - self.count);
            }
        }
        // All bits are in `shifted` and `rest`. The last ones may not fill a byte.
        let bits = self.count + last_bits;
        if bits < 8 {
            self.rest = self.shifted.pop().unwrap_or(0);
        }
        self.count = bits % 8;
        self.writer.write_all(&self.shifted)
    }
}

impl<W> fmt::Debug for StreamWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamWriter").field("level", &self.level).finish_non_exhaustive()
    }
}

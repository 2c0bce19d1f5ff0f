//! Writing of a stream from encoded blocks.

use std::io::{self, Write};

use crc32fast::hash as crc32;

use super::check::Check;
use super::encode::EncodedBlock;
use super::header::{footer, push_number, stream_header};

/// A writer of one stream: its header, its blocks in order, their index, and its footer.
///
/// ```
/// use abz_codec::xz::{Check, Encoder, Settings, StreamWriter};
///
/// let text = b"a branch of a river\n".repeat(20_000);
/// let settings = Settings { level: 1, extreme: false, dictionary_size: None, check: Check::Crc64, tuning: Default::default() };
/// let mut encoder = Encoder::new(settings);
/// let mut stream = StreamWriter::new(Vec::new(), settings.check);
/// for block in text.chunks(settings.block_size()) {
///     stream.write(&encoder.encode_into(block, Vec::new())?)?;
/// }
/// let file = stream.finish()?;
/// assert!(file.starts_with(b"\xfd7zXZ\0") && file.len() < text.len() / 50);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct StreamWriter<W> {
    writer: W,
    check: Check,
    began: bool,
    /// The sizes of all blocks, unpadded and uncompressed.
    records: Vec<(u64, u64)>,
}

impl<W: Write> StreamWriter<W> {
    /// Creates a writer of a stream of blocks with that check to `writer`.
    pub fn new(writer: W, check: Check) -> Self {
        StreamWriter { writer, check, began: false, records: Vec::new() }
    }

    /// Returns the underlying writer, for example to take the bytes written so far.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.writer
    }

    /// Writes a block. A block without contents is left out.
    ///
    /// # Errors
    ///
    /// The error of the writer. Do not write any more then.
    pub fn write(&mut self, block: &EncodedBlock) -> io::Result<()> {
        self.begin()?;
        if block.uncompressed == 0 {
            return Ok(());
        }
        self.records.push((block.unpadded, block.uncompressed));
        self.writer.write_all(&block.header)?;
        self.writer.write_all(&block.bytes)
    }

    /// Writes the end, and returns the underlying writer. A stream without blocks is valid and has no contents.
    ///
    /// # Errors
    ///
    /// The error of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.begin()?;
        let mut index = vec![0];
        push_number(&mut index, self.records.len() as u64);
        for &(unpadded, uncompressed) in &self.records {
            push_number(&mut index, unpadded);
            push_number(&mut index, uncompressed);
        }
        index.resize(index.len().next_multiple_of(4), 0);
        let checksum = crc32(&index);
        index.extend_from_slice(&checksum.to_le_bytes());
        let footer = footer(self.check, index.len() as u64);
        self.writer.write_all(&index)?;
        self.writer.write_all(&footer)?;
        Ok(self.writer)
    }

    fn begin(&mut self) -> io::Result<()> {
        if !self.began {
            self.began = true;
            self.writer.write_all(&stream_header(self.check))?;
        }
        Ok(())
    }
}

//! Writing of a file from frames and pieces of frames.

use std::io::{self, Write};

use crc32fast::Hasher;

use super::encode::Encoded;
use super::mark::{End, Mark, Piece};
use super::seek::{SeekTable, SeekTableEntry};
use super::{FrameHeader, LAST_BLOCK};

/// A writer of the blocks that an [`Encoder`](super::Encoder) made of an input, in order. Frames are written unchanged,
/// with the table of the seekable format behind them if there are several. Pieces are written as one frame, with a
/// [mark](super) before each and behind the last.
///
/// A file is complete only after [`finish`](FrameWriter::finish).
#[derive(Debug)]
pub struct FrameWriter<W> {
    out: W,
    header: FrameHeader,
    /// The largest contents of a piece, in bytes.
    most: u32,
    /// `None` if there were too many frames.
    table: Option<SeekTable>,
    /// The sums of the frame of pieces so far, if there is one.
    sums: Option<Sums>,
}

#[derive(Debug)]
struct Sums {
    crc: Hasher,
    contents: u64,
    checksum: u32,
    /// Whether the pieces have marks: the first one was not flushed.
    has_marks: bool,
}

impl<W: Write> FrameWriter<W> {
    /// Creates a writer of a file that goes to `out`. `out` needs no buffer, because it is given whole frames and
    /// pieces. A frame of pieces begins with `header` ([`Encoding::header`](super::Encoding::header)), and its pieces
    /// have at most `most` bytes of contents.
    ///
    /// # Panics
    ///
    /// If `most` is 4 GiB or more.
    pub fn new(out: W, header: FrameHeader, most: usize) -> Self {
        let most = most.try_into().expect("a piece has less than 4 GiB of contents");
        FrameWriter { out, header, most, table: Some(SeekTable::default()), sums: None }
    }

    /// Returns the underlying writer, for example to take the bytes written so far.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Writes the next frame, or the next piece of one. `checksum` is that of all contents up to the end of this piece
    /// ([`Checksum::add`](super::Checksum::add)). Only that of the last piece is used, if the frame has a checksum.
    ///
    /// # Errors
    ///
    /// The error of the writer.
    ///
    /// # Panics
    ///
    /// If a piece has more contents than the `most` given to [`new`](FrameWriter::new), or if it was flushed and the first
    /// piece of the frame was not.
    pub fn write(&mut self, encoded: &Encoded, checksum: u32) -> io::Result<()> {
        match encoded.piece {
            Some(crc32) => self.write_piece(encoded, (crc32, checksum)),
            None => self.write_frame(&encoded.bytes, encoded.contents),
        }
    }

    fn write_frame(&mut self, frame: &[u8], contents: usize) -> io::Result<()> {
        self.out.write_all(frame)?;
        self.table = self.table.take().and_then(|table| {
            let compressed = frame.len().try_into().ok()?;
            let contents = contents.try_into().ok()?;
            table.with(SeekTableEntry { compressed, contents })
        });
        Ok(())
    }

    fn write_piece(&mut self, encoded: &Encoded, (crc32, checksum): (u32, u32)) -> io::Result<()> {
        let Encoded { bytes: blocks, contents: len, is_flushed, .. } = encoded;
        let (len, mut start) = (*len, Vec::new());
        if self.sums.is_none() {
            self.header.write(&mut start);
            let (written, _) = FrameHeader::parse(&start).ok().flatten().expect("it was just written");
            self.header.window = written.window;
        }
        let new = || Sums { crc: Hasher::new(), contents: 0, checksum: 0, has_marks: !is_flushed };
        let sums = self.sums.get_or_insert_with(new);
        assert!(!is_flushed || !sums.has_marks, "a flushed piece is in a frame without marks");
        sums.crc.combine(&Hasher::new_with_initial_len(crc32, len as u64));
        sums.contents += len as u64;
        sums.checksum = checksum;
        let contents = u32::try_from(len).ok().filter(|len| *len <= self.most);
        let contents = contents.expect("a piece has no more contents than was said");
        let compressed = blocks.len().try_into().expect("blocks are not much larger than their contents");
        if sums.has_marks {
            Mark::Piece(Piece { contents, compressed, crc32, most: self.most }).write(&mut start);
        }
        self.out.write_all(&start)?;
        self.out.write_all(blocks)
    }

    /// Writes the end of the file, flushes, and returns the underlying writer.
    ///
    /// # Errors
    ///
    /// The error of the writer, or an error if the header states another size of the contents.
    pub fn finish(mut self) -> io::Result<W> {
        if let Some(Sums { crc, contents, checksum, has_marks }) = self.sums {
            if self.header.contents.is_some_and(|said| said != contents) {
                return Err(io::Error::other(
                    "the size of the contents differs from the one in the header of the frame",
                ));
            }
            let mut end = Vec::new();
            let has_checksum = self.header.checksum;
            if has_marks {
                let said = if has_checksum { checksum } else { 0 };
                let window = (self.header.window >> 10) as u32;
                Mark::End(End { contents, checksum: said, crc32: crc.finalize(), window }).write(&mut end);
            }
            end.extend(LAST_BLOCK);
            if has_checksum {
                end.extend(checksum.to_le_bytes());
            }
            self.out.write_all(&end)?;
        }
        // A single frame needs no table.
        if let Some(table) = self.table.filter(|table| table.entries().len() > 1) {
            self.out.write_all(&table.to_bytes())?;
        }
        self.out.flush()?;
        Ok(self.out)
    }
}

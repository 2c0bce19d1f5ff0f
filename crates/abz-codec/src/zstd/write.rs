//! Frames and pieces of frames into a file.

use std::io::{self, Write};

use crc32fast::Hasher;

use super::encode::Encoded;
use super::mark::{End, Mark, Piece};
use super::seek::{SeekTable, SeekTableEntry};
use super::{FrameHeader, LAST_BLOCK};

/// Writes what an [`Encoder`](super::Encoder) makes of the blocks of an input, in order: whole frames as they are, and behind
/// several of them the table of the seekable format; pieces as one frame, with a [mark](super) before each and behind the last.
///
/// A file is whole only after [`finish`](FrameWriter::finish).
#[derive(Debug)]
pub struct FrameWriter<W> {
    out: W,
    header: FrameHeader,
    /// The most contents of a piece.
    most: u32,
    /// `None` if there were too many frames.
    table: Option<SeekTable>,
    /// Of the frame of pieces, if there is one, what is known so far.
    sums: Option<Sums>,
}

#[derive(Debug)]
struct Sums {
    crc: Hasher,
    contents: u64,
    checksum: u32,
}

impl<W: Write> FrameWriter<W> {
    /// A file that goes to `out`, which needs no buffer: it is given whole frames and pieces. If it is a frame of pieces, that
    /// begins with `header` ([`Encoding::header`](super::Encoding::header)), and no piece has more than `most` bytes of contents.
    ///
    /// # Panics
    ///
    /// If `most` is 4 GiB or more.
    pub fn new(out: W, header: FrameHeader, most: usize) -> Self {
        let most = most.try_into().expect("a piece has less than 4 GiB of contents");
        FrameWriter { out, header, most, table: Some(SeekTable::default()), sums: None }
    }

    /// Writes the next frame, or the next piece of one. `checksum` is that of all contents up to the end of this piece
    /// ([`Checksum::add`](super::Checksum::add)). It is used of the last one, if the frame has a checksum.
    ///
    /// # Errors
    ///
    /// What the writer gave.
    ///
    /// # Panics
    ///
    /// If a piece has more contents than was said.
    pub fn write(&mut self, encoded: &Encoded, checksum: u32) -> io::Result<()> {
        let Encoded { bytes, contents, piece } = encoded;
        match *piece {
            Some(crc32) => self.write_piece(bytes, *contents, (crc32, checksum)),
            None => self.write_frame(bytes, *contents),
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

    fn write_piece(&mut self, blocks: &[u8], len: usize, (crc32, checksum): (u32, u32)) -> io::Result<()> {
        let mut start = Vec::new();
        if self.sums.is_none() {
            self.header.write(&mut start);
            let (written, _) = FrameHeader::parse(&start).ok().flatten().expect("it was just written");
            self.header.window = written.window;
        }
        let sums = self.sums.get_or_insert_with(|| Sums { crc: Hasher::new(), contents: 0, checksum: 0 });
        sums.crc.combine(&Hasher::new_with_initial_len(crc32, len as u64));
        sums.contents += len as u64;
        sums.checksum = checksum;
        let contents = u32::try_from(len).ok().filter(|len| *len <= self.most);
        let contents = contents.expect("a piece has no more contents than was said");
        let compressed = blocks.len().try_into().expect("blocks are not much larger than their contents");
        Mark::Piece(Piece { contents, compressed, crc32, most: self.most }).write(&mut start);
        self.out.write_all(&start)?;
        self.out.write_all(blocks)
    }

    /// Writes the end of the file, flushes, and gives the writer back.
    ///
    /// # Errors
    ///
    /// What the writer gave; or if the header says another size of the contents.
    pub fn finish(mut self) -> io::Result<W> {
        if let Some(Sums { crc, contents, checksum }) = self.sums {
            if self.header.contents.is_some_and(|said| said != contents) {
                return Err(io::Error::other(
                    "the contents are not as large as the header of the frame says",
                ));
            }
            let mut end = Vec::new();
            let has_checksum = self.header.checksum;
            let said = if has_checksum { checksum } else { 0 };
            let window = (self.header.window >> 10) as u32;
            Mark::End(End { contents, checksum: said, crc32: crc.finalize(), window }).write(&mut end);
            end.extend(LAST_BLOCK);
            if has_checksum {
                end.extend(checksum.to_le_bytes());
            }
            self.out.write_all(&end)?;
        }
        // Of a single frame its header says all.
        if let Some(table) = self.table.filter(|table| table.entries().len() > 1) {
            self.out.write_all(&table.to_bytes())?;
        }
        self.out.flush()?;
        Ok(self.out)
    }
}

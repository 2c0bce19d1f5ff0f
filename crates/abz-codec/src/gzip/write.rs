//! Blocks into a file.

use std::io::{self, Write};

use crc32fast::Hasher;

use super::EMPTY_DEFLATE;
use super::index::IndexBuilder;
use super::layout::{Encoded, Layout};
use super::mark::Mark;
use super::wrap::Wrapped;

/// Writes members, or the blocks of one, in order, and what ends a file: of one member its trailer, of several an index (see
/// the [module](super)), of BGZF an empty member.
///
/// A file is whole only after [`finish`](Writer::finish).
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    /// `None` for BGZF, whose tools make their indexes themselves.
    index: Option<IndexBuilder>,
    /// What was written of a member with marks, if one was begun.
    member: Option<Marked>,
    /// What was written of a file of another format than gzip, if it is one.
    wrapped: Option<Wrapped>,
    tells_places: bool,
}

/// A member whose blocks have marks.
#[derive(Debug)]
struct Marked {
    /// The CRC-32 of the contents so far, and their size in bytes.
    sum: Hasher,
    len: u64,
    /// Where the next mark begins, from the first byte of the member.
    offset: u64,
    /// What all marks of the member have.
    number: u32,
}

/// The empty member that ends a file of BGZF (SAM specification, section 4.1.2).
const BGZF_END: [u8; 28] = *b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0\x1b\0\x03\0\0\0\0\0\0\0\0\0";

impl<W: Write> Writer<W> {
    /// A file that goes to `out`, which needs no buffer: it is given whole blocks. They must come from an
    /// [`Encoder`](super::Encoder) of the same layout.
    pub fn new(out: W, layout: Layout) -> Self {
        let index = (layout != Layout::Bgzf).then(IndexBuilder::default);
        Writer { out, index, member: None, wrapped: Wrapped::of(layout), tells_places: true }
    }

    /// The same file, whose marks do not tell where the contents of their block lie: so a change of the contents changes the
    /// file around it, and no more.
    #[must_use]
    pub fn without_places(self) -> Self {
        Writer { tells_places: false, ..self }
    }

    /// What is written to: to take what was written so far.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Writes the next block.
    ///
    /// # Errors
    ///
    /// What the writer gave.
    pub fn write(&mut self, block: &Encoded) -> io::Result<()> {
        if let Some(wrapped) = &mut self.wrapped {
            wrapped.add(block);
            self.out.write_all(&block.header)?;
            return self.out.write_all(&block.bytes);
        }
        if block.is_block {
            return self.write_block(block);
        }
        self.out.write_all(&block.bytes)?;
        match self.index.as_mut().and_then(|index| index.push(block)) {
            Some(part) => self.out.write_all(&part),
            None => Ok(()),
        }
    }

    fn write_block(&mut self, block: &Encoded) -> io::Result<()> {
        self.out.write_all(&block.header)?;
        let number = if self.tells_places { block.crc32 } else { 0 };
        let offset = block.header.len() as u64;
        let member = self.member.get_or_insert_with(|| Marked { sum: Hasher::new(), len: 0, offset, number });
        if block.uncompressed == 0 {
            return Ok(());
        }
        let mark = Mark {
            start: self.tells_places.then_some(member.len),
            len: block.uncompressed,
            compressed: block.bytes.len() as u32,
            crc32: block.crc32,
            offset: self.tells_places.then_some(member.offset),
            member: member.number,
        };
        member.offset += mark.size() as u64;
        member.sum.combine(&Hasher::new_with_initial_len(block.crc32, block.uncompressed.into()));
        member.len += u64::from(block.uncompressed);
        self.out.write_all(&mark.write())?;
        self.out.write_all(&block.bytes)
    }

    /// Writes the end of the file, flushes, and gives the writer back.
    ///
    /// # Errors
    ///
    /// What the writer gave.
    pub fn finish(mut self) -> io::Result<W> {
        if let Some(wrapped) = self.wrapped {
            self.out.write_all(&wrapped.end())?;
            self.out.flush()?;
            return Ok(self.out);
        }
        match (self.index, self.member) {
            (_, Some(member)) => {
                self.out.write_all(&EMPTY_DEFLATE)?;
                self.out.write_all(&member.sum.finalize().to_le_bytes())?;
                self.out.write_all(&(member.len as u32).to_le_bytes())?;
            }
            (None, None) => self.out.write_all(&BGZF_END)?,
            (Some(mut index), None) => {
                if let Some(part) = index.finish() {
                    self.out.write_all(&part)?;
                }
            }
        }
        self.out.flush()?;
        Ok(self.out)
    }
}

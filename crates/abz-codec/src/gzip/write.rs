//! Writing of gzip files.

use std::io::{self, Write};
use std::mem;

use crc32fast::Hasher;

use super::EMPTY_DEFLATE;
use super::index::IndexBuilder;
use super::layout::{Encoded, Layout};
use super::mark::Mark;
use super::wrap::Wrapped;

/// A writer of members, or of the blocks of one, in order. It also writes the end of the file: the trailer of a single
/// member, the index of several members (see the [module](super)), or the empty last member of BGZF.
///
/// A file is complete only after [`finish`](Writer::finish).
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    /// `None` for BGZF, whose tools make their own indexes.
    index: Option<IndexBuilder>,
    /// The member with marks that was begun, if any.
    member: Option<Marked>,
    /// The state of a file of zlib or zip.
    wrapped: Option<Wrapped>,
    tells_places: bool,
}

/// A member whose blocks have marks.
#[derive(Debug)]
struct Marked {
    /// The CRC-32 of the contents so far, and their size in bytes.
    sum: Hasher,
    len: u64,
    /// The offset of the next mark from the first byte of the member.
    offset: u64,
    /// The number that all marks of the member have.
    number: u32,
    /// Whether the next block can have a mark: none was flushed yet.
    has_marks: bool,
}

impl Marked {
    /// Adds the contents of a block.
    fn add(&mut self, block: &Encoded) {
        self.sum.combine(&Hasher::new_with_initial_len(block.crc32, block.uncompressed.into()));
        self.len += u64::from(block.uncompressed);
    }
}

/// The empty member that ends a file of BGZF (SAM specification, section 4.1.2).
const BGZF_END: [u8; 28] = *b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0\x1b\0\x03\0\0\0\0\0\0\0\0\0";

impl<W: Write> Writer<W> {
    /// Creates a writer of a file that goes to `out`. `out` needs no buffer, because it is given whole blocks. They
    /// must come from an [`Encoder`](super::Encoder) of the same layout.
    pub fn new(out: W, layout: Layout) -> Self {
        let index = (layout != Layout::Bgzf).then(IndexBuilder::default);
        Writer { out, index, member: None, wrapped: Wrapped::of(layout), tells_places: true }
    }

    /// Makes the marks not state the places of their blocks. A change of the contents then changes only the file around
    /// that place.
    #[must_use]
    pub fn without_places(self) -> Self {
        Writer { tells_places: false, ..self }
    }

    /// Returns the underlying writer, for example to take the bytes written so far.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Writes the next block.
    ///
    /// # Errors
    ///
    /// The error of the writer.
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
        let new = || Marked { sum: Hasher::new(), len: 0, offset, number, has_marks: true };
        let member = self.member.get_or_insert_with(new);
        if block.uncompressed == 0 {
            return Ok(());
        }
        if block.is_flushed && mem::take(&mut member.has_marks) && member.len > 0 {
            self.out.write_all(&Mark::END.write())?;
        }
        if !member.has_marks {
            member.add(block);
            return self.out.write_all(&block.bytes);
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
        member.add(block);
        self.out.write_all(&mark.write())?;
        self.out.write_all(&block.bytes)
    }

    /// Writes the end of the file, flushes, and returns the underlying writer.
    ///
    /// # Errors
    ///
    /// The error of the writer.
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

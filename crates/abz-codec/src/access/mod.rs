//! Random access: parts of a file that can be decoded without what comes before them.
//!
//! Where they lie, many files say themselves: those of gzip that this crate makes and those of BGZF, files of lzip and xz,
//! and files of zstd whose frames tell the size of their contents ([`gzip::parts`], [`lzip::parts`], [`xz::parts`],
//! [`zstd::parts`]). Of any other file of gzip one finds them by
//! decoding it once ([`gzip::find_parts`]), of bzip2 too ([`bzip2::Assembler`]), and an [`Index`] keeps them, with what else
//! one knows then. A [`Decoder`] makes data of a part, once its bytes were read, and verifies it.
//!
//! ```
//! use abz_codec::{Blocks, access, gzip};
//! use std::io::Cursor;
//!
//! let mut encoder = gzip::Encoder::new(6);
//! let mut file = gzip::Writer::new(Vec::new(), gzip::Layout::default());
//! for block in Blocks::new(&b"abcdefgh"[..], 3) {
//!     file.write(&encoder.encode(&block?)?)?;
//! }
//! let file = file.finish()?;
//!
//! let parts = gzip::parts(&mut Cursor::new(&file))?.expect("such a file says where its parts are");
//! let second = &parts[1];
//! assert_eq!(second.contents, 3..6);
//!
//! let (mut decoder, mut data) = (access::Decoder::default(), Vec::new());
//! let bytes = second.bytes();
//! decoder.decode_into(second, &file[bytes.start as usize..bytes.end as usize], &mut data)?;
//! assert_eq!(data, b"def");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod decode;
mod index;

use std::ops::Range;

pub use decode::{DecodeError, Decoder};
pub use index::{Index, IndexError};

use crate::xz;
#[cfg(doc)]
use crate::{bzip2, gzip, lzip, zstd};

/// A part of a compressed file that can be decoded without the others. What is said here of its contents was not
/// verified: a [`Decoder`] does that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub kind: Kind,
    /// Which of its kind it is in its file, of a block of xz in its stream, counted from 1.
    pub number: u64,
    /// Where it lies in the file, in bits.
    pub bits: Range<u64>,
    /// Where its contents lie in those of the file, in bytes.
    pub contents: Range<u64>,
    /// What is known of them, if the file was decoded before.
    pub known: Option<Box<Known>>,
}

/// What is known of a part whose contents somebody has seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The line feeds in the contents of the file before it.
    pub lines: u64,
    /// The CRC-32 of its contents.
    pub crc32: u32,
    /// Of deflate blocks, the last 32 KiB before its contents, to which they may refer, as a deflate stream; nothing at the
    /// start of a member.
    pub window: Vec<u8>,
}

/// What a part of a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole members of gzip.
    GzipMembers,
    /// Blocks of deflate inside of a member of gzip, which need what is [known](Known::window) of what is before them.
    DeflateBlocks,
    /// A block of bzip2.
    Bzip2Block {
        /// The number of its stream, counted from 1.
        stream: u64,
    },
    /// A member of lzip.
    LzipMember,
    /// A block of xz.
    XzBlock {
        /// The check of its stream.
        check: xz::Check,
        /// The number of that stream, counted from 1.
        stream: u64,
    },
    /// A frame of zstd.
    ZstdFrame,
    /// A [piece](zstd) of a frame of zstd, with its mark. Its number is that of the frame.
    ZstdPiece,
}

impl Part {
    /// The bytes of the file in which it lies.
    pub fn bytes(&self) -> Range<u64> {
        self.bits.start / 8..self.bits.end.div_ceil(8)
    }

    /// The size of its contents in bytes.
    pub fn len(&self) -> u64 {
        self.contents.end.saturating_sub(self.contents.start)
    }

    /// True if it has no contents.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is known, of a part of an [`Index`].
    fn known(&self) -> &Known {
        self.known.as_deref().expect("an index has that of each part")
    }
}

/// Those of `parts`, which follow each other, that have bytes of these.
pub fn parts_with<'a>(parts: &'a [Part], bytes: &Range<u64>) -> &'a [Part] {
    let from = parts.partition_point(|part| part.contents.end <= bytes.start);
    let to = parts.partition_point(|part| part.contents.start < bytes.end);
    parts.get(from..to).unwrap_or_default()
}

/// Puts parts behind each other.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    parts: Vec<Part>,
    /// A size was said that cannot be.
    is_wrong: bool,
}

impl Layout {
    /// The next part: its place and size in the file, and the size of its contents, in bytes. Those without contents are
    /// left out.
    pub(crate) fn push(&mut self, kind: Kind, number: u64, offset: u64, len: u64, contents: u64) {
        let start = self.parts.last().map_or(0, |last| last.contents.end);
        let (Some(end), Some(last)) = (start.checked_add(contents), offset.checked_add(len)) else {
            self.is_wrong = true;
            return;
        };
        // No file has so many bytes that its bits cannot be counted.
        self.is_wrong |= last > u64::MAX / 8;
        if contents > 0 && !self.is_wrong {
            self.parts.push(Part {
                kind,
                number,
                bits: 8 * offset..8 * last,
                contents: start..end,
                known: None,
            });
        }
    }

    pub(crate) fn finish(self) -> Option<Vec<Part>> {
        (!self.is_wrong).then_some(self.parts)
    }
}

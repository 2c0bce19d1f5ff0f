//! Random access: decoding parts of a file without the bytes before them.
//!
//! Many files state where their parts lie: gzip files that this crate made, BGZF files, files of lzip and xz, and files
//! of zstd whose frames state the size of their contents ([`gzip::parts`], [`lzip::parts`], [`xz::parts`],
//! [`zstd::parts`]). The parts of any other gzip or bzip2 file are found by decoding it once ([`gzip::find_parts`],
//! [`bzip2::Assembler`]). An [`Index`] stores them and other facts learned then. A [`Decoder`] decodes and verifies a
//! part whose bytes were read.
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

#[cfg(feature = "lzma")]
use crate::xz;
#[cfg(all(doc, feature = "bzip2", feature = "gzip", feature = "lzma", feature = "zstd"))]
use crate::{bzip2, gzip, lzip, zstd};

/// A part of a compressed file that can be decoded without the others. The description of its contents is not verified;
/// a [`Decoder`] does that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The kind of the part.
    pub kind: Kind,
    /// The number of the part among those of its kind in the file, counted from 1. A block of xz or bzip2 has its
    /// number in its stream.
    pub number: u64,
    /// The place of the part in the file, in bits.
    pub bits: Range<u64>,
    /// The place of its contents in those of the file, in bytes.
    pub contents: Range<u64>,
    /// Facts about the contents, if the file was decoded before.
    pub known: Option<Box<Known>>,
}

/// Facts about a part that was decoded before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The number of line feeds in the contents of the file before the part.
    pub lines: u64,
    /// The CRC-32 of the part's contents.
    pub crc32: u32,
    /// For deflate blocks, the last 32 KiB of contents before the part, to which the blocks may refer, as a deflate
    /// stream. Empty at the start of a member.
    pub window: Vec<u8>,
}

/// The kind of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole members of gzip.
    GzipMembers,
    /// Deflate blocks inside a gzip member, which refer to the [window](Known::window) before them.
    DeflateBlocks,
    /// A block of bzip2.
    Bzip2Block {
        /// The number of its stream, counted from 1.
        stream: u64,
    },
    /// A member of lzip.
    #[cfg(feature = "lzma")]
    LzipMember,
    /// A block of xz.
    #[cfg(feature = "lzma")]
    XzBlock {
        /// The check of its stream.
        check: xz::Check,
        /// The number of that stream, counted from 1.
        stream: u64,
    },
    /// A frame of zstd.
    ZstdFrame,
    /// A [piece](zstd) of a frame of zstd, with its mark. The number of the part is that of the frame.
    ZstdPiece,
}

impl Part {
    /// Returns the range of bytes of the file in which the part lies.
    pub fn bytes(&self) -> Range<u64> {
        self.bits.start / 8..self.bits.end.div_ceil(8)
    }

    /// Returns the size of the part's contents in bytes.
    pub fn len(&self) -> u64 {
        self.contents.end.saturating_sub(self.contents.start)
    }

    /// Returns whether the part has no contents.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the known facts about a part of an [`Index`].
    fn known(&self) -> &Known {
        self.known.as_deref().expect("an index has that of each part")
    }
}

/// Returns those of the consecutive `parts` whose contents include any of `bytes`.
pub fn parts_with<'a>(parts: &'a [Part], bytes: &Range<u64>) -> &'a [Part] {
    let from = parts.partition_point(|part| part.contents.end <= bytes.start);
    let to = parts.partition_point(|part| part.contents.start < bytes.end);
    parts.get(from..to).unwrap_or_default()
}

/// A builder that places parts one behind another.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    parts: Vec<Part>,
    /// Whether a size was given that no file can have.
    is_wrong: bool,
}

impl Layout {
    /// Adds the next part: its offset and length in the file, and the size of its contents, in bytes. A part without
    /// contents is left out.
    pub(crate) fn push(&mut self, kind: Kind, number: u64, offset: u64, len: u64, contents: u64) {
        let start = self.parts.last().map_or(0, |last| last.contents.end);
        let (Some(end), Some(last)) = (start.checked_add(contents), offset.checked_add(len)) else {
            self.is_wrong = true;
            return;
        };
        // No file is so large that its bits cannot be counted.
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

//! The Zstandard file format ([RFC 8878](https://www.rfc-editor.org/rfc/rfc8878)), as frames that can be made and read in
//! parallel.
//!
//! A file is a series of frames, which do not depend on each other. Numbers are little-endian:
//!
//! | bytes | of a frame |
//! |--:|---|
//! | 4 | `28 b5 2f fd` |
//! | 2 to 14 | the [`FrameHeader`]: size of the window, of the contents, a dictionary's number, whether there is a checksum |
//! | ... | blocks: three bytes that say how long it is, of what kind, and whether it is the last one; and its data |
//! | 0 or 4 | the checksum: the low half of the contents' XXH64 |
//!
//! | bytes | of a skippable frame, which has no contents |
//! |--:|---|
//! | 4 | `50 2a 4d 18` to `5f 2a 4d 18` |
//! | 4 | the size of what follows |
//! | ... | anything |
//!
//! Because each block says how long it is, the frames of any file are found without decoding it.
//!
//! # One frame
//!
//! Some programs read the first frame of a file only, so an [`Encoder`] makes pieces of one frame ([`Layout::OneFrame`]). A piece
//! is a series of blocks that refer to nothing before them: not to contents, nor to codes, nor to the last offsets. Before
//! each piece, and behind the last, a [`FrameWriter`] puts a *mark*: 25 blocks of one byte that is repeated no times, in which
//! a decoder finds nothing. The bytes are the mark:
//!
//! | bytes | before a piece | behind the last piece |
//! |--:|---|---|
//! | 1 | 1 | 2 |
//! | 8 | the size of its contents, below 2^32 | the size of all contents |
//! | 4 | the size of its blocks | what follows as the frame's checksum, or 0 |
//! | 4 | the CRC-32 of its contents | that of all contents |
//! | 4 | the most contents that a piece of the frame has | the window that the header says, in KiB |
//! | 4 | the CRC-32 of the 21 bytes before | the same |
//!
//! Behind the last mark there is an empty block, which is the frame's last. A [`Scanner`] gives out pieces for [`Decoder`]s to
//! decode in parallel. Each is held against its mark before its contents are given out, and all of them against the last mark.
//! A frame that does not begin with a mark, or whose pieces are too large, is decoded as any other.
//!
//! # Several frames
//!
//! With [`Layout::Frames`] an [`Encoder`] makes a frame of each block, with the size of its contents and a checksum, and a
//! [`FrameWriter`] puts behind them the table of Zstandard's seekable format, a skippable frame that other programs skip. A
//! [`Scanner`] gives out whole frames where they are of a bounded size, and decodes others itself, chunk by chunk: what
//! `zstd` makes is one frame without marks, and nobody can decode that in parallel.

mod checksum;
mod decode;
mod decoding;
mod dictionary;
mod encode;
mod error;
mod frame;
mod header;
mod joint;
mod mark;
mod parts;
mod patch;
mod scan;
mod seek;
mod stream;
mod survey;
mod write;

pub use checksum::Checksum;
pub use decode::Decoder;
pub use decoding::Decoding;
pub use dictionary::{Dictionary, DictionaryError};
pub use encode::{Encoded, Encoder, Encoding, Layout};
pub use error::{DecodeError, Fault, Part};
pub use frame::Frame;
pub(crate) use frame::piece;
pub use header::FrameHeader;
pub use patch::{PatchWriter, Reference, patch_memory};
pub use scan::Scanner;
pub use seek::{SeekError, SeekTable, SeekTableEntry};
pub use survey::{Survey, frames, parts};
pub use write::FrameWriter;

/// Reads the contents of any Zstandard file, frame by frame or chunk by chunk. (Programs decode in parallel with a
/// [`Scanner`] and [`Decoder`]s of their own.)
///
/// ```
/// use abz_codec::zstd;
///
/// let hello = b"\x28\xb5\x2f\xfd\x20\x05\x29\0\0hello";
/// let mut data = Vec::new();
/// assert!(zstd::Reader::new(&hello[..], &zstd::Decoding::default()).read_into(&mut data)?);
/// assert_eq!(data, b"hello");
/// # Ok::<(), std::io::Error>(())
/// ```
pub type Reader<R> = crate::parts::Reader<R, Scanner>;

impl<R: std::io::Read> Reader<R> {
    /// Reads the file that `reader` gives.
    pub fn new(reader: R, decoding: &Decoding) -> Self {
        Reader::with(Scanner::new(decoding), reader)
    }
}

/// The levels: the lowest is the fastest, and from 20 on both ways need hundreds of megabytes.
pub const LEVELS: std::ops::RangeInclusive<i32> = -131_072..=22;

/// The level that zstd has as its default too.
pub const DEFAULT_LEVEL: i32 = 3;

/// The most contents of a frame that is decoded as a whole, in bytes: what bounds the memory of a program that has some
/// frames in hand, whatever they claim.
pub const MAX_WHOLE: usize = 32 << 20;

/// The largest window that is taken unless a program allows more, in bytes: the same as zstd's.
pub const DEFAULT_WINDOW_LIMIT: u64 = 128 << 20;

/// The largest window that can be asked for, as the logarithm to base 2.
pub const MAX_WINDOW_LOG: u32 = 31;

/// The contents of a block of a level in bytes, but for the last one of a file. It is compressed without knowing what was
/// before it, which costs size, so it is some times as large as the level's window. On text and source files come out at
/// most 1 % larger than those of `zstd -T2` (1.5.4): 0.4 to 0.6 % at level 3, 0.3 to 0.4 % at 6, 0.4 to 0.7 % at 9 and 12,
/// 0.5 to 0.6 % at 19. Half as large they would lose 1.2 to 1.5 % at level 3, and 1.1 to 3 % at 19.
pub fn frame_size(level: i32) -> usize {
    match level {
        ..=4 => 4 << 20,
        5..=8 => 8 << 20,
        9..=16 => 16 << 20,
        17..=19 => 32 << 20,
        20 => 64 << 20,
        21 => 128 << 20,
        _ => 256 << 20,
    }
}

/// With what a frame begins.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// With what a skippable frame begins, but for the low half of the first byte.
const SKIPPABLE: [u8; 4] = [0x50, 0x2a, 0x4d, 0x18];

/// The header of a skippable frame: the magic number and the size.
const SKIPPABLE_HEADER: usize = 8;

/// The size of a block's header.
const BLOCK_HEADER: usize = 3;

/// An empty block, the last one of its frame.
const LAST_BLOCK: [u8; BLOCK_HEADER] = [1, 0, 0];

/// The size of a frame's checksum.
const CHECKSUM: usize = 4;

/// The most contents of a block.
const MAX_BLOCK: usize = 128 << 10;

/// True of the first bytes, four or fewer, of a skippable frame.
fn is_skippable(start: &[u8]) -> bool {
    start.iter().zip(SKIPPABLE).enumerate().all(|(at, (&found, expected))| match at {
        0 => found & 0xf0 == expected,
        _ => found == expected,
    })
}

/// True if a file that begins with `start` is a series of frames of this format, as far as four bytes tell.
pub fn is_zstd(start: &[u8]) -> bool {
    start.len() >= 4 && (start.starts_with(&MAGIC) || is_skippable(&start[..4]))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*bytes[at..].first_chunk().expect("the number is there"))
}

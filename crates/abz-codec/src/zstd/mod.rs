//! The Zstandard file format ([RFC 8878](https://www.rfc-editor.org/rfc/rfc8878)), as frames that can be encoded and
//! decoded in parallel.
//!
//! A file is a series of frames, which do not depend on each other. Numbers are little-endian:
//!
//! | bytes | of a frame |
//! |--:|---|
//! | 4 | `28 b5 2f fd` |
//! | 2 to 14 | the [`FrameHeader`]: size of the window, of the contents, a dictionary's number, whether there is a checksum |
//! | ... | blocks: three bytes with the length, the kind, and whether it is the last block; then the data |
//! | 0 or 4 | the checksum: the low half of the contents' XXH64 |
//!
//! | bytes | of a skippable frame, which has no contents |
//! |--:|---|
//! | 4 | `50 2a 4d 18` to `5f 2a 4d 18` |
//! | 4 | the size of what follows |
//! | ... | anything |
//!
//! The length of each block is stated, so the frames of any file are found without decoding it.
//!
//! # One frame
//!
//! Some programs read only the first frame of a file, so an [`Encoder`] makes pieces of one frame
//! ([`Layout::OneFrame`]). A piece is a series of blocks that refer to nothing before them: not to contents, codes, or
//! the last offsets. Before each piece and behind the last, a [`FrameWriter`] puts a *mark*: 25 blocks that each repeat
//! one byte zero times, so that they have no contents. The bytes are the mark:
//!
//! | bytes | before a piece | behind the last piece |
//! |--:|---|---|
//! | 1 | 1 | 2 |
//! | 8 | the size of its contents, below 2^32 | the size of all contents |
//! | 4 | the size of its blocks | the frame's checksum, which follows, or 0 |
//! | 4 | the CRC-32 of its contents | that of all contents |
//! | 4 | the largest contents of a piece of the frame | the window in the header, in KiB |
//! | 4 | the CRC-32 of the 21 bytes before | the same |
//!
//! Contents that a writer flushed in short pieces ([`Encoder::encode_flushed_into`]) have no marks, because each piece may
//! refer to the pieces before it. A frame has a mark before each of its pieces, or none at all.
//!
//! An empty block, the last of the frame, follows the last mark. A [`Scanner`] gives out pieces that [`Decoder`]s
//! decode in parallel. Each piece is verified against its mark before its contents are given out, and all pieces are
//! verified against the last mark. A frame that does not begin with a mark, or whose pieces are too large, is decoded
//! as any other.
//!
//! # Several frames
//!
//! With [`Layout::Frames`] an [`Encoder`] makes a frame of each block, with the size of its contents and a checksum. A
//! [`FrameWriter`] puts the table of Zstandard's seekable format behind them, a skippable frame that other programs
//! skip. A [`Scanner`] gives out whole frames if their size is bounded, and decodes others itself, chunk by chunk.
//! Files of `zstd` are one frame without marks, which cannot be decoded in parallel.

mod checksum;
mod decode;
mod decoding;
mod dictionary;
mod encode;
mod error;
mod flush;
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

/// A reader of the contents of any Zstandard file, frame by frame or chunk by chunk, on one thread. (To decode in
/// parallel, use a [`Scanner`] and several [`Decoder`]s.)
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
    /// Creates a reader of the file that `reader` gives.
    pub fn new(reader: R, decoding: &Decoding) -> Self {
        Reader::with(Scanner::new(decoding), reader)
    }
}

/// The levels. The lowest is the fastest. From 20 on, encoding and decoding need hundreds of megabytes.
pub const LEVELS: std::ops::RangeInclusive<i32> = -131_072..=22;

/// The default level, the same as in zstd.
pub const DEFAULT_LEVEL: i32 = 3;

/// The largest contents of a frame that is decoded as a whole, in bytes. It bounds the memory of a program that holds
/// several frames, whatever sizes they claim.
pub const MAX_WHOLE: usize = 32 << 20;

/// The largest window in bytes that is accepted by default, the same as in zstd.
pub const DEFAULT_WINDOW_LIMIT: u64 = 128 << 20;

/// The largest window that can be requested, as the logarithm to base 2.
pub const MAX_WINDOW_LOG: u32 = 31;

/// Returns the contents of a block of a level in bytes; the last block of a file may be smaller. Each block is
/// compressed without the contents before it, which costs size, so a block is several times as large as the level's
/// window. Text and source files become at most 1 % larger than with `zstd -T2` (1.5.4): 0.4 to 0.6 % at level 3, 0.3
/// to 0.4 % at 6, 0.4 to 0.7 % at 9 and 12, 0.5 to 0.6 % at 19. With blocks of half the size they would become 1.2 to
/// 1.5 % larger at level 3, and 1.1 to 3 % at 19.
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

/// The magic number of a frame.
pub const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The magic number of a skippable frame, whose first byte may have any low half.
const SKIPPABLE: [u8; 4] = [0x50, 0x2a, 0x4d, 0x18];

/// The size of a skippable frame's header: the magic number and the size.
const SKIPPABLE_HEADER: usize = 8;

/// The size of a block's header in bytes.
const BLOCK_HEADER: usize = 3;

/// An empty block, the last one of its frame.
const LAST_BLOCK: [u8; BLOCK_HEADER] = [1, 0, 0];

/// The size of a frame's checksum in bytes.
const CHECKSUM: usize = 4;

/// The largest contents of a block in bytes.
const MAX_BLOCK: usize = 128 << 10;

/// Returns whether `start`, four bytes or fewer, can begin a skippable frame.
fn is_skippable(start: &[u8]) -> bool {
    start.iter().zip(SKIPPABLE).enumerate().all(|(at, (&found, expected))| match at {
        0 => found & 0xf0 == expected,
        _ => found == expected,
    })
}

/// Returns whether a file that begins with `start` is a series of frames of this format, as far as four bytes tell.
pub fn is_zstd(start: &[u8]) -> bool {
    start.len() >= 4 && (start.starts_with(&MAGIC) || is_skippable(&start[..4]))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*bytes[at..].first_chunk().expect("the number is there"))
}

//! The bzip2 file format, as blocks that can be encoded and decoded in parallel.
//!
//! A file is a series of streams; each is `BZh`, a digit, blocks, and an end. The format has no specification but the
//! reference implementation, bzip2 1.0. Joe Tsai describes it carefully in *BZIP2: Format Specification*. Numbers are
//! big-endian. Only the first four bytes of a stream are aligned to bytes:
//!
//! | bits | of a stream |
//! |--:|---|
//! | 32 | `BZh` and the [`Level`], `1` to `9` |
//! | ... | any number of blocks |
//! | 48 | the end: `17 72 45 38 50 90` |
//! | 32 | the checksum: for each block it is rotated left by a bit, and combined with the block's checksum by XOR |
//! | 0 to 7 | zeros, up to the next byte |
//!
//! | bits | of a block |
//! |--:|---|
//! | 48 | the start: `31 41 59 26 53 59` |
//! | 32 | the checksum of its contents: a CRC-32 that takes the highest bit of each byte first |
//! | 1 | 1 if the block is randomised, as bzip2 0.9.0 could do |
//! | 24 | the row of the block itself among its sorted rotations |
//! | 16 to 272 | the bytes that occur: a bit for each 16 byte values, and for each of those that is set, 16 bits |
//! | 3 | the number of code tables, 2 to 6 |
//! | 15 | the number of selectors, one for each 50 symbols |
//! | ... | the selectors: positions in a list that moves to front, in unary |
//! | ... | the tables: code lengths, each as a difference to the one before |
//! | ... | the symbols, and one that ends them |
//!
//! The symbols are positions in a list of bytes that moves to front; runs of the first position are numbers in two
//! digits of their own. The bytes are the last column of the block's sorted rotations. The block is a packed form of
//! the input, in which a count follows four equal bytes.
//!
//! Blocks do not depend on each other, so they are encoded in parallel and joined to one stream bit by bit
//! ([`StreamWriter`]). It has the size of bzip2's own output, because the input is cut at the same places ([`Cutter`]).
//! Any file is decoded in parallel: a [`Scanner`] finds all bits at which a block may begin, a [`Decoder`] decodes from
//! there, and an [`Assembler`] checks where blocks really begin.

mod assemble;
mod bits;
mod cut;
mod decode;
mod encode;
mod error;
mod huffman;
mod part;
mod read;
mod runs;
mod salvage;
mod scan;
mod sort;
mod table;
mod unsort;
mod write;

pub use assemble::Assembler;
pub use cut::{Cutter, Packed};
pub use decode::{Contents, Decoded, Decoder};
pub use encode::{EncodedBlock, Encoder};
pub use error::{DecodeError, Fault};
pub use read::{Reader, decode};
pub use salvage::Salvager;
pub use scan::{Scanner, Segment};
pub use write::StreamWriter;

/// The size of blocks: 1 to 9 times 100,000 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(u8);

impl Level {
    /// Blocks of 900,000 bytes, the default of bzip2, too.
    pub const BEST: Level = Level(9);

    /// Returns the level with a number from 1 to 9; `None` for any other number.
    pub fn new(level: u32) -> Option<Level> {
        (1..=9).contains(&level).then_some(Level(level as u8))
    }

    /// Returns the size of a packed block in bytes.
    pub fn block_size(self) -> usize {
        100_000 * usize::from(self.0)
    }

    /// Returns the digit in a stream's header.
    fn digit(self) -> u8 {
        b'0' + self.0
    }
}

impl Default for Level {
    fn default() -> Self {
        Level::BEST
    }
}

/// The 48 bits before a block.
const BLOCK_MAGIC: u64 = 0x3141_5926_5359;

/// The 48 bits before the end of a stream.
const END_MAGIC: u64 = 0x1772_4538_5090;

/// The number of symbols that share a code table.
const GROUP: usize = 50;

/// The largest number of code tables.
const MAX_TABLES: usize = 6;

/// The largest number of symbols: two digits for the first position, 255 other positions, and the end.
const MAX_SYMBOLS: usize = 258;

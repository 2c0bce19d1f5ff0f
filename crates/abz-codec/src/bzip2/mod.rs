//! The bzip2 file format, as blocks that can be made and read in parallel.
//!
//! A file is a series of streams; each is `BZh`, a digit, blocks, and an end. There is no specification but the
//! reference implementation, bzip2 1.0; a careful description is Joe Tsai's *BZIP2: Format Specification*. Numbers are
//! big-endian, and nothing after a stream's first four bytes begins at a byte's border:
//!
//! | bits | of a stream |
//! |--:|---|
//! | 32 | `BZh` and the [`Level`], `1` to `9` |
//! | ... | any number of blocks |
//! | 48 | the end: `17 72 45 38 50 90` |
//! | 32 | the checksum: for each block it is turned left by a bit, and the block's checksum is added without carry |
//! | 0 to 7 | zeros, up to the next byte |
//!
//! | bits | of a block |
//! |--:|---|
//! | 48 | the start: `31 41 59 26 53 59` |
//! | 32 | the checksum of its bytes: a CRC-32 that takes the highest bit first |
//! | 1 | 1 if the bytes are scrambled, as bzip2 0.9.0 could |
//! | 24 | in which row of the sorted rotations the block itself is |
//! | 16 to 272 | which bytes occur: which sixteenths of them, and of each of those which |
//! | 3 | the number of code tables, 2 to 6 |
//! | 15 | the number of selectors, one for each 50 symbols |
//! | ... | the selectors: positions in a list that moves to front, in unary |
//! | ... | the tables: code lengths, each as a difference to the one before |
//! | ... | the symbols, and one that ends them |
//!
//! The symbols are positions in a list of bytes that moves to front, where runs of the first position are numbers in
//! digits of their own; the bytes are the last column of the block's sorted rotations; and the block is a packed form
//! of the input, in which four equal bytes are followed by a count.
//!
//! Blocks do not depend on each other, so they are encoded in parallel, and one stream is made of them bit by bit
//! ([`StreamWriter`]). It is as large as that of bzip2, because the input is cut at the same places ([`Cutter`]). Any
//! file is decoded in parallel: a [`Scanner`] finds what looks like the start of a block at any bit, a [`Decoder`]
//! decodes from there, and an [`Assembler`] holds that against where a block must begin.

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

/// How large blocks are: 1 to 9 times 100,000 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(u8);

impl Level {
    /// The level that bzip2 has as its default too: blocks of 900,000 bytes.
    pub const BEST: Level = Level(9);

    /// A level of 1 to 9; `None` for any other number.
    pub fn new(level: u32) -> Option<Level> {
        (1..=9).contains(&level).then_some(Level(level as u8))
    }

    /// The size of a block in bytes, packed.
    pub fn block_size(self) -> usize {
        100_000 * usize::from(self.0)
    }

    /// The digit in a stream's header.
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

/// Symbols that share a code table.
const GROUP: usize = 50;

/// The most code tables.
const MAX_TABLES: usize = 6;

/// The most symbols: 256 positions of which the first is two digits, and the end.
const MAX_SYMBOLS: usize = 258;

//! The format of `compress`, whose files end with `.Z`. It is read, but not written.
//!
//! The format is LZW: each code stands for a string, and each code but the first adds a string to the table, the string
//! of the previous code with one more byte. The format has no specification but the programs; this is what `compress` 4
//! writes, and what GNU gzip 1.12 and ncompress 5 read. Numbers have their lowest bits first.
//!
//! | bytes | |
//! |--:|---|
//! | 2 | `1f 9d` |
//! | 1 | the width of the widest codes in bits, 9 to 16; with 128 added, code 256 clears the table |
//! | ... | codes of 9 bits, then of 10, and so on: they widen when the table has all strings that fit |
//!
//! Codes are written in groups of eight, so a group has as many bytes as a code has bits. When codes widen, or when the
//! table is cleared and they begin again with 9 bits, the rest of the group has no meaning. A full table stays
//! unchanged. Codes widen from 9 to 10 bits even if the header states a maximum of 9, as `compress` has always done.
//!
//! The format has no checksum and no end marker: a file that was cut gives the contents up to there, and a damaged one
//! may give wrong contents. Each code depends on all codes before it, so a [`Decoder`] works on one thread.

mod decode;
mod error;
mod read;

pub use decode::Decoder;
pub use error::{DecodeError, Fault};
pub use read::Reader;

/// The first bytes of a file.
pub const MAGIC: [u8; 2] = [0x1f, 0x9d];

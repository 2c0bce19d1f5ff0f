//! The format of `compress`, whose files end with `.Z`: read, and not written.
//!
//! It is LZW: each code stands for a string, and each code but the first adds a string to the table, that of the code
//! before it with one more byte. There is no specification but the programs; this is what `compress` 4 writes, and what
//! GNU gzip 1.12 and ncompress 5 read. Numbers have their lowest bits first.
//!
//! | bytes | |
//! |--:|---|
//! | 2 | `1f 9d` |
//! | 1 | the width of the widest codes in bits, 9 to 16; with 128 added, code 256 clears the table |
//! | ... | codes of 9 bits, then of 10, and so on: they widen when the table has all strings that fit |
//!
//! Codes were written in groups of eight, which are as many bytes as a code has bits. Where codes widen, or the table is
//! cleared and they begin anew with 9 bits, the rest of the group has no meaning. A full table stays as it is. Codes widen
//! from 9 to 10 bits even where 9 are the widest: `compress` has always done so.
//!
//! There is neither a checksum nor an end: a file that was cut gives what there is, and a damaged one may give other
//! data. One code depends on all before it, so a [`Decoder`] works on one thread.

mod decode;
mod error;
mod read;

pub use decode::Decoder;
pub use error::{DecodeError, Fault};
pub use read::Reader;

/// The first bytes of a file.
pub const MAGIC: [u8; 2] = [0x1f, 0x9d];

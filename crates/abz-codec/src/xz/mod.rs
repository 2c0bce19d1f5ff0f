//! The xz file format, as blocks that can be encoded and decoded in parallel.
//!
//! A file is a series of streams, between and behind which there may be padding. A stream is a header, blocks, an index
//! and a footer (*The .xz File Format*, version 1.2.1, whose sections this module cites). The header of a block states
//! its filters, and may state its sizes, compressed and uncompressed. An [`Encoder`] always states them, so that a
//! [`Scanner`] finds the next block without decoding, even in a pipe. The index repeats the sizes, and is compared with
//! the blocks.
//!
//! Blocks without sizes in their headers, such as those of `xz -T1`, are decoded by the scanner, one after another.
//!
//! The older format `.lzma` is read too. It is one LZMA stream with a header of 13 bytes and no check.

mod alone;
mod check;
mod decode;
mod encode;
mod error;
mod header;
mod index;
mod scan;
mod survey;
mod write;

pub use alone::{AloneEncoder, LZMA_HEADER_LEN, is_lzma};
pub use check::Check;
pub use decode::{Block, Decoder};
pub use encode::{EncodedBlock, Encoder, Finder, PortionEncoder, Settings, Tuning};
pub use error::{DecodeError, Fault, Part};
pub use header::MAGIC;
pub use scan::{Leniency, Scanner};
pub use survey::{Survey, parts};
pub use write::StreamWriter;

/// A reader of an xz or `.lzma` file on one thread.
pub type Reader<R> = crate::parts::Reader<R, Scanner>;

impl<R: std::io::Read> Reader<R> {
    /// Creates a reader of the file that `reader` gives.
    pub fn new(reader: R) -> Self {
        Reader::with(Scanner::new(), reader)
    }
}

//! The xz file format, as blocks that can be made and read in parallel.
//!
//! A file is a series of streams, between and behind which there may be padding; each is a header, blocks, an index and
//! a footer (*The .xz File Format*, version 1.2.1, whose sections are cited in this module). A block says in its header
//! how it was filtered, and may say how large it is, compressed and not; here it always does ([`Encoder`]), so that a
//! [`Scanner`] that has not decoded it knows where the next one begins, in a pipe too. The index says the same again, and
//! is held against what was there.
//!
//! Blocks whose headers say no sizes, as those of `xz -T1`, are decoded one after another where they are found.
//!
//! The older format `.lzma` is read too: one LZMA stream, with a header of 13 bytes and no check.

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
pub use encode::{EncodedBlock, Encoder, Settings};
pub use error::{DecodeError, Fault, Part};
pub use header::MAGIC;
pub use scan::{Leniency, Scanner};
pub use survey::{Survey, parts};
pub use write::StreamWriter;

/// Reads an xz or `.lzma` file on one thread.
pub type Reader<R> = crate::parts::Reader<R, Scanner>;

impl<R: std::io::Read> Reader<R> {
    /// Reads the file that `reader` gives.
    pub fn new(reader: R) -> Self {
        Reader::with(Scanner::new(), reader)
    }
}

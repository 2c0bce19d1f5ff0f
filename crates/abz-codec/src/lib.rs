//! Compressed formats over codec libraries: blocks of bytes are encoded as members, and members are decoded to bytes.
//!
//! Many threads can compress and decompress a file that consists of independent members. This crate has the parts for
//! that and starts no thread: cutting ([`Blocks`]), encoding a block ([`gzip::Encoder`], one for each worker) and
//! joining ([`gzip::Writer`]); splitting ([`gzip::Splitter`]) and decoding a member ([`gzip::Decoder`], one for each
//! worker). [`gzip::Scanner`] and [`gzip::Verifier`] are the two halves of the splitting, so that reading, inflating
//! and verifying can overlap. With [`gzip::Guess`] several threads inflate one long member. A plain loop, as here, or
//! a pipeline connects the parts.
//!
//! ```
//! use abz_codec::{Blocks, gzip};
//!
//! let text = b"a branch of a river that leaves the main stream and joins it again\n".repeat(1000);
//!
//! // Compress: cut, encode, join. Only encoding is slow, and it needs no other block.
//! let mut encoder = gzip::Encoder::new(6);
//! let mut file = gzip::Writer::new(Vec::new(), gzip::Layout::default());
//! for block in Blocks::new(&text[..], 16 * 1024) {
//!     let member = encoder.encode(&block?)?;
//!     file.write(&member)?;
//! }
//! let file = file.finish()?;
//! assert!(file.len() < text.len() / 10);
//!
//! // Decompress: split, decode, join. Any gzip file will do. Files that state where their parts are (those of several
//! // blocks made above, and BGZF) come as whole members, any other as data that is decoded already.
//! let mut decoder = gzip::Decoder::new();
//! let mut back = Vec::new();
//! for piece in gzip::Splitter::new(&file[..]) {
//!     match piece? {
//!         gzip::Piece::Member(member) => back.extend(decoder.decode(&member)?),
//!         gzip::Piece::Data(data) => back.extend(data),
//!     }
//! }
//! assert_eq!(back, text);
//!
//! // The same in one line, on one thread.
//! assert_eq!(std::io::read_to_string(gzip::Reader::new(&file[..]))?.as_bytes(), text);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The parts for bzip2 are similar: [`bzip2::Cutter`], [`bzip2::Encoder`] and [`bzip2::StreamWriter`] compress;
//! [`bzip2::Scanner`], [`bzip2::Decoder`] and [`bzip2::Assembler`] decode any file in parallel. [`lzw::Decoder`] reads
//! files of `compress` on one thread; [`legacy`] reads those of `pack`, `compress -H` and `zip`, also on one thread.
//! For Zstandard there are [`zstd::Encoder`] and [`zstd::FrameWriter`], [`zstd::Scanner`] and [`zstd::Decoder`].
//!
//! The parts for lzip are [`lzip::Encoder`], which encodes a block as a member, and [`lzip::Scanner`], which splits any
//! file into members. A scanner is a [`Scan`](parts::Scan), and [`parts::Reader`] is the plain loop around it. The
//! parts for xz are [`xz::Encoder`], [`xz::StreamWriter`] and [`xz::Scanner`].
//!
//! [`access`] decodes parts of a file by themselves. [`salvage`] finds the undamaged parts of a damaged file.
//!
//! # Guarantees
//!
//! - **Standard files.** Any reader of a format can read the files written here, and any file of the format can be read.
//! - **Same bytes.** The output depends only on the input, the level, the block size, and the name and time to store. It
//!   does not depend on the machine or on how the input arrives.
//! - **Checked first.** A whole member gives its bytes only after its checksum and its size were verified. (A member of
//!   unknown size is streamed: its bytes come as they are decoded, and an error, if any, at its end.)
//! - **Bounded memory.** No size that a file claims is trusted: a member that claims more than [`gzip::MAX_BLOCK`] is
//!   streamed through a small buffer, however much it expands.
//! - **Precise errors.** An error states the member, the byte offset, the expected value and the value found
//!   ([`gzip::DecodeError`]).
//!
//! # Limits
//!
//! - Each format is a feature, and all are default: `bzip2`, `gzip` (with zlib and zip), `lzma` (xz, lzip and `.lzma`) and `zstd`. Leave
//!   one out beside crates that link another version of its library, such as `xz2` for `lzma`.
//! - This crate opens no file, starts no thread and prints nothing.
// Without some formats, what they share has callers that are left out.
#![cfg_attr(not(all(feature = "bzip2", feature = "gzip", feature = "lzma", feature = "zstd")), allow(unused))]
#![deny(unsafe_code)]

pub mod access;
mod behind;
mod blocks;
#[cfg(feature = "bzip2")]
pub mod bzip2;
mod damage;
mod feed;
mod glance;
#[cfg(feature = "gzip")]
pub mod gzip;
#[cfg(feature = "gzip")]
pub mod inflate;
mod input;
pub mod legacy;
#[cfg(feature = "lzma")]
pub mod lzip;
#[cfg(feature = "lzma")]
mod lzma;
pub mod lzw;
mod memory;
pub mod parts;
pub mod salvage;
mod system;
#[cfg(feature = "lzma")]
pub mod xz;
#[cfg(feature = "zstd")]
pub mod zstd;

pub use blocks::{Block, Blocks, Cutter, DEFAULT_BLOCK_SIZE};
pub use damage::{Damage, DecodeError, Fault, MemberPart, Place, Remedy};
pub use memory::NoMemory;

/// Items for the program `abz` alone. Any of them may change or be removed in any version.
#[doc(hidden)]
pub mod program {
    pub use crate::system::{abort, descriptors, heap, mapped};
}

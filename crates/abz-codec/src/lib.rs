//! Block formats over codec libraries: bytes into blocks, blocks into members, and back.
//!
//! A compressed file that is made of independent members can be made and read by many threads at once. This
//! crate has the parts for that, and no thread: cutting ([`Blocks`]), encoding a block ([`gzip::Encoder`], one
//! for each worker), joining ([`gzip::Writer`]); splitting ([`gzip::Splitter`]) and decoding a member
//! ([`gzip::Decoder`], one for each worker). [`gzip::Scanner`] and [`gzip::Verifier`] are the splitting in its parts, so
//! that reading, inflating and verifying may overlap; with [`gzip::Guesser`] the inflating of one long member is shared, too. Between them may stand a plain loop, as here, or a pipeline.
//!
//! ```
//! use abz_codec::{Blocks, gzip};
//!
//! let text = b"a branch of a river that leaves the main stream and joins it again\n".repeat(1000);
//!
//! // Compress: cut, encode, join. Only the middle line is slow, and it needs no other block.
//! let mut encoder = gzip::Encoder::new(6);
//! let mut file = gzip::Writer::new(Vec::new(), gzip::Layout::default());
//! for block in Blocks::new(&text[..], 16 * 1024) {
//!     let member = encoder.encode(&block?)?;
//!     file.write(&member)?;
//! }
//! let file = file.finish()?;
//! assert!(file.len() < text.len() / 10);
//!
//! // Decompress: split, decode, join. Any gzip file will do; the ones that say where their parts are
//! // (those of several blocks made above, and BGZF) come as whole members, any other as data that is decoded already.
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
//! // The same in one line, where one thread will do.
//! assert_eq!(std::io::read_to_string(gzip::Reader::new(&file[..]))?.as_bytes(), text);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The parts for bzip2 are the same in kind: [`bzip2::Cutter`], [`bzip2::Encoder`], [`bzip2::StreamWriter`]; and
//! [`bzip2::Scanner`], [`bzip2::Decoder`], [`bzip2::Assembler`], which decode any file in parallel. Files of `compress`
//! are read by [`lzw::Decoder`], on one thread, and so are those of `pack`, `compress -H` and `zip` ([`legacy`]). For Zstandard there are [`zstd::Encoder`] and [`zstd::FrameWriter`];
//! [`zstd::Scanner`] and [`zstd::Decoder`].
//!
//! The parts for lzip are [`lzip::Encoder`], which makes a member of a block, and [`lzip::Scanner`], which cuts any file into
//! members and is a [`Scan`](parts::Scan): [`parts::Reader`] is the plain loop round it. Those for xz are
//! [`xz::Encoder`], [`xz::StreamWriter`] and [`xz::Scanner`].
//!
//! Parts of a file are decoded by themselves with what is in [`access`]. What is whole in a damaged file is found with
//! [`salvage`].
//!
//! # What it promises
//!
//! - **Standard files.** Every reader of the format reads what is written here; every file of the format can
//!   be read.
//! - **Same bytes.** What is written depends on the input, the level, the block size and the name and time to
//!   be stored, and on nothing else: not on the machine, nor on how the input arrived.
//! - **Checked first.** A whole member gives its bytes only after its checksum and its size were found right.
//!   (A member of unknown size is streamed: its bytes come as they are decoded, and a fault at its end.)
//! - **Bounded.** No size that a file claims is believed: a member that claims more than [`gzip::MAX_BLOCK`]
//!   is streamed through a small buffer, whatever it expands to.
//! - **Errors say where**: member, byte offset, what was expected, what was found ([`gzip::DecodeError`]).
//!
//! # What it does not
//!
//! - It opens no file, starts no thread, prints nothing. ([`mapped`] copies parts of files that are open.)
#![deny(unsafe_code)]

pub mod access;
mod behind;
mod blocks;
pub mod bzip2;
mod damage;
mod feed;
mod glance;
pub mod gzip;
pub mod inflate;
mod input;
pub mod legacy;
pub mod lzip;
mod lzma;
pub mod lzw;
mod memory;
pub mod parts;
pub mod salvage;
mod system;
pub mod xz;
pub mod zstd;

pub use blocks::{Block, Blocks, DEFAULT_BLOCK_SIZE};
pub use damage::{Damage, DecodeError, Fault, MemberPart, Place, Remedy};
pub use memory::NoMemory;
pub use system::{abort, descriptors, mapped};

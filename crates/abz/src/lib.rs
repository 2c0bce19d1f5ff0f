//! Compression and decompression of gzip, bzip2, lzip, xz and zstd files on all cores, for other programs. A [`Writer`] is
//! written to and a [`Reader`] is read from as a plain file is.
//!
//! ```
//! use std::io::{BufRead, Write};
//!
//! let mut writer = abz::Writer::new(Vec::new())?; // gzip, or another format by `WriterBuilder` or `Writer::create`
//! (0..1000).try_for_each(|number| writeln!(writer, "line {number}"))?;
//! let file = writer.finish()?;
//!
//! let reader = abz::Reader::new(&file[..])?; // any format
//! assert_eq!(reader.lines().nth(500).unwrap()?, "line 500");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! [`compress`] and [`decompress`] take a whole input at once, as the command `abz` does between opening its files and closing
//! them. [`RandomAccess`] decodes ranges of bytes or lines.
//!
//! ```
//! use abz::{Compression, Decompression, compress, decompress};
//!
//! let text = b"a branch of a river that leaves the main stream and joins it again\n".repeat(1000);
//! let mut file = Vec::new();
//! let done = compress(&text[..], &mut file, &Compression { level: 9, ..Compression::default() })?;
//! assert_eq!((done.read, done.written), (text.len() as u64, file.len() as u64));
//!
//! let mut back = Vec::new();
//! decompress(&file[..], &mut back, &Decompression::default())?;
//! assert_eq!(back, text);
//! # Ok::<(), abz::Error>(())
//! ```
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `command` | yes | the program `abz`, with all formats |
//! | `bzip2` | yes | the format bzip2 |
//! | `gzip` | yes | the formats gzip, zlib and zip |
//! | `lzma` | yes | the formats xz, lzip and `.lzma` |
//! | `zstd` | yes | the format zstd |
//! | `tokio` | no | `AsyncReader` and `AsyncWriter` |
//!
//! Cargo refuses two crates that link a library of one name. Beside a crate that links another version of a library, leave its format
//! out: set `default-features = false`, and name the features that you need.
//!
//! | leave out | beside | because both link |
//! |---|---|---|
//! | `gzip` | `libdeflater` before 1.0, and what needs it, such as gzp 0.11 with libdeflate | libdeflate |
//! | `lzma` | `xz2`, `lzma-sys`, `liblzma` before 0.4, and what needs them, such as needletail 0.5, niffler 2 and datafusion 50 | liblzma |
//! | `zstd` | `zstd` before 0.11 | libzstd |
//!
//! The crates of `bzip2` link no library that another crate may link, so it can stand beside each. A file of a format that is left out
//! is one of no known format. Without `gzip`, a [`Writer`] writes the first of the formats that are left, unless another one is set.
//!
//! # Guarantees
//!
//! - The output depends on the input and the settings, never on the number of workers.
//! - At most two blocks are in memory for each thread that works, however long the input is and however slow the output.
//! - When something fails, everything before it has been written, and nothing after it.
//!
//! # Limits
//!
//! [`Reader::open`], [`RandomAccess::open`] and [`Writer::create`] open files. Nothing else in this crate opens, renames or removes
//! any; the command does that.
// Without some formats, what they share has callers that are left out.
#![cfg_attr(not(all(feature = "bzip2", feature = "gzip", feature = "lzma", feature = "zstd")), allow(unused))]
#![forbid(unsafe_code)]

mod access;
#[cfg(feature = "tokio")]
mod asynchronous;
mod compression;
mod count;
mod decompression;
mod error;
mod format;
mod formats;
mod index;
mod index_builder;
mod pipes;
mod positional;
#[doc(hidden)]
pub mod program;
mod random_access;
mod reader;
mod recover;
mod recovery;
mod run;
mod run_options;
mod span;
mod speculation;
mod threads;
mod tools;
mod wait;
mod writer;
mod zeros;

pub use access::Spanned;
#[cfg(feature = "tokio")]
pub use asynchronous::{AsyncReader, AsyncWriter};
#[cfg(feature = "lzma")]
pub use compression::Lzma;
pub use compression::{Compressed, Compression, compress};
pub use decompression::{Decompressed, Decompression, decompress};
pub use error::Error;
pub use format::{Format, Setting};
pub use positional::ReadAt;
pub use random_access::RandomAccess;
pub use reader::{Reader, ReaderBuilder};
pub use span::Span;
pub use speculation::Speculation;
pub use tools::Tools;
pub use writer::{Writer, WriterBuilder};

/// The thread pool that many readers and writers can share.
pub use anabranch::Pool;

/// The index that [`Reader::index`] makes, and the error of a file that is not an index.
pub use abz_codec::access::{Index, IndexError};

/// The setting that says when [`Decompression`] gives out incomplete or unverified contents.
pub use abz_codec::parts::Giving;

#[cfg(feature = "bzip2")]
pub use abz_codec::bzip2;
#[cfg(feature = "gzip")]
pub use abz_codec::gzip;
#[cfg(feature = "zstd")]
pub use abz_codec::zstd;
/// The modules of the formats, with settings for [`Compression`] and the errors inside [`Error`].
pub use abz_codec::{DEFAULT_BLOCK_SIZE, Damage, NoMemory, Place, Remedy, legacy, lzw};
#[cfg(feature = "lzma")]
pub use abz_codec::{lzip, xz};

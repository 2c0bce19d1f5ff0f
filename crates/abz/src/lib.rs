//! Compression and decompression of gzip, bzip2, lzip, xz and zstd files on all cores: what the command `abz` does between
//! opening its files and closing them, for other programs.
//!
//! ```
//! use abz::{Compression, Decompression};
//!
//! let text = b"a branch of a river that leaves the main stream and joins it again\n".repeat(1000);
//! let mut file = Vec::new();
//! let done = Compression { level: 9, ..Compression::default() }.run(&text[..], &mut file)?;
//! assert_eq!((done.read, done.written), (text.len() as u64, file.len() as u64));
//!
//! let mut back = Vec::new();
//! Decompression::default().run(&file[..], &mut back)?;
//! assert_eq!(back, text);
//! # Ok::<(), abz::Error>(())
//! ```
//!
//! # What it promises
//!
//! - The output depends on the input and the settings, and never on the number of workers.
//! - At most [`window`](Compression::window) blocks are in memory at once, however long the input is and however
//!   slow the output.
//! - When something fails, everything before it has been written, and nothing after it.
//!
//! # What it does not
//!
//! It opens, renames and removes no file: that is the command's part, and its care.
#![forbid(unsafe_code)]

mod access;
mod alone;
mod compress;
mod conduct;
mod count;
mod decode;
mod decompress;
mod error;
mod formats;
mod index;
mod pipes;
mod places;
mod recover;
mod recovery;
mod run;
mod span;
mod speculation;
mod tally;
mod tools;
mod tries;

pub use access::Spanned;
pub use conduct::{Conduct, at_work};
pub use decompress::{Decompressed, Decompression};
pub use error::Error;
pub use formats::writes::{Compressed, Compression, Lzma};
pub use formats::{Format, Setting, Written};
pub use places::{ReadAt, Reading, WriteAt, Writing};
pub use recover::Recovery;
pub use recovery::{Gap, Recovered};
pub use span::Span;
pub use speculation::{Expected, Speculation};
pub use tools::Tools;

/// Threads for [`Conduct`], what it tells of a run, and what is told before one.
pub use anabranch::{Plan, Pool, Report};

/// What [`Decompression::index`] makes, and why a file is none.
pub use abz_codec::access::{Index, IndexError};

/// What [`Decompression`] gives out before all is verified.
pub use abz_codec::parts::Giving;

/// The formats, for what [`Compression`] needs of them and what [`Error`] tells of them.
pub use abz_codec::{
    DEFAULT_BLOCK_SIZE, Damage, NoMemory, Place, Remedy, abort, bzip2, descriptors, gzip, legacy, lzip, lzw,
    mapped, xz, zstd,
};

//! Items for the program `abz`, the module for Python and the measurements alone. Any of them may change or be removed in any
//! version.

use std::io::{self, Read};

pub use abz_codec::program::{abort, descriptors, heap, mapped};
pub use anabranch::{Plan, Report};

pub use crate::access::copy_span;
use crate::compression::Compression;
pub use crate::compression::{compress_io, compress_with, limit_memory_and_dictionary, plan_to_compress};
use crate::decompression::Decompression;
pub use crate::decompression::{decompress_at, decompress_with, in_two_tries, plan_to_decompress};
use crate::format::Format;
pub use crate::formats::{Facts, contents, facts, format_named, format_of_archive};
pub use crate::index::{decompress_indexed, decompress_indexing, make_index, plan_to_decompress_indexed};
pub use crate::positional::{Reading, WriteAt, Writing};
pub use crate::recover::Recovery;
pub use crate::recovery::{Gap, Recovered};
pub use crate::run_options::{RunOptions, at_work};
pub use crate::speculation::Expected;

/// The number of bytes at the start of a file that are enough to detect its format.
pub const MAGIC_LEN: usize = Format::MAGIC_LEN;

/// Detects the format of `input`. Returns the format, if it is a known one, and a reader of the whole input.
///
/// # Errors
///
/// The error of the reader.
pub fn sniff<R: Read>(input: R) -> io::Result<(Option<Format>, impl Read + use<R>)> {
    Format::sniff(input)
}

/// The maximum size of a block in bytes, with these settings.
///
/// # Panics
///
/// If a setting is out of its range.
pub fn block_len(settings: &Compression) -> usize {
    settings.block_len()
}

/// Reduces the number of workers until about `limit` bytes of memory are enough for them and their blocks.
///
/// # Errors
///
/// If `limit` is too low for one worker. The error is the number of bytes that one worker needs.
///
/// # Panics
///
/// If a setting is out of its range.
pub fn limit_memory(settings: &mut Compression, limit: u64) -> Result<(), u64> {
    settings.limit_memory(limit)
}

/// The number of workers that may decode gzip or bzip2 within the memory limit.
pub fn workers_within(settings: &Decompression) -> usize {
    settings.workers_within()
}

//! The trait of formats that are written, and the settings of a compression.

use std::fmt;
use std::io::{Read, Write};
use std::ops::RangeInclusive;

use abz_codec::gzip::{Layout, Origin};
use abz_codec::zstd::Encoding;
use abz_codec::{Blocks, xz};
use anabranch::Plan;

use super::reads::Reads;
use crate::error::Error;
use crate::places::{Reading, Writing};
use crate::run_options::RunOptions;
use crate::tools::Tools;

/// Settings of a compression. The output depends on all of them except `workers`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compression {
    /// The format to write.
    pub format: Written,
    /// The level, one of [`Written::levels`].
    pub level: u32,
    /// Replaces `level` with the negative level `-fast`, for zstd: 1 to [`MAX_FAST`](Compression::MAX_FAST). Higher
    /// values are faster and make larger files.
    pub fast: Option<u32>,
    /// The number of bytes of input in a block, at least 1; for gzip at most
    /// [`gzip::MAX_BLOCK`](crate::gzip::MAX_BLOCK). `None` selects a size for the format and level. The block size of
    /// bzip2 depends on the level only.
    pub block_size: Option<usize>,
    /// Cuts blocks by content instead of at equal sizes, so that a local change of the input changes only the output
    /// around it ([`Blocks::by_content`]). Not for bzip2.
    pub rsyncable: bool,
    /// The layout of a gzip file. BGZF, used in bioinformatics, has members of at most 64 KiB that store no name and
    /// no time. [`Written::ZLIB`] and [`Written::ZIP`] have their own layouts.
    pub layout: Layout,
    /// Settings of LZMA, for lzip and xz.
    pub lzma: Lzma,
    /// Settings of zstd.
    pub zstd: Encoding,
    /// The file name and time that the header of a gzip file stores.
    pub origin: Origin,
    /// The size of the input in bytes, if known. The header of a zstd frame records it, which some readers need. A
    /// longer input is compressed completely; a shorter one is an error if the header has recorded the size.
    pub contents: Option<u64>,
    /// The number of worker threads, including the caller's; at least 1. [`at_work`](crate::at_work) returns how many
    /// of them run at once.
    pub workers: usize,
}

/// Settings of LZMA beside the level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lzma {
    /// The size of the dictionary in bytes, 4 KiB to 512 MiB. `None` leaves it to the level.
    pub dictionary_size: Option<u32>,
    /// The match length limit in bytes, 5 to 273, for lzip. `None` leaves it to the level.
    pub match_length: Option<u32>,
    /// Takes more time to make slightly smaller files at the same level, for xz.
    pub extreme: bool,
    /// The type of the check of each block, for xz.
    pub check: xz::Check,
}

/// The result of [`Compression::run`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compressed {
    /// The number of bytes read.
    pub read: u64,
    /// The number of bytes written.
    pub written: u64,
}

/// A format that is also written.
pub(crate) trait Writes: Reads {
    /// Returns the levels, from the fastest on.
    fn levels(&self) -> RangeInclusive<u32>;

    /// Returns the default level.
    fn default_level(&self) -> u32;

    /// Returns `true` if the format has this setting.
    fn has(&self, setting: Setting) -> bool;

    /// Returns the largest size of a block in bytes.
    fn block_len(&self, how: &Compression) -> usize;

    /// Returns the largest block size in bytes, if there is a limit.
    fn largest_block(&self) -> Option<usize> {
        None
    }

    /// Returns the size of the dictionary in bytes, if it can be lowered.
    fn dictionary(&self, _how: &Compression) -> Option<u32> {
        None
    }

    /// Returns the approximate memory of an encoder in bytes.
    fn memory(&self, how: &Compression) -> u64;

    /// Returns the number of encoders.
    fn encoders(&self, how: &Compression) -> usize {
        how.workers
    }

    /// Returns the largest number of blocks in memory at once, whether encoded or not.
    fn most_blocks(&self, how: &Compression) -> usize {
        self.window(how.workers)
    }

    /// Returns `true` if workers can write their blocks at offsets.
    fn is_written_at(&self) -> bool {
        false
    }

    /// Returns `true` if workers can read their blocks at offsets.
    fn blocks_are_read_at(&self) -> bool {
        false
    }

    /// Returns `true` if files store [`Compression::origin`].
    fn tells_origin(&self) -> bool {
        false
    }

    /// Returns `true` if the format's suffix on an archive's name implies a tar archive in this format.
    fn holds_archives(&self) -> bool {
        true
    }

    /// Returns `false` if the compressed data is the same as that of another format, and so its size and speed.
    fn has_data_of_its_own(&self) -> bool {
        true
    }

    /// Compresses `input` to a file. `output` may be [`Writing::Places`] only if
    /// [`is_written_at`](Self::is_written_at) holds.
    fn compress(
        &self,
        how: &Compression,
        options: RunOptions<'_>,
        input: Reading<'_>,
        output: Writing<'_>,
    ) -> Result<Compressed, Error>;

    /// Compresses `input` to a file on the calling thread.
    fn compress_alone(
        &self,
        how: &Compression,
        tools: &mut Tools,
        input: &mut dyn Read,
        output: &mut dyn Write,
    ) -> Result<(), Error>;

    /// Returns the plan of [`compress`](Self::compress).
    fn plan_to_write(&self, how: &Compression) -> Plan;
}

/// A setting of [`Compression`] that not all formats have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Setting {
    /// [`Compression::fast`].
    Fast,
    /// [`Compression::block_size`].
    BlockSize,
    /// [`Compression::rsyncable`].
    Rsyncable,
    /// [`Compression::layout`].
    Layout,
    /// [`Lzma::dictionary_size`](crate::Lzma::dictionary_size).
    DictionarySize,
    /// [`Lzma::match_length`](crate::Lzma::match_length).
    MatchLength,
    /// [`Lzma::extreme`](crate::Lzma::extreme).
    Extreme,
    /// [`Lzma::check`](crate::Lzma::check).
    Check,
    /// [`Compression::zstd`].
    Zstd,
}

/// A format of compressed files that can be written.
#[derive(Clone, Copy)]
pub struct Written(pub(super) &'static dyn Writes);

impl Written {
    /// Returns the implementation that writes this format.
    pub(crate) fn writes(self) -> &'static dyn Writes {
        self.0
    }
}

impl Compression {
    /// Returns the size of the dictionary in bytes, for lzip and xz.
    pub(crate) fn dictionary(&self) -> Option<u32> {
        self.format.writes().dictionary(self)
    }

    /// Returns the approximate memory in bytes: that of the encoders, usually one for each worker, and of the window
    /// of blocks.
    pub(crate) fn memory(&self) -> u64 {
        let (writes, blocks) = (self.format.writes(), self.window() as u64 * self.block_len() as u64);
        writes.encoders(self) as u64 * writes.memory(self) + blocks
    }

    /// Cuts `input` into blocks.
    pub(crate) fn blocks<R: Read>(&self, input: R) -> Blocks<R> {
        match self.rsyncable {
            true => Blocks::by_content(input, self.block_len()),
            false => Blocks::new(input, self.block_len()),
        }
    }

    /// Returns the largest size of a block in bytes.
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub fn block_len(&self) -> usize {
        self.format.writes().block_len(self)
    }

    /// Returns the largest number of blocks in memory at once: two for each worker, one being encoded and one that
    /// waits to be encoded or written. For lzip and xz, whose blocks are large, only one waits for all workers, and a
    /// single worker of xz has one block.
    pub fn window(&self) -> usize {
        self.format.writes().most_blocks(self)
    }
}

impl PartialEq for Written {
    fn eq(&self, other: &Self) -> bool {
        self.0.names().name == other.0.names().name
    }
}

impl Eq for Written {}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0.names().name)
    }
}

impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Written").field(&self.0.names().name).finish()
    }
}

//! The interface of a format that is written, and the settings of a compression.

use std::ops::RangeInclusive;

#[cfg(feature = "gzip")]
use abz_codec::gzip::{Layout, Origin};
#[cfg(feature = "lzma")]
use abz_codec::xz;
#[cfg(feature = "zstd")]
use abz_codec::zstd::Encoding;
use anabranch::{Plan, Pool};

use super::Format;
use super::reads::Reads;
use crate::error::Error;
use crate::pipes;
use crate::pipes::encode::Steps;
use crate::positional::{Reading, Writing};
use crate::run_options::{Equipment, RunOptions};

/// The settings of a compression. All of them but `workers` affect the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compression {
    /// The format of the output, one of [`Format::written`].
    pub format: Format,
    /// The level, one of [`Format::levels`].
    pub level: u32,
    /// A negative level of zstd, without its sign, that replaces `level`: 1 to [`MAX_FAST`](Compression::MAX_FAST).
    /// Greater numbers are faster and make larger files.
    pub fast: Option<u32>,
    /// The number of bytes of input in a block, at least 1; for gzip at most
    /// [`gzip::MAX_BLOCK`](crate::gzip::MAX_BLOCK). By default, it depends on the format and the level. For bzip2, the
    /// level always sets it.
    pub block_size: Option<usize>,
    /// Cuts blocks at places that their contents determine, instead of after equal sizes. A change of the input then
    /// changes the output only around it ([`Cutter::by_content`](abz_codec::Cutter::by_content)). bzip2 and `.lzma` ignore it.
    pub rsyncable: bool,
    /// The layout of gzip files. Bioinformatics uses BGZF: members of at most 64 KiB, which record no name and no time.
    /// [`Format::Zlib`] and [`Format::Zip`] set their own layouts.
    #[cfg(feature = "gzip")]
    pub layout: Layout,
    /// Settings of lzip and xz beside their levels.
    #[cfg(feature = "lzma")]
    pub lzma: Lzma,
    /// Settings of zstd frames.
    #[cfg(feature = "zstd")]
    pub zstd: Encoding,
    /// The name and the time that a gzip file records.
    #[cfg(feature = "gzip")]
    pub origin: Origin,
    /// The size of the input in bytes, if it is known. The header of a zstd frame records it, which some readers need.
    /// If the input turns out to be larger, all of it is compressed nevertheless. If it turns out to be smaller and the
    /// header records the size, that is an error. A patch of zstd needs the exact size.
    pub contents: Option<u64>,
    /// The number of threads that work, including the caller's; at least 1. [`at_work`](crate::at_work) says how many
    /// work at once.
    pub workers: usize,
}

/// Settings of the formats of LZMA beside a level.
#[cfg(feature = "lzma")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lzma {
    /// The size of the dictionary in bytes, 4 KiB to 512 MiB: how far back matches are looked for. By default, the
    /// level sets it.
    pub dictionary_size: Option<u32>,
    /// The match length in bytes at which the search ends, 5 to 273, for lzip. By default, the level sets it.
    pub match_length: Option<u32>,
    /// Takes more time to make files of the same level a little smaller, for xz and `.lzma`.
    pub extreme: bool,
    /// The check of each block, for xz.
    pub check: xz::Check,
    /// The settings that replace those of the level, for xz and `.lzma`.
    pub tuning: xz::Tuning,
}

/// The result of [`Compression::run`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compressed {
    /// The number of bytes read.
    pub read: u64,
    /// The number of bytes written.
    pub written: u64,
}

/// A format that is written as well as read.
pub(crate) trait Writes: Reads {
    /// The levels, from the fastest to the one with the smallest files.
    fn levels(&self) -> RangeInclusive<u32>;

    /// The default level.
    fn default_level(&self) -> u32;

    /// Returns true if the format has this setting.
    fn has(&self, setting: Setting) -> bool;

    /// The maximum size of a block in bytes, with these settings.
    fn block_len(&self, how: &Compression) -> usize;

    /// The maximum size of a block in bytes, if there is one.
    fn largest_block(&self) -> Option<usize> {
        None
    }

    /// The size of the LZMA dictionary in bytes, if the format has one.
    fn dictionary(&self, _how: &Compression) -> Option<u32> {
        None
    }

    /// The approximate memory of an encoder in bytes.
    fn memory(&self, how: &Compression) -> u64;

    /// The number of encoders.
    fn encoders(&self, how: &Compression) -> usize {
        how.workers
    }

    /// The maximum number of blocks in memory at once, plain or encoded.
    fn most_blocks(&self, how: &Compression) -> usize {
        self.window(how.workers)
    }

    /// Returns true if workers can write their blocks at their offsets.
    fn is_written_at(&self) -> bool {
        false
    }

    /// Returns true if workers can read their blocks at their offsets.
    fn blocks_are_read_at(&self) -> bool {
        false
    }

    /// Returns true if files record [`Compression::origin`].
    fn tells_origin(&self) -> bool {
        false
    }

    /// Returns true if a name that ends with the format's suffix denotes a tar archive compressed in it.
    fn holds_archives(&self) -> bool {
        true
    }

    /// Returns false if its compressed data is that of another format, and therefore as large and as quick to make.
    fn has_data_of_its_own(&self) -> bool {
        true
    }

    /// Returns the steps in which a file is made.
    fn encode_steps<'a>(&self, how: Compression, equipment: Equipment<'a>) -> Steps<'a>;

    /// Makes a file. `output` may be [`Writing::Positional`] only if [`is_written_at`](Self::is_written_at) is true.
    fn compress<'a>(
        &self,
        how: &'a Compression,
        options: &RunOptions<'a>,
        input: Reading<'a>,
        output: Writing<'_>,
    ) -> Result<Compressed, Error> {
        let steps = self.encode_steps(how.clone(), options.equipment());
        steps.run(how.threads(options.pool), options, input, output)
    }

    /// Returns the plan of [`compress`](Self::compress).
    fn plan_to_write(&self, how: &Compression) -> Plan {
        self.encode_steps(how.clone(), Equipment::default()).plan(how.threads(None))
    }
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

impl Compression {
    /// The implementation of the format.
    ///
    /// # Panics
    ///
    /// If the format is only read.
    pub(crate) fn writes(&self) -> &'static dyn Writes {
        self.format.writes().unwrap_or_else(|| panic!("{} is only read", self.format))
    }

    /// The size of the LZMA dictionary in bytes, if the format has one.
    pub(crate) fn dictionary(&self) -> Option<u32> {
        self.writes().dictionary(self)
    }

    /// Sets the size of the LZMA dictionary in bytes, for a format that has one.
    pub(crate) fn set_dictionary(&mut self, _size: u32) {
        #[cfg(feature = "lzma")]
        (self.lzma.dictionary_size = Some(_size));
    }

    /// The approximate memory of the compression in bytes: that of its encoders, and that of the blocks in memory at
    /// once.
    pub(crate) fn memory(&self) -> u64 {
        let (writes, blocks) = (self.writes(), self.window() as u64 * self.block_len() as u64);
        writes.encoders(self) as u64 * writes.memory(self) + blocks
    }

    /// The settings of the stream.
    pub(crate) fn threads<'a>(&self, pool: Option<&'a Pool>) -> pipes::Threads<'a> {
        let window = self.window();
        pipes::Threads { workers: self.workers.min(window), window, pool }
    }

    /// The maximum size of a block in bytes, with these settings.
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub fn block_len(&self) -> usize {
        self.writes().block_len(self)
    }

    /// The maximum number of blocks in memory at once: two for each worker that is at work, of which one is being
    /// encoded and one waits. lzip and xz, whose blocks are large, have one for each worker and one that waits; xz with
    /// one worker has one.
    pub fn window(&self) -> usize {
        self.writes().most_blocks(self)
    }
}

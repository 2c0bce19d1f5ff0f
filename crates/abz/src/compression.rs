//! Compression: plain data in, a compressed file out. Its settings, and its run.

use std::io::{Read, Write};

#[cfg(feature = "gzip")]
use abz_codec::gzip::{Layout, Origin};
#[cfg(feature = "lzma")]
use abz_codec::xz;
#[cfg(feature = "zstd")]
use abz_codec::zstd::{self, Encoding};
use anabranch::{Plan, Pool};

use crate::error::Error;
use crate::format::Format;
use crate::pipes;
use crate::positional::{Reading, Writing};
use crate::run_options::{RunOptions, cores};

/// The smallest dictionary that a memory limit leads to, in bytes; also the step by which dictionaries shrink.
const LEAST_ADJUSTED: u32 = 1 << 20;

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

impl Default for Compression {
    /// gzip at level 6, blocks of 1.25 MiB, no name or time, and as many workers as the process may use cores. Without gzip,
    /// another [format](Format::default) at its default level.
    fn default() -> Self {
        Compression {
            format: Format::default(),
            level: Format::default().default_level(),
            fast: None,
            block_size: None,
            rsyncable: false,
            #[cfg(feature = "gzip")]
            layout: Layout::default(),
            #[cfg(feature = "lzma")]
            lzma: Lzma::default(),
            #[cfg(feature = "zstd")]
            zstd: Encoding::default(),
            #[cfg(feature = "gzip")]
            origin: Origin::default(),
            contents: None,
            workers: cores(),
        }
    }
}

impl Compression {
    /// The largest value of [`fast`](Compression::fast): how far the levels of zstd go below 0.
    #[cfg(feature = "zstd")]
    pub const MAX_FAST: u32 = zstd::LEVELS.start().unsigned_abs();

    /// Compresses all of `input` and writes one compressed file to `output`.
    ///
    /// # Errors
    ///
    /// If the input cannot be read or the output cannot be written. The output is then incomplete.
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub fn run(&self, input: impl Read + Send, output: impl Write + Send) -> Result<Compressed, Error> {
        self.run_with(RunOptions::default(), input, output)
    }

    /// As [`run`](Compression::run), with the threads, progress and report that `options` sets.
    ///
    /// # Errors
    ///
    /// As [`run`](Compression::run).
    ///
    /// # Panics
    ///
    /// As [`run`](Compression::run).
    pub fn run_with(
        &self,
        options: RunOptions<'_>,
        mut input: impl Read + Send,
        mut output: impl Write + Send,
    ) -> Result<Compressed, Error> {
        self.run_io(options, Reading::Stream(&mut input), Writing::Stream(&mut output))
    }

    /// As [`run_with`](Compression::run_with), with input and output as streams or at offsets; the compressed bytes are
    /// the same. Workers read the blocks of gzip at their offsets. Blocks of other formats, and blocks cut by
    /// content, begin where the one before ends, and are read one after another.
    ///
    /// # Errors
    ///
    /// As [`run_with`](Compression::run_with).
    ///
    /// # Panics
    ///
    /// As [`run_with`](Compression::run_with), and if `output` is [`Writing::Positional`] for a format that
    /// [cannot](Compression::can_write_at) be written at offsets.
    pub fn run_io(
        &self,
        options: RunOptions<'_>,
        input: Reading<'_>,
        output: Writing<'_>,
    ) -> Result<Compressed, Error> {
        let is_in_order = matches!(output, Writing::Stream(_));
        assert!(is_in_order || self.can_write_at(), "{} is written in order", self.format);
        match options.tools {
            Some(_) if self.workers > 1 => {
                let alone = Compression { workers: 1, ..self.clone() };
                alone.run_io(options, input, output)
            }
            _ => self.writes().compress(self, &options, input.shortened(), output),
        }
    }

    /// Returns whether workers can write parts of this format at their offsets ([`Writing::Positional`]).
    pub fn can_write_at(&self) -> bool {
        self.writes().is_written_at()
    }

    /// Returns whether workers can read blocks of this format at their offsets ([`Reading::Positional`]).
    pub fn can_read_at(&self) -> bool {
        self.writes().blocks_are_read_at()
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
    pub fn limit_memory(&mut self, limit: u64) -> Result<(), u64> {
        loop {
            match self.memory() {
                needed if needed <= limit => return Ok(()),
                needed if self.workers == 1 => return Err(needed),
                _ => self.workers -= 1,
            }
        }
    }

    /// As [`limit_memory`](Self::limit_memory). If one worker needs more than `limit`, lzip and xz also get smaller
    /// blocks if no size was set, and then a smaller dictionary, in steps of 1 MiB as in xz. That changes the output.
    /// Returns the size of the dictionary in bytes, before and after, if it was reduced.
    ///
    /// # Errors
    ///
    /// If `limit` is too low for one worker with a dictionary of 1 MiB, or without one if the format has none. The
    /// error is the number of bytes that would be enough.
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub fn limit_memory_and_dictionary(&mut self, limit: u64) -> Result<Option<(u32, u32)>, u64> {
        let Err(needed) = self.limit_memory(limit) else { return Ok(None) };
        let Some(before) = self.dictionary() else { return Err(needed) };
        let wanted = self.clone();
        let mut dictionary = before;
        loop {
            self.set_dictionary(dictionary);
            if wanted.block_size.is_none() {
                // A block smaller than the dictionary makes no use of all of it.
                let least = (dictionary as usize).max(1 << 20);
                self.block_size = None;
                let usual = self.block_len().max(least);
                self.block_size = Some(least);
                let left = limit.saturating_sub(self.memory()) / self.window() as u64;
                self.block_size = Some(usual.min(least + left as usize));
            }
            if self.memory() <= limit {
                return Ok((dictionary < before).then_some((before, dictionary)));
            }
            if dictionary <= LEAST_ADJUSTED {
                let least = self.memory();
                *self = wanted;
                return Err(least);
            }
            dictionary = (dictionary - 1) & !(LEAST_ADJUSTED - 1);
        }
    }

    /// The plan of [`run`](Compression::run), without running it.
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub fn plan(&self) -> Plan {
        self.writes().plan_to_write(self)
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

//! Compression: plain data in, a compressed file out.

use std::io::{Read, Write};

use anabranch::Plan;

use crate::error::Error;
use crate::formats::Format;
#[cfg(feature = "lzma")]
use crate::formats::writes::Lzma;
use crate::formats::writes::{Compressed, Compression};
#[cfg(feature = "gzip")]
use crate::gzip::{Layout, Origin};
use crate::positional::{Reading, Writing};
use crate::run_options::RunOptions;
use crate::run_options::cores;
#[cfg(feature = "zstd")]
use crate::zstd::{self, Encoding};

/// The smallest dictionary that a memory limit leads to, in bytes; also the step by which dictionaries shrink.
const LEAST_ADJUSTED: u32 = 1 << 20;

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
}

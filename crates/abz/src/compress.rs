//! Plain data in, a compressed file out.

use std::io::{Read, Write};

use abz_codec::gzip::{Layout, Origin};
use abz_codec::zstd;
use abz_codec::zstd::Encoding;
use anabranch::Plan;

use crate::conduct::Conduct;
use crate::error::Error;
use crate::formats::Written;
use crate::formats::writes::{Compressed, Compression, Lzma};
use crate::places::{Reading, Writing};

/// The smallest dictionary that a limit of memory leads to, in bytes, and the step on the way there.
const LEAST_ADJUSTED: u32 = 1 << 20;

impl Default for Compression {
    /// gzip at level 6, blocks of 1.25 MiB, nothing told, as many workers as the process may use cores.
    fn default() -> Self {
        Compression {
            format: Written::GZIP,
            level: Written::GZIP.default_level(),
            fast: None,
            block_size: None,
            rsyncable: false,
            layout: Layout::default(),
            lzma: Lzma::default(),
            zstd: Encoding::default(),
            origin: Origin::default(),
            contents: None,
            workers: anabranch::default_workers(),
        }
    }
}

impl Compression {
    /// How far below 0 levels of zstd go.
    pub const MAX_FAST: u32 = zstd::LEVELS.start().unsigned_abs();

    /// Compresses all of `input` to one file on `output`.
    ///
    /// # Errors
    ///
    /// If the input cannot be read or the output not written. What was written by then is no whole file.
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub fn run(&self, input: impl Read + Send, output: impl Write + Send) -> Result<Compressed, Error> {
        self.conduct(Conduct::default(), input, output)
    }

    /// As [`run`](Compression::run), carried out and watched as `conduct` says.
    ///
    /// # Errors
    ///
    /// As [`run`](Compression::run).
    ///
    /// # Panics
    ///
    /// As [`run`](Compression::run).
    pub fn conduct(
        &self,
        conduct: Conduct<'_>,
        mut input: impl Read + Send,
        mut output: impl Write + Send,
    ) -> Result<Compressed, Error> {
        self.conduct_by(conduct, Reading::Stream(&mut input), Writing::Stream(&mut output))
    }

    /// As [`conduct`](Compression::conduct), with the same output, read and written in the given ways. The blocks of gzip
    /// are read where they lie; those of other formats, and those that are cut by their contents, begin where the one before
    /// ends, and are read one after another.
    ///
    /// # Errors
    ///
    /// As [`conduct`](Compression::conduct).
    ///
    /// # Panics
    ///
    /// As [`conduct`](Compression::conduct), and where parts are to be written of a format of which they
    /// [cannot](Compression::can_write_at).
    pub fn conduct_by(
        &self,
        conduct: Conduct<'_>,
        input: Reading<'_>,
        output: Writing<'_>,
    ) -> Result<Compressed, Error> {
        self.format.writes().compress(self, conduct, input, output)
    }

    /// Whether workers can write this format where it belongs.
    pub fn can_write_at(&self) -> bool {
        self.format.writes().is_written_at()
    }

    /// Whether workers can read blocks of this format where they lie.
    pub fn can_read_at(&self) -> bool {
        self.format.writes().blocks_are_read_at()
    }

    /// Takes fewer workers, so that about `limit` bytes of memory are enough for them and their blocks.
    ///
    /// # Errors
    ///
    /// If they are not enough for one worker: how many are.
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

    /// As [`limit_memory`](Self::limit_memory); where one worker needs more, lzip and xz get smaller blocks if no size was
    /// set, and then a smaller dictionary, in steps of 1 MiB as in xz. Other bytes come out then. Gives the size of the
    /// dictionary, before and after, if it is smaller.
    ///
    /// # Errors
    ///
    /// If `limit` is not enough for one worker with a dictionary of 1 MiB, or it has none: how many bytes are.
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
            self.lzma.dictionary_size = Some(dictionary);
            if wanted.block_size.is_none() {
                // A block that is no larger than the dictionary makes no use of it.
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

    /// The plan that [`run`](Compression::run) would run.
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub fn plan(&self) -> Plan {
        self.format.writes().plan_to_write(self)
    }
}

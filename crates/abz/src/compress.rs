//! Plain data in, a compressed file out.

use std::io::{Read, Write};

use abz_codec::gzip::{Layout, Origin};
use abz_codec::zstd::Encoding;
use abz_codec::{Blocks, xz, zstd};
use anabranch::Plan;

use crate::conduct::Conduct;
use crate::error::Error;
use crate::formats::Written;
use crate::places::{Reading, Writing};

/// How to compress. All but `workers` decides what comes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compression {
    /// What to make.
    pub format: Written,
    /// One of [`Written::levels`].
    pub level: u32,
    /// Instead of the level, so many below 0, for zstd: 1 to [`MAX_FAST`](Compression::MAX_FAST). Each is faster than the one
    /// above it, and makes larger files.
    pub fast: Option<u32>,
    /// Bytes of input in a block, at least 1, of gzip at most [`gzip::MAX_BLOCK`](crate::gzip::MAX_BLOCK), if it is not to
    /// be what suits the format and its level. A block of bzip2 is as large as its level says.
    pub block_size: Option<usize>,
    /// Cut blocks where their contents say so, and not after equal sizes: a change then changes the output around it, and
    /// no more ([`Blocks::by_content`]). bzip2 cannot do it.
    pub rsyncable: bool,
    /// What files of gzip are made of. For bioinformatics it is BGZF: members of at most 64 KiB, which tell no name and no
    /// time. [`Written::ZLIB`] and [`Written::ZIP`] have the layouts of their names.
    pub layout: Layout,
    /// What lzip and xz have beside their levels.
    pub lzma: Lzma,
    /// How frames of zstd are made.
    pub zstd: Encoding,
    /// The name and the time that a file of gzip tells.
    pub origin: Origin,
    /// The size of the input in bytes, if it is known: the header of a frame of zstd says it, which some readers need. An input
    /// that has more is compressed as a whole, and one that has less is an error where the header says it.
    pub contents: Option<u64>,
    /// Threads that work, the caller's among them; at least 1.
    pub workers: usize,
}

/// The smallest dictionary that a limit of memory leads to, in bytes, and the step on the way there.
const LEAST_ADJUSTED: u32 = 1 << 20;

/// What the formats of LZMA have beside a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lzma {
    /// How far back to look for what repeats, in bytes, 4 KiB to 512 MiB, if it is not to be what the level says.
    pub dictionary_size: Option<u32>,
    /// How long a match is long enough, in bytes, 5 to 273, if it is not to be what the level says. For lzip.
    pub match_length: Option<u32>,
    /// Take more time to make the same level's files a little smaller. For xz.
    pub extreme: bool,
    /// The check of each block. For xz.
    pub check: xz::Check,
}

/// What [`Compression::run`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compressed {
    /// Bytes of input.
    pub read: u64,
    /// Bytes of output.
    pub written: u64,
}

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

    /// How far back is looked for what repeats, in bytes, with lzip and xz.
    fn dictionary(&self) -> Option<u32> {
        self.format.writes().dictionary(self)
    }

    /// How much memory it takes, in bytes and about: for each worker what encodes, and the window of blocks, of which each
    /// is there as it came or as it goes.
    fn memory(&self) -> u64 {
        let encoder = self.format.writes().memory(self);
        self.workers as u64 * encoder + self.window() as u64 * self.block_len() as u64
    }

    /// Cuts what `input` gives.
    pub(crate) fn blocks<R: Read>(&self, input: R) -> Blocks<R> {
        match self.rsyncable {
            true => Blocks::by_content(input, self.block_len()),
            false => Blocks::new(input, self.block_len()),
        }
    }

    /// The size of a block in bytes, the most that it can be.
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub fn block_len(&self) -> usize {
        self.format.writes().block_len(self)
    }

    /// The most blocks that are in memory at once: two for each worker, one in its hands and one that waits to be
    /// taken, or to be written. Of lzip and xz, whose blocks are large, one waits for all workers; one worker alone has one of xz.
    pub fn window(&self) -> usize {
        self.format.writes().most_blocks(self)
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

//! What is asked of a format that is written, and how files are written.

use std::fmt;
use std::io::{Read, Write};
use std::ops::RangeInclusive;

use abz_codec::gzip::{Layout, Origin};
use abz_codec::zstd::Encoding;
use abz_codec::{Blocks, xz};
use anabranch::Plan;

use super::reads::Reads;
use crate::conduct::Conduct;
use crate::error::Error;
use crate::places::{Reading, Writing};
use crate::tools::Tools;

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
    /// Threads that work, the caller's among them; at least 1. [`at_work`](crate::at_work) says how many do so at once.
    pub workers: usize,
}

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

/// A format that is written too.
pub(crate) trait Writes: Reads {
    /// The levels, from the fastest on.
    fn levels(&self) -> RangeInclusive<u32>;

    /// The level that is used if nobody says another.
    fn default_level(&self) -> u32;

    /// True if it has this setting.
    fn has(&self, setting: Setting) -> bool;

    /// The size of a block in bytes, the most that it can be.
    fn block_len(&self, how: &Compression) -> usize;

    /// The most bytes that a block may have, if there is a limit.
    fn largest_block(&self) -> Option<usize> {
        None
    }

    /// The size of the dictionary in bytes, if a smaller one can be taken.
    fn dictionary(&self, _how: &Compression) -> Option<u32> {
        None
    }

    /// The memory of an encoder in bytes, about.
    fn memory(&self, how: &Compression) -> u64;

    /// How many encoders there are.
    fn encoders(&self, how: &Compression) -> usize {
        how.workers
    }

    /// The most blocks that are in memory at once, each as it came or as it goes.
    fn most_blocks(&self, how: &Compression) -> usize {
        self.window(how.workers)
    }

    /// True if workers can write their blocks where they belong.
    fn is_written_at(&self) -> bool {
        false
    }

    /// True if workers can read their blocks where they are.
    fn blocks_are_read_at(&self) -> bool {
        false
    }

    /// True if files tell [`Compression::origin`].
    fn tells_origin(&self) -> bool {
        false
    }

    /// True if an archive of tar is written in this format where its name ends with the format's suffix.
    fn holds_archives(&self) -> bool {
        true
    }

    /// False if its compressed data is that of another format, so that it is as large and as quick.
    fn has_data_of_its_own(&self) -> bool {
        true
    }

    /// Makes a file. Parts are written only of a format that [is](Self::is_written_at) written so.
    fn compress(
        &self,
        how: &Compression,
        conduct: Conduct<'_>,
        input: Reading<'_>,
        output: Writing<'_>,
    ) -> Result<Compressed, Error>;

    /// Makes a file on this thread.
    fn compress_alone(
        &self,
        how: &Compression,
        tools: &mut Tools,
        input: &mut dyn Read,
        output: &mut dyn Write,
    ) -> Result<(), Error>;

    /// The plan of [`compress`](Self::compress).
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

/// A format of compressed files that is written.
#[derive(Clone, Copy)]
pub struct Written(pub(super) &'static dyn Writes);

impl Written {
    /// What writes it.
    pub(crate) fn writes(self) -> &'static dyn Writes {
        self.0
    }
}

impl Compression {
    /// How far back is looked for what repeats, in bytes, with lzip and xz.
    pub(crate) fn dictionary(&self) -> Option<u32> {
        self.format.writes().dictionary(self)
    }

    /// How much memory it takes, in bytes and about: its encoders, of which most formats have one for each worker, and the window of
    /// blocks, of which each is there as it came or as it goes.
    pub(crate) fn memory(&self) -> u64 {
        let (writes, blocks) = (self.format.writes(), self.window() as u64 * self.block_len() as u64);
        writes.encoders(self) as u64 * writes.memory(self) + blocks
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

//! What is asked of a format that is written.

use std::io::{Read, Write};
use std::ops::RangeInclusive;

use anabranch::Plan;

use super::reads::Reads;
use crate::compress::{Compressed, Compression};
use crate::conduct::Conduct;
use crate::error::Error;
use crate::places::{Reading, Writing};
use crate::tools::Tools;

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

//! The interface of a format that is written.

use std::ops::RangeInclusive;

use anabranch::Plan;

use super::reads::Reads;
use crate::compression::{Compressed, Compression};
use crate::error::Error;
use crate::format::Setting;
use crate::pipes::encode::Steps;
use crate::positional::{Reading, Writing};
use crate::run_options::{Equipment, RunOptions};

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

//! The action that compresses.

use abz::program::{RunOptions, block_len, compress_with, facts};
use abz::{Compression, Decompression};

use super::io_mode;
use super::sums::Summed;
use super::{verify, volumes};
use crate::command::action::{Action, Done, Failure, Setting, Terms, replaces_one_by_one};
use crate::command::input::Input;
use crate::command::messages::Messages;
use crate::command::messages::problem::Problem;
use crate::command::output::Output;
use crate::command::request::Compress;

impl Action for Compress {
    fn terms(&self) -> Terms<'_> {
        Terms {
            inputs: &self.inputs,
            outputs: Some(&self.outputs),
            joins: true,
            tells_checksum: self.checksum,
            reporting: Some(&self.reporting),
            workers: self.compression.workers,
            workers_side_by_side: self.compression.workers,
        }
    }

    fn may_be_side_by_side(&self, _: &Input) -> bool {
        !replaces_one_by_one(&self.outputs)
    }

    fn volumes(&self, input: &Input) -> Option<(&Compress, u64)> {
        volumes::size(self, input).map(|size| (self, size))
    }

    fn convert(
        &self,
        input: &Input,
        output: &mut Output,
        run_options: RunOptions<'_>,
        setting: Setting<'_>,
        _messages: &mut Messages,
    ) -> Result<Option<Done>, Failure> {
        let compression = self.compression_of(input);
        let progress = setting.progress;
        let tell = |bytes| progress.advance(bytes);
        let run_options = RunOptions { progress: Some(&tell), ..run_options };
        if run_options.tools.is_none()
            && self.verify.is_none()
            && !self.checksum
            && let Some(done) =
                io_mode::compress(&compression, run_options, (input, &mut *output), self.io_modes, progress)
        {
            let done = done?;
            return Ok(Some(Done::new(done.read, done.written)));
        }
        let mut plain =
            Summed::new(input.reader()).with_fingerprint(self.verify.is_some()).with_sha256(self.checksum);
        let done = match &self.verify {
            Some(decompression) => {
                let back = Decompression { workers: compression.workers, ..decompression.clone() };
                verify::compress(&compression, &mut plain, output, run_options, &back)?
            }
            None => compress_with(&mut plain, output, &compression, run_options)?,
        };
        Ok(Some(Done { sha256: plain.sha256(), ..Done::new(done.read, done.written) }))
    }

    fn remark(&self, input: &Input) -> Option<Problem> {
        let severity = self.outputs.behaviour.severities.time?;
        let is_lost = facts(self.compression.format).tells_origin && self.stores_names;
        let message =
            format_args!("the time cannot be stored: {} supports 1970 to 2106", self.compression.format);
        (is_lost && !input.has_a_time_to_store()).then(|| Problem::new(severity, input, message))
    }
}

impl Compress {
    /// Returns the settings for `input`.
    pub(crate) fn compression_of(&self, input: &Input) -> Compression {
        let mut compression = of_input(&self.compression, input);
        if self.stores_names {
            compression.origin = input.origin();
        }
        compression
    }
}

/// Returns the settings for `input`, with no more workers than it has blocks.
pub(crate) fn of_input(compression: &Compression, input: &Input) -> Compression {
    let mut compression = compression.clone();
    if let Some(len) = input.len() {
        let blocks = len.div_ceil(block_len(&compression) as u64).max(1);
        compression.workers = compression.workers.min(usize::try_from(blocks).unwrap_or(usize::MAX));
        compression.contents = input.position().and_then(|at| len.checked_sub(at));
    }
    compression
}

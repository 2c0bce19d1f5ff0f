//! The requests that process each input on its own, one after another or in parallel.

use abz::{Decompression, RunOptions};

use super::access;
use super::conversion::{Conversion, Setting};
use super::explain;
use super::indices;
use super::input::Input;
use super::messages::Messages;
use super::problem::Problem;
use super::request::{
    Access, Compress, Decompress, Destination, Explain, Explainable, Inputs, MakeIndex, Outputs, Reporting,
    Test,
};
use super::volumes;

/// The parameters of a task.
pub(super) struct Terms<'a> {
    /// The inputs.
    pub(super) inputs: &'a Inputs,
    /// The settings of the outputs, if there are any.
    pub(super) outputs: Option<&'a Outputs>,
    /// The settings of reports, if the task has any.
    pub(super) reporting: Option<&'a Reporting>,
    /// The number of threads that process one large input.
    pub(super) workers: usize,
    /// The number of threads that process small inputs, one for each.
    pub(super) workers_side_by_side: usize,
}

impl<'a> Terms<'a> {
    /// Returns the parameters of a task that decodes its inputs.
    fn to_decode(
        inputs: &'a Inputs,
        outputs: Option<&'a Outputs>,
        reporting: &'a Reporting,
        how: &Decompression,
    ) -> Self {
        Terms {
            inputs,
            outputs,
            reporting: Some(reporting),
            workers: how.workers,
            workers_side_by_side: how.workers_within(),
        }
    }
}

/// A task that processes inputs.
pub(super) trait Task: Sync {
    /// Returns the parameters of the task.
    fn terms(&self) -> Terms<'_>;

    /// Returns `true` if a small input may be processed in parallel with others.
    fn may_be_side_by_side(&self, input: &Input) -> bool;

    /// Processes one input, and adds its messages to `messages`.
    fn take(
        &self,
        input: Input,
        run_options: RunOptions<'_>,
        setting: Setting<'_>,
        messages: &mut Messages,
    ) -> Result<(), Problem>;

    /// Returns the task as a conversion, if all inputs may go to one output.
    fn as_conversion(&self) -> Option<&dyn Conversion> {
        None
    }
}

impl Task for Compress {
    fn terms(&self) -> Terms<'_> {
        Terms {
            inputs: &self.inputs,
            outputs: Some(&self.outputs),
            reporting: Some(&self.reporting),
            workers: self.compression.workers,
            workers_side_by_side: self.compression.workers,
        }
    }

    fn may_be_side_by_side(&self, _: &Input) -> bool {
        !replaces_one_by_one(&self.outputs)
    }

    fn take(
        &self,
        input: Input,
        run_options: RunOptions<'_>,
        setting: Setting<'_>,
        messages: &mut Messages,
    ) -> Result<(), Problem> {
        match volumes::size(self, &input) {
            Some(size) => volumes::make((self, setting), size, &input, run_options, messages),
            None => setting.convert_file(self, input, run_options, messages),
        }
    }

    fn as_conversion(&self) -> Option<&dyn Conversion> {
        Some(self)
    }
}

impl Task for Decompress {
    fn terms(&self) -> Terms<'_> {
        Terms::to_decode(&self.inputs, Some(&self.outputs), &self.reporting, &self.decoding.decompression)
    }

    fn may_be_side_by_side(&self, input: &Input) -> bool {
        // The contents of a small compressed file may be large, and must not wait in memory.
        self.outputs.destination != Destination::Stdout
            // No input after a failed one may be processed.
            && !self.outputs.behaviour.stops_at_failure
            && !replaces_one_by_one(&self.outputs)
            && fits(input, self.decoding.decompression.memory_limit)
    }

    fn take(
        &self,
        input: Input,
        run_options: RunOptions<'_>,
        setting: Setting<'_>,
        messages: &mut Messages,
    ) -> Result<(), Problem> {
        setting.convert_file(self, input, run_options, messages)
    }

    fn as_conversion(&self) -> Option<&dyn Conversion> {
        Some(self)
    }
}

impl Task for Test {
    fn terms(&self) -> Terms<'_> {
        Terms::to_decode(&self.inputs, None, &self.reporting, &self.decoding.decompression)
    }

    fn may_be_side_by_side(&self, input: &Input) -> bool {
        fits(input, self.decoding.decompression.memory_limit)
    }

    fn take(
        &self,
        input: Input,
        run_options: RunOptions<'_>,
        setting: Setting<'_>,
        messages: &mut Messages,
    ) -> Result<(), Problem> {
        setting.convert_file(self, input, run_options, messages)
    }
}

impl Task for MakeIndex {
    fn terms(&self) -> Terms<'_> {
        Terms::to_decode(&self.inputs, Some(&self.outputs), &self.reporting, &self.decompression)
    }

    fn may_be_side_by_side(&self, input: &Input) -> bool {
        self.outputs.destination != Destination::Stdout && fits(input, self.decompression.memory_limit)
    }

    fn take(
        &self,
        input: Input,
        run_options: RunOptions<'_>,
        setting: Setting<'_>,
        messages: &mut Messages,
    ) -> Result<(), Problem> {
        indices::make_index(self, setting, &input, run_options, messages)
    }
}

impl Task for Access {
    fn terms(&self) -> Terms<'_> {
        Terms::to_decode(&self.inputs, Some(&self.outputs), &self.reporting, &self.decompression)
    }

    fn may_be_side_by_side(&self, input: &Input) -> bool {
        self.outputs.destination != Destination::Stdout
            && !replaces_one_by_one(&self.outputs)
            && fits(input, self.decompression.memory_limit)
    }

    fn take(
        &self,
        input: Input,
        run_options: RunOptions<'_>,
        setting: Setting<'_>,
        messages: &mut Messages,
    ) -> Result<(), Problem> {
        access::take_span(self, setting, &input, run_options, messages)
    }
}

impl Task for Explain {
    fn terms(&self) -> Terms<'_> {
        let workers = match &self.of {
            Explainable::Compression(compression) => compression.workers,
            Explainable::Decompression(decompression, _) => decompression.workers,
        };
        Terms { inputs: &self.inputs, outputs: None, reporting: None, workers, workers_side_by_side: workers }
    }

    fn may_be_side_by_side(&self, _: &Input) -> bool {
        false
    }

    fn take(&self, input: Input, _: RunOptions<'_>, _: Setting<'_>, _: &mut Messages) -> Result<(), Problem> {
        explain::print_plan(self, &input)
    }
}

/// Returns `true` if several inputs may have the same output, of which the last one remains.
fn replaces_one_by_one(outputs: &Outputs) -> bool {
    outputs.force && matches!(outputs.destination, Destination::Folder { mirrors: false, .. })
}

/// Returns `false` if the windows of several such files together could exceed the memory limit.
fn fits(input: &Input, limit: Option<u64>) -> bool {
    limit.is_none() || !input.format().is_some_and(abz::Format::asks_for_memory)
}

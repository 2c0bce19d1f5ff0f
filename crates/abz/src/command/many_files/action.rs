//! The requests that process each input on its own, one after another or in parallel.

use abz::{Decompression, RunOptions};

use crate::command::explain;
use crate::command::input::Input;
use crate::command::messages::Messages;
use crate::command::messages::problem::Problem;
use crate::command::one_file::indices;
use crate::command::one_file::span;
use crate::command::one_file::volumes;
use crate::command::one_file::{Conversion, Setting};
use crate::command::request::{
    Access, Compress, Decompress, Destination, Explain, Explainable, Inputs, MakeIndex, Outputs, Reporting,
    Test,
};

/// The parameters of an action.
pub(crate) struct Terms<'a> {
    /// The inputs.
    pub(crate) inputs: &'a Inputs,
    /// The settings of the outputs, if there are any.
    pub(crate) outputs: Option<&'a Outputs>,
    /// The settings of reports, if the action has any.
    pub(crate) reporting: Option<&'a Reporting>,
    /// The number of threads that process one large input.
    pub(crate) workers: usize,
    /// The number of threads that process small inputs, one for each.
    pub(crate) workers_side_by_side: usize,
}

impl<'a> Terms<'a> {
    /// Returns the parameters of an action that decodes its inputs.
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

/// A action that processes inputs.
pub(crate) trait Action: Sync {
    /// Returns the parameters of the action.
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

    /// Returns the action as a conversion, if all inputs may go to one output.
    fn as_conversion(&self) -> Option<&dyn Conversion> {
        None
    }
}

impl Action for Compress {
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

impl Action for Decompress {
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

impl Action for Test {
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

impl Action for MakeIndex {
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

impl Action for Access {
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
        span::take_span(self, setting, &input, run_options, messages)
    }
}

impl Action for Explain {
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

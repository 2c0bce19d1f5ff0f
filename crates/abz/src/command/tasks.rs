//! What is done with each input: the requests whose inputs are taken one after another, or side by side.

use abz::Decompression;

use super::access;
use super::conversion::{Conversion, Setting};
use super::crew::Crew;
use super::explain;
use super::indices;
use super::input::Input;
use super::problem::Problem;
use super::request::{
    Access, Compress, Decompress, Destination, Explain, Explainable, Inputs, MakeIndex, Outputs, Reporting,
    Test,
};
use super::told::Told;
use super::volumes;

/// On what a request works.
pub(super) struct Terms<'a> {
    /// Which files are taken.
    pub(super) inputs: &'a Inputs,
    /// Where outputs go, if there are any.
    pub(super) outputs: Option<&'a Outputs>,
    /// What is told of the work, if anything is.
    pub(super) reporting: Option<&'a Reporting>,
    /// The threads that work on one input.
    pub(super) workers: usize,
    /// The threads that work on small inputs, each on one.
    pub(super) workers_side_by_side: usize,
}

impl<'a> Terms<'a> {
    /// Those of a request that decodes its inputs.
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

/// What is done with each input.
pub(super) trait Task: Sync {
    /// On what it works.
    fn terms(&self) -> Terms<'_>;

    /// Whether an input that is small may be done while others are.
    fn may_be_side_by_side(&self, input: &Input) -> bool;

    /// Does it, and says what is to be told of it.
    fn take(
        &self,
        input: Input,
        crew: Crew<'_>,
        setting: Setting<'_>,
        told: &mut Told,
    ) -> Result<(), Problem>;

    /// The same, if all inputs may go to one output.
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
        crew: Crew<'_>,
        setting: Setting<'_>,
        told: &mut Told,
    ) -> Result<(), Problem> {
        match volumes::size(self, &input) {
            Some(size) => volumes::make((self, setting), size, &input, crew, told),
            None => setting.convert_file(self, input, crew, told),
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
        // What comes out of a small compressed file may be large, and must not wait in memory.
        self.outputs.destination != Destination::Stdout
            // Behind one that fails nothing is touched.
            && !self.outputs.manners.stops_at_failure
            && !replaces_one_by_one(&self.outputs)
            && fits(input, self.decoding.decompression.memory_limit)
    }

    fn take(
        &self,
        input: Input,
        crew: Crew<'_>,
        setting: Setting<'_>,
        told: &mut Told,
    ) -> Result<(), Problem> {
        setting.convert_file(self, input, crew, told)
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
        crew: Crew<'_>,
        setting: Setting<'_>,
        told: &mut Told,
    ) -> Result<(), Problem> {
        setting.convert_file(self, input, crew, told)
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
        crew: Crew<'_>,
        setting: Setting<'_>,
        told: &mut Told,
    ) -> Result<(), Problem> {
        indices::make_index(self, setting, &input, crew, told)
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
        crew: Crew<'_>,
        setting: Setting<'_>,
        told: &mut Told,
    ) -> Result<(), Problem> {
        access::take_span(self, setting, &input, crew, told)
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

    fn take(&self, input: Input, _: Crew<'_>, _: Setting<'_>, _: &mut Told) -> Result<(), Problem> {
        explain::print_plan(self, &input)
    }
}

/// True if the last file of a name is the one that stays there.
fn replaces_one_by_one(outputs: &Outputs) -> bool {
    outputs.force && matches!(outputs.destination, Destination::Folder { mirrors: false, .. })
}

/// False of a file whose window, and those of others side by side with it, would take the limit of memory many times.
fn fits(input: &Input, limit: Option<u64>) -> bool {
    limit.is_none() || !input.format().is_some_and(abz::Format::asks_for_memory)
}

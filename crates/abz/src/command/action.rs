//! The actions: they take each input on its own. Each action is implemented beside its work: most in `one_file/`, one in `explain.rs`.

use abz::program::{RunOptions, facts, workers_within};
use abz::{Decompression, Error};

use crate::command::input::Input;
use crate::command::messages::Messages;
use crate::command::messages::problem::Problem;
use crate::command::messages::progress::Progress;
use crate::command::output::Output;
use crate::command::request::{Compress, Destination, Inputs, Outputs, Reporting, Talk};

/// An action on the bytes of each input.
pub(crate) trait Action: Sync {
    /// Returns the parameters of the action.
    fn terms(&self) -> Terms<'_>;

    /// Returns `true` if a small input may be processed in parallel with others.
    fn may_be_side_by_side(&self, input: &Input) -> bool;

    /// Returns `true` if nothing is done with an input that was found in a folder.
    fn passes_over(&self, _input: &Input) -> bool {
        false
    }

    /// Returns the request to compress `input` to several files of at most the returned number of bytes, if it is one.
    fn volumes(&self, _input: &Input) -> Option<(&Compress, u64)> {
        None
    }

    /// Processes an open input to an open output, and adds messages to `messages`. Returns `None` if the format of the
    /// input is not accepted.
    fn convert(
        &self,
        input: &Input,
        output: &mut Output,
        run_options: RunOptions<'_>,
        setting: Setting<'_>,
        messages: &mut Messages,
    ) -> Result<Option<Done>, Failure>;

    /// Returns a problem to report once the output is complete.
    fn remark(&self, _input: &Input) -> Option<Problem> {
        None
    }

    /// Returns lines that replace the summary of `--verbose`.
    fn details(&self, _input: &Input, _setting: Setting<'_>) -> Result<Option<Vec<String>>, Problem> {
        Ok(None)
    }
}

/// The parameters of an action.
pub(crate) struct Terms<'a> {
    /// The inputs.
    pub(crate) inputs: &'a Inputs,
    /// The settings of the outputs, or `None` if the action writes nothing.
    pub(crate) outputs: Option<&'a Outputs>,
    /// All inputs may go to one output.
    pub(crate) joins: bool,
    /// The SHA-256 of the uncompressed data is printed.
    pub(crate) tells_checksum: bool,
    /// The settings of reports, if the action has any.
    pub(crate) reporting: Option<&'a Reporting>,
    /// The number of threads that process one large input.
    pub(crate) workers: usize,
    /// The number of threads that process small inputs, one for each.
    pub(crate) workers_side_by_side: usize,
}

impl<'a> Terms<'a> {
    /// Returns the parameters of an action that decodes its inputs.
    pub(crate) fn to_decode(
        inputs: &'a Inputs,
        outputs: Option<&'a Outputs>,
        reporting: &'a Reporting,
        how: &Decompression,
    ) -> Self {
        Terms {
            inputs,
            outputs,
            joins: false,
            tells_checksum: false,
            reporting: Some(reporting),
            workers: how.workers,
            workers_side_by_side: workers_within(how),
        }
    }
}

/// State shared by all inputs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting<'a> {
    pub(crate) talk: &'a Talk,
    pub(crate) progress: &'a Progress,
    /// The user can be asked whether to overwrite a file.
    pub(crate) asks: bool,
}

/// The result of an action on an input.
pub(crate) struct Done {
    /// The size of the uncompressed data in bytes.
    pub(crate) plain: u64,
    /// The size of the compressed file in bytes.
    pub(crate) compressed: u64,
    pub(crate) garbage_at: Option<u64>,
    /// The trailing garbage is a single byte.
    pub(crate) is_lone_byte: bool,
    /// The number of the first member whose size differs from the one in its header.
    pub(crate) mistaken: Option<u64>,
    /// The SHA-256 of the uncompressed data, if requested.
    pub(crate) sha256: Option<String>,
    /// The summary of `--verbose`, if it is another one than usual.
    pub(crate) summary: Option<String>,
}

impl Done {
    /// Creates a result without anything remarkable.
    pub(crate) fn new(plain: u64, compressed: u64) -> Self {
        let (garbage_at, is_lone_byte, mistaken) = (None, false, None);
        Done { plain, compressed, garbage_at, is_lone_byte, mistaken, sha256: None, summary: None }
    }
}

/// The reason why there is no output.
#[derive(Debug)]
pub(crate) enum Failure {
    Run(Error),
    /// The output does not decompress to the input, with a description.
    Check(String),
    /// Any other problem.
    Problem(Problem),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Run(error)
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Failure::Problem(problem)
    }
}

/// Returns `true` if several inputs may have the same output, of which the last one remains.
pub(crate) fn replaces_one_by_one(outputs: &Outputs) -> bool {
    outputs.force && matches!(outputs.destination, Destination::Folder { mirrors: false, .. })
}

/// Returns `false` if the windows of several such files together could exceed the memory limit.
pub(crate) fn fits(input: &Input, limit: Option<u64>) -> bool {
    limit.is_none() || !input.format().is_some_and(|format| facts(format).asks_for_memory)
}

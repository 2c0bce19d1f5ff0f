//! The way of one input to its output.

pub(crate) mod checksum;
pub(crate) mod compressing;
pub(crate) mod decompressing;
pub(crate) mod indices;
pub(crate) mod io_mode;
pub(crate) mod span;
pub(crate) mod sums;
pub(crate) mod verify;
pub(crate) mod volumes;

use std::fmt::Display;

use abz::Error;
use abz::program::RunOptions;

use self::checksum::Checksum;
use super::action::{Action, Done, Failure, Setting, Terms};
use super::input::Input;
use super::list::saved;
use super::messages::Messages;
use super::output::{Attributes, Output, STDOUT, rights_meanwhile};
use super::request::{Destination, Made, Outputs};
use crate::command::messages::problem::{Problem, Severity};
use crate::command::output::prompt;
use crate::command::output::target::Target;
use crate::command::system::file_id::FileId;
use crate::command::system::interrupt;

impl Setting<'_> {
    /// Processes one input, and adds its messages to `messages`.
    ///
    /// After an error the input is kept and the output is removed, though standard output may have received the part
    /// before the error. After a warning at the end of the work, both may exist.
    pub(crate) fn convert_file(
        &self,
        action: &dyn Action,
        input: Input,
        run_options: RunOptions<'_>,
        messages: &mut Messages,
    ) -> Result<(), Problem> {
        if input.was_found && action.passes_over(&input) {
            return Ok(());
        }
        if let Some((request, size)) = action.volumes(&input) {
            return volumes::make((request, *self), size, &input, run_options, messages);
        }
        let Terms { inputs, outputs, tells_checksum, .. } = action.terms();
        let target =
            match outputs.map_or(Ok(Target::Nowhere), |outputs| Target::of(&input, outputs, messages)) {
                // Files found in a folder are skipped silently if they are of the wrong kind.
                Err(problem) if input.was_found && !self.talk.is_verbose() && !problem.is_error() => {
                    return Ok(());
                }
                Err(_) if self.is_unreadable(&input, outputs) => return Err(self.unreadable(&input)),
                target => target?,
            };
        if let Some(outputs) = outputs
            && !outputs.keep
            && outputs.needed == Some(FileId::of(&input.metadata))
        {
            let message = "is also the file of --patch-from, which is needed to apply the patch, and would be removed: \
                               keep it with -k, or write with -c or -o";
            return Err(Problem::error(&input, message));
        }
        let is_alone = run_options.tools.is_some();
        let checksum = match tells_checksum {
            true => Some(Checksum::open(&target, is_alone, &input, &inputs.names, outputs)?),
            false => None,
        };
        let existing = target.spare(FileId::of(&input.metadata))?;
        let mut output = match outputs {
            None => Output::Nowhere,
            Some(_) if is_alone && target == Target::Stdout => Output::Memory(Vec::new()),
            Some(outputs) => {
                let overwrite =
                    outputs.force || self.asks && prompt::may_overwrite(&target, self.talk, self.progress);
                Output::open_over((target, existing), outputs, rights_meanwhile(&input), overwrite)?
            }
        };
        let (input_name, output_name) = (input.to_string(), output.to_string());

        let done = {
            let _work = interrupt::Work::on(&input_name);
            action.convert(&input, &mut output, run_options, *self, messages)
        };
        if let Output::Memory(bytes) = output {
            messages.output = bytes;
            output = Output::Nowhere;
        }
        let judged = self.judge(done, (&input_name, &output_name), outputs, messages);
        let judged = judged.and_then(|(done, garbage)| match garbage {
            Some(error) if error.is_error() => Err(error),
            garbage => Ok((done, garbage)),
        });
        if self.talk.behaviour.stops_at_failure && outputs.is_some() && judged.is_err() {
            messages.is_hopeless = true;
        }
        let (done, garbage) = judged?;
        if let Some(outputs) = outputs {
            messages.add(output.commit(Attributes::Of(&input), outputs));
        }
        if let (Some(checksum), Some(sum), false) = (checksum, &done.sha256, messages.has_failed()) {
            checksum.tell(sum, &input, outputs, messages);
        }
        if messages.has_failed() {
            return Ok(());
        }
        messages.add(action.remark(&input).map_or(Ok(()), |remark| Err(remark.afterwards())));
        let details = action.details(&input, *self)?;
        if outputs.is_some_and(|outputs| !outputs.keep) {
            input.remove()?;
        }
        if self.talk.is_verbose() {
            match details {
                Some(details) => details.into_iter().for_each(|detail| messages.say(detail)),
                None => messages.say(summary(&input_name, &output_name, outputs, &done)),
            }
        }
        garbage.map_or(Ok(()), Err)
    }

    /// Appends the result of an input to an open output called `name`. Returns the problem of trailing garbage, if
    /// any.
    pub(crate) fn convert_open(
        &self,
        action: &dyn Action,
        input: &Input,
        (output, name): (&mut Output, &str),
        run_options: RunOptions<'_>,
        messages: &mut Messages,
    ) -> Result<Option<Problem>, Problem> {
        let outputs = action.terms().outputs;
        let input_name = input.to_string();
        let done = {
            let _work = interrupt::Work::on(&input_name);
            action.convert(input, output, run_options, *self, messages)
        };
        let (done, garbage) = self.judge(done, (&input_name, name), outputs, messages)?;
        if self.talk.is_verbose() {
            messages.say(summary(&input_name, name, outputs, &done));
        }
        Ok(garbage)
    }

    /// Converts the result of a run to a problem, or to the result and the problem of trailing garbage.
    fn judge(
        &self,
        done: Result<Option<Done>, Failure>,
        (input, output): (&str, &str),
        outputs: Option<&Outputs>,
        messages: &mut Messages,
    ) -> Result<(Done, Option<Problem>), Problem> {
        let done = done.map_err(|failure| match failure {
            Failure::Run(error) => self.failed(&error, (input, output), outputs, messages),
            Failure::Check(found) => Problem::of_verification(output, &found),
            Failure::Problem(problem) => problem,
        })?;
        let behaviour = &self.talk.behaviour;
        let Some(done) = done else { return Err(self.unreadable(input)) };
        if let Some(member) = done.mistaken
            && self.talk.is_verbose()
        {
            let message = "does not have the size in its header; one thread decodes from there on";
            messages.say(format!("{input}: member {member} {message}"));
        }
        if let (Some(severity), true) = (behaviour.severities.lone_byte, done.is_lone_byte) {
            let message =
                "unexpected end of file: one byte follows the last member, where another one may begin";
            return Err(Problem::new(severity, input, message));
        }
        let garbage = behaviour.severities.garbage.zip(done.garbage_at);
        let garbage = garbage.map(|(severity, at)| Problem::trailing_garbage(severity, input, at));
        Ok((done, garbage))
    }

    /// Returns `true` if a file to be decompressed has a format that is not accepted, and the tool reports this
    /// before other problems.
    fn is_unreadable(&self, input: &Input, outputs: Option<&Outputs>) -> bool {
        let behaviour = &self.talk.behaviour;
        behaviour.looks_first
            && outputs.is_some_and(|outputs| outputs.made == Made::Plain)
            && !input.format().is_some_and(|format| behaviour.read(format))
    }

    /// Returns the problem of a file whose format is not accepted.
    fn unreadable(&self, input: impl Display) -> Problem {
        let format = self.talk.behaviour.first_read();
        Problem::new(Severity::Damage, input, format_args!("not in the format {format}"))
    }

    /// Returns the problem of a failed run.
    pub(crate) fn failed(
        &self,
        error: &Error,
        (input, output): (&str, &str),
        outputs: Option<&Outputs>,
        messages: &mut Messages,
    ) -> Problem {
        if let Error::Write(error) = error {
            messages.is_hopeless = outputs.is_some_and(|outputs| outputs.destination == Destination::Stdout);
            interrupt::end_if_broken_pipe(error);
        }
        let problem = Problem::of_run(input, output, error);
        let Some(words) = (self.talk.behaviour.words)(error) else { return problem };
        if self.talk.is_verbose() {
            messages.say(problem.to_text(&self.talk.behaviour.options));
        }
        Problem::of_gzip(input, words)
    }
}

/// Returns the summary of `--verbose`: that of the action, or one in the words of gzip.
fn summary(input: &str, output: &str, outputs: Option<&Outputs>, done: &Done) -> String {
    if let Some(summary) = &done.summary {
        return summary.clone();
    }
    let saved = saved(done.compressed, done.plain);
    match outputs {
        None => format!("{input}: OK"),
        // As in gzip, standard output does not count as a created file.
        Some(_) if output == STDOUT => format!("{input}: {saved:.1}%"),
        Some(outputs) if outputs.keep => format!("{input}: {saved:.1}% -- created {output}"),
        Some(_) => format!("{input}: {saved:.1}% -- replaced with {output}"),
    }
}

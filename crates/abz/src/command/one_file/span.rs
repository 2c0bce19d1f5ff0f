//! The action of `--range` and `--line-range`.

use abz::Span;
use abz::program::{Reading, RunOptions, copy_span};

use super::indices::find_index;
use super::io_mode;
use crate::command::action::{Action, Done, Failure, Setting, Terms, fits, replaces_one_by_one};
use crate::command::input::Input;
use crate::command::messages::Messages;
use crate::command::messages::problem::{Problem, Severity};
use crate::command::output::Output;
use crate::command::request::{Access, Destination};

impl Action for Access {
    fn terms(&self) -> Terms<'_> {
        Terms::to_decode(&self.inputs, Some(&self.outputs), &self.reporting, &self.decompression)
    }

    fn may_be_side_by_side(&self, input: &Input) -> bool {
        self.outputs.destination != Destination::Stdout
            && !replaces_one_by_one(&self.outputs)
            && fits(input, self.decompression.memory_limit)
    }

    /// Writes a span of the contents of `input`.
    fn convert(
        &self,
        input: &Input,
        output: &mut Output,
        run_options: RunOptions<'_>,
        setting: Setting<'_>,
        messages: &mut Messages,
    ) -> Result<Option<Done>, Failure> {
        let source = io_mode::source(input, self.mode, setting.progress);
        let mut reader = setting.progress.of(&input.file);
        let reading = match &source {
            Some(source) => Reading::Positional(source),
            None => Reading::Stream(&mut reader),
        };
        let index = match &source {
            Some(_) => match find_index(input, self.index_file.as_deref()) {
                Err(problem) if !problem.is_error() => {
                    messages.add(Err(problem.afterwards()));
                    None
                }
                found => found?,
            },
            None => None,
        };
        let decompression = input.decompression(&self.decompression);
        let done = copy_span(reading, &self.span, index.as_ref(), output, &decompression, run_options)?;
        if let Some(there) = done.end
            && let Some(message) = is_behind(&self.span, there)
        {
            messages.add(Err(Problem::new(Severity::Note, input, message).afterwards()));
        }
        let summary = Some(format!("{input}: {} bytes -- written to {output}", done.written));
        let compressed = input.len().unwrap_or(0);
        Ok(Some(Done { garbage_at: done.garbage_at, summary, ..Done::new(done.written, compressed) }))
    }
}

/// Returns the note for a span that begins past the end of the contents.
fn is_behind(span: &Span, there: u64) -> Option<String> {
    match span {
        Span::Bytes(bytes) if bytes.start >= there && bytes.start > 0 => Some(format!(
            "has {there} bytes of uncompressed data: there is nothing from byte {} on",
            bytes.start
        )),
        Span::Lines(lines) if *lines.start() > there && *lines.start() > 1 => {
            Some(format!("has {there} lines of uncompressed data: there is no line {}", lines.start()))
        }
        _ => None,
    }
}

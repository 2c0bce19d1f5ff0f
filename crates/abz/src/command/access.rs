//! A part of what is in an input.

use abz::{Conduct, Reading, Span};

use super::console::Told;
use super::input::Input;
use super::job::{Crew, Setting, decompression, failed};
use super::output::{Attributes, Output};
use super::problem::{Problem, Severity};
use super::target::Target;
use super::ways;

impl Setting<'_> {
    /// Writes a span of the contents of `input` to where the output goes.
    pub(super) fn take_span(
        &self,
        span: &Span,
        input: &Input,
        crew: Crew<'_>,
        told: &mut Told,
    ) -> Result<(), Problem> {
        let options = self.options;
        let conduct = match crew {
            Crew::Together(conduct) => conduct,
            Crew::Alone(_) => Conduct::default(),
        };
        let mut output = Output::open(Target::of(input, options, told)?, options, input.metadata.is_file())?;
        let (input_name, output_name) = (input.to_string(), output.to_string());
        let places = ways::source(input, options, self.progress);
        let mut reader = self.progress.of(&input.file);
        let reading = match &places {
            Some(places) => Reading::Places(places),
            None => Reading::Stream(&mut reader),
        };
        let done = decompression(input, options)
            .span(conduct, span, reading, &mut output)
            .map_err(|error| failed(&error, &input_name, &output_name, options, told))?;
        if let Some(there) = done.end
            && let Some(message) = is_behind(span, there)
        {
            told.add(Err(Problem::new(Severity::Note, &input_name, message).afterwards()));
        }
        if let Some((severity, at)) = options.manners.severities.garbage.zip(done.garbage_at) {
            told.add(Err(Problem::trailing_garbage(severity, &input_name, at).afterwards()));
        }
        told.add(output.commit(Attributes::Of(input), options));
        if options.is_verbose() && !told.has_failed() {
            told.say(format!("{input_name}: {} bytes -- written to {output_name}", done.written));
        }
        Ok(())
    }
}

/// What there is to say of a span of which there is nothing.
fn is_behind(span: &Span, there: u64) -> Option<String> {
    match span {
        Span::Bytes(bytes) if bytes.start >= there && bytes.start > 0 => {
            Some(format!("has {there} bytes of plain data: there is nothing from byte {} on", bytes.start))
        }
        Span::Lines(lines) if *lines.start() > there && *lines.start() > 1 => {
            Some(format!("has {there} lines of plain data: there is no line {}", lines.start()))
        }
        _ => None,
    }
}

//! The action of `--explain`.

use std::path::Path;

use abz::program::{
    Expected, Plan, RunOptions, plan_to_compress, plan_to_decompress, plan_to_decompress_indexed,
    workers_within,
};
use abz::{Decompression, Format, Speculation};

use super::action::{Action, Done, Failure, Setting, Terms};
use super::arguments::Explained;
use super::input::Input;
use super::request::{Explain, Explainable, Source};
use crate::command::messages::Messages;
use crate::command::messages::problem::Problem;
use crate::command::messages::stdout::print;
use crate::command::one_file::compressing;
use crate::command::one_file::indices::{find_index, index_of, is_for_use};
use crate::command::output::Output;

impl Action for Explain {
    fn terms(&self) -> Terms<'_> {
        let workers = match &self.of {
            Explainable::Compression(compression) => compression.workers,
            Explainable::Decompression(decompression, _) => decompression.workers,
        };
        Terms {
            inputs: &self.inputs,
            outputs: None,
            joins: false,
            tells_checksum: false,
            reporting: None,
            workers,
            workers_side_by_side: workers,
        }
    }

    fn may_be_side_by_side(&self, _: &Input) -> bool {
        false
    }

    /// Prints the plan for `input`.
    fn convert(
        &self,
        input: &Input,
        _: &mut Output,
        _: RunOptions<'_>,
        _: Setting<'_>,
        _: &mut Messages,
    ) -> Result<Option<Done>, Failure> {
        print_plan(self, input)?;
        Ok(Some(Done::new(0, 0)))
    }

    fn details(&self, _: &Input, _: Setting<'_>) -> Result<Option<Vec<String>>, Problem> {
        Ok(Some(Vec::new()))
    }
}

fn print_plan(request: &Explain, input: &Input) -> Result<(), Problem> {
    let (plan, choice) = match &request.of {
        Explainable::Compression(compression) => {
            (plan_to_compress(&compressing::of_input(compression, input)), String::new())
        }
        Explainable::Decompression(decompression, index_file) => {
            let decompression = input.decompression(decompression);
            let format = input.format().unwrap_or_default();
            let (plan, by_index) = by_index((format, &decompression), index_file.as_deref(), input)?;
            match plan {
                Some(plan) => (plan, by_index),
                None => {
                    (plan_to_decompress(&decompression, format), choice(format, &decompression) + &by_index)
                }
            }
        }
    };
    print(|out| match request.form {
        Explained::Text => writeln!(out, "{input}:\n\n{plan}{choice}"),
        Explained::Dot => out.write_all(plan.to_dot().as_bytes()),
        Explained::Svg => out.write_all(plan.to_svg().as_bytes()),
        Explained::Json => writeln!(out, "{}", plan.to_json()),
    })
}

/// Returns the sentence that explains how a gzip file is decoded, or nothing for other formats.
fn choice(format: Format, decompression: &Decompression) -> String {
    if format != Format::Gzip {
        return String::new();
    }
    let (workers, speculation) = (workers_within(decompression), decompression.speculation);
    let expected = Expected::with(workers);
    let way = match (speculation, expected.guesses(speculation)) {
        (Speculation::Auto, true) => "speculatively, because",
        (Speculation::Auto, false) => "by one worker, because",
        (Speculation::Always, _) => "speculatively, as --speculate says;",
        (Speculation::Never, _) => "by one worker, as --speculate says;",
    };
    format!("\nA member that does not record where its blocks are is decoded {way} {expected}.")
}

/// Returns the plan to decode `input` by its index, if the index would be used, and a sentence about the index.
fn by_index(
    (format, decompression): (Format, &Decompression),
    named: Option<&Path>,
    input: &Input,
) -> Result<(Option<Plan>, String), Problem> {
    let Source::File(path) = &input.source else { return Ok((None, String::new())) };
    let name = named.map_or_else(|| index_of(path), ToOwned::to_owned);
    let name = name.display();
    Ok(match find_index(input, named) {
        Err(problem) if named.is_some() && problem.is_error() => return Err(problem),
        Err(problem) => (None, format!("\n{problem}")),
        Ok(None) => (None, String::new()),
        Ok(Some(index)) => {
            let plan = is_for_use(decompression, input)
                .then(|| plan_to_decompress_indexed(decompression, format, &index));
            match plan.flatten() {
                Some(plan) => {
                    (Some(plan), format!("\nThe index {name} is used: all workers decode parts of the file."))
                }
                None if decompression.workers == 1 => (
                    None,
                    format!("\nThe index {name} is not used, because one worker alone decodes the file."),
                ),
                None => {
                    let reason = "it helps with a gzip member that does not record where its blocks are, and there is none";
                    (None, format!("\nThe index {name} is not used: {reason}."))
                }
            }
        }
    })
}

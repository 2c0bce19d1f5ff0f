//! The plan that would run, for `--explain`.

use abz::{Decompression, Expected, Format, Speculation};

use super::arguments::Explained;
use super::compressing;
use super::input::Input;
use super::problem::Problem;
use super::request::{Explain, Explainable};
use super::stdout::print;

/// Prints the plan for `input`.
pub(super) fn print_plan(request: &Explain, input: &Input) -> Result<(), Problem> {
    let (plan, choice) = match &request.of {
        Explainable::Compression(compression) => {
            (compressing::of_input(compression, input).plan(), String::new())
        }
        Explainable::Decompression(decompression) => {
            let decompression = input.decompression(decompression);
            let format = input.format().unwrap_or_default();
            (decompression.plan(format), choice(format, &decompression))
        }
    };
    print(|out| match request.form {
        Explained::Text => writeln!(out, "{input}:\n\n{plan}{choice}"),
        Explained::Dot => out.write_all(plan.to_dot().as_bytes()),
        Explained::Svg => out.write_all(plan.to_svg().as_bytes()),
        Explained::Json => writeln!(out, "{}", plan.to_json()),
    })
}

/// Why a file of gzip is decoded as the plan says; nothing of any other.
fn choice(format: Format, decompression: &Decompression) -> String {
    if format != Format::GZIP {
        return String::new();
    }
    let (workers, speculation) = (decompression.workers_within(), decompression.speculation);
    let way = match (speculation, speculation.is_done(workers)) {
        (Speculation::Auto, true) => "with guesses, because",
        (Speculation::Auto, false) => "by one worker, because",
        (Speculation::Always, _) => "with guesses, as --speculate says;",
        (Speculation::Never, _) => "by one worker, as --speculate says;",
    };
    let expected = Expected::with(workers);
    format!("\nA member that does not say where its blocks are is decoded {way} {expected}.")
}

//! Where the output of an input goes.

use std::path::PathBuf;

use super::input::Input;
use super::problem::Problem;
use super::request::{Destination, Made, Outputs, Source};
use super::suffix::{INDEX_SUFFIX, with_suffix};
use super::told::Told;

/// Where output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    File(PathBuf),
    Stdout,
    Nowhere,
}

impl Target {
    /// The target of `input`. Where its name had to be guessed, that is told.
    pub(super) fn of(input: &Input, outputs: &Outputs, told: &mut Told) -> Result<Target, Problem> {
        let manners = &outputs.manners;
        if let (true, Some(severity), Source::File(path)) =
            (manners.minds_suffix, manners.severities.suffix, &input.source)
            && outputs.made == Made::Compressed
            && outputs.names.without_suffix(path.file_name().unwrap_or_default()).is_some()
        {
            let message =
                "already has the suffix of a compressed file -- ignored (use -F to compress it again)";
            return Err(Problem::new(severity, input, message));
        }
        let path = match (&outputs.destination, &input.source) {
            (Destination::File(file), _) => return Ok(Target::File(file.clone())),
            (Destination::Stdout, _) | (Destination::Beside | Destination::Folder(_), Source::Stdin) => {
                return Ok(Target::Stdout);
            }
            (Destination::Beside | Destination::Folder(_), Source::File(path)) => path,
        };
        let name = path.file_name().unwrap_or_default();
        let stem = outputs.names.without_suffix(name);
        if let Some(severity) = manners.severities.suffix
            && outputs.made == Made::Compressed
            && stem.is_some()
            && !outputs.force
        {
            return Err(Problem::new(
                severity,
                input,
                "already has the suffix of a compressed file -- unchanged",
            ));
        }
        let name = match (outputs.made, stem) {
            (Made::Index, _) => with_suffix(name, INDEX_SUFFIX.as_ref()),
            (Made::Compressed, _) => with_suffix(name, &outputs.names.suffix),
            (_, stem) if outputs.restores_names => match input.stored_name().or(stem) {
                Some(name) => name,
                None => return Err(unknown_suffix(input, outputs)),
            },
            (_, Some(stem)) => stem,
            (_, None) => {
                let addition = manners.guesses.ok_or_else(|| unknown_suffix(input, outputs))?;
                let guess = with_suffix(name, addition.as_ref());
                let message = format_args!("the original name is not known, {} is taken", guess.display());
                told.add(Err(Problem::new(manners.severities.no_suffix, input, message).afterwards()));
                guess
            }
        };
        Ok(Target::File(match &outputs.destination {
            Destination::Folder(folder) => folder.join(name),
            _ => path.with_file_name(name),
        }))
    }
}

fn unknown_suffix(input: &Input, outputs: &Outputs) -> Problem {
    let suffix = outputs.names.suffix.display();
    let advice = if outputs.manners.are_foreign() { "use -c" } else { "use -c, or -o FILE" };
    let message = format_args!("unknown suffix, expected {suffix} -- ignored ({advice})");
    Problem::new(outputs.manners.severities.no_suffix, input, message)
}

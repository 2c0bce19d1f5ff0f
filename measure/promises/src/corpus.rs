//! The files that compressors are measured with.

use std::path::PathBuf;
use std::process::Command;

use measure_harness::builds;

use crate::look::Look;

/// The folder with the files `text`, `source` and `media`. `ABZ_CORPUS` names it; else they are made from Debian's packages.
///
/// # Errors
/// Why they cannot be made.
pub fn corpus(look: &Look) -> Result<PathBuf, String> {
    let corpus =
        std::env::var_os("ABZ_CORPUS").map_or_else(|| builds::folder().join("corpus"), PathBuf::from);
    if !["text", "source", "media"].iter().all(|name| corpus.join(name).exists()) {
        look.say("making the inputs from Debian packages");
        done(Command::new(builds::source("abz/corpus.sh")).arg(&corpus))?;
    }
    Ok(corpus)
}

/// Runs a program. Its standard error goes to the user.
///
/// # Errors
/// The program, and how it has ended.
pub fn done(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let ended = command.stdout(std::process::Stdio::null()).status();
    match ended.map_err(|error| format!("{program}: {error}"))? {
        status if status.success() => Ok(()),
        status => Err(format!("{program}: {status}")),
    }
}

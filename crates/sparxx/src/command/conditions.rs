//! Which parts of a file the compiler sees. Only the compiler knows all macros, so its preprocessor is asked.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;

use super::arguments::{Arguments, Word};
use super::compile::{beside, compiler_command, needed_standard};
use crate::lexer::{self, Part};
use crate::source::{self, Source};

/// The pragma that marks a part. The preprocessor passes pragmas that it does not know.
const MARK: &str = "#pragma sparxx_part ";

/// Returns for each of the [`lexer::parts`] of a file whether the compiler sees it. Returns `None` if that is the same whatever is defined, or
/// if the compiler cannot tell: a header is missing, or there is no compiler.
pub fn are_seen(arguments: &Arguments, path: &Path, source: &Source, scratch: &Path) -> Option<Vec<bool>> {
    let text = &*source.normal();
    let parts = lexer::parts(text, &lexer::tokens(text));
    if parts.iter().all(|part| part.is_seen.is_some()) {
        return None;
    }
    let marked = scratch.join("parts").join(path.file_name()?);
    std::fs::create_dir_all(marked.parent()?).ok()?;
    std::fs::write(&marked, source::bytes(&with_marks(text, &parts)?)).ok()?;
    let mut command = compiler_command();
    for word in &arguments.words {
        match word {
            // Dependencies are written when the file is compiled.
            Word::Option(word) if word.to_string_lossy().starts_with("-M") => {}
            Word::Option(word) => _ = command.arg(word),
            Word::Source(other) if other == path => {
                command.arg("-iquote").arg(beside(path)).arg(&marked);
            }
            Word::Source(_) | Word::Input(_) => {}
        }
    }
    command
        .args(needed_standard(arguments))
        .args(["-E", "-o", "-"])
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let output = command.output().ok().filter(|output| output.status.success())?;
    let mut is_seen = vec![false; parts.len()];
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let number = line.trim().strip_prefix(MARK).and_then(|number| number.parse().ok());
        if let Some(part) = number.and_then(|number: usize| is_seen.get_mut(number)) {
            *part = true;
        }
    }
    Some(is_seen)
}

/// Returns the text with a mark at the end of each part. Returns `None` if the sign of a directive is hidden among comments.
fn with_marks(text: &str, parts: &[Part]) -> Option<String> {
    let mut marked = String::with_capacity(text.len() + 40 * parts.len());
    let mut at = 0;
    // The parts are in the order of their ends.
    for (number, part) in parts.iter().enumerate() {
        let sign = text[..part.span.end].trim_end_matches([' ', '\t', '\x0b', '\x0c', '\\', '\r', '\n']);
        let sign = sign.strip_suffix('#')?.len();
        marked += &text[at..sign];
        let _ = write!(marked, "\n{MARK}{number}\n");
        at = sign;
    }
    marked += &text[at..];
    Some(marked)
}

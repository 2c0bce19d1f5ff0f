//! Corrects the dependency files that options such as `-MD` make: they must name the user's file and not the
//! translated one.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::arguments::{Arguments, Word};

/// Returns the dependency files that the compiler has written for a source file, if it was asked to.
pub fn files(arguments: &Arguments, source: &Path) -> Vec<PathBuf> {
    let asks = ["-MD", "-MMD"].iter().any(|option| arguments.has(option)) || arguments.has("-MF");
    if !asks {
        return Vec::new();
    }
    let mut named = Vec::new();
    let mut words = arguments.words.iter();
    let mut output: Option<PathBuf> = None;
    while let Some(word) = words.next() {
        let Word::Option(option) = word else { continue };
        let text = option.to_string_lossy();
        let value = |words: &mut std::slice::Iter<'_, Word>| match words.next() {
            Some(Word::Option(value)) => Some(PathBuf::from(value)),
            _ => None,
        };
        if text == "-MF" {
            named.extend(value(&mut words));
        } else if let Some(path) = text.strip_prefix("-MF") {
            named.push(path.into());
        } else if text == "-o" {
            output = value(&mut words);
        } else if let Some(path) = text.strip_prefix("-o").filter(|path| !path.is_empty()) {
            output = Some(path.into());
        }
    }
    if named.is_empty() {
        let stem = source.file_stem().unwrap_or(OsStr::new("a"));
        match output {
            None => named.push(Path::new(stem).with_extension("d")),
            Some(output) => {
                if !arguments.stops_early() {
                    // GCC names the file after the output and the input. Earlier versions name it after the
                    // output.
                    let name = output.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                    named.push(output.with_file_name(format!("{name}-{}.d", stem.to_string_lossy())));
                }
                named.push(output.with_extension("d"));
            }
        }
    }
    named
}

/// Replaces the translated file by the user's file, and removes the headers that were written for this run.
pub fn correct(file: &Path, translated: &Path, source: &Path, scratch: &Path) -> Result<(), String> {
    let Ok(text) = std::fs::read_to_string(file) else { return Ok(()) };
    let escape =
        |path: &Path| path.display().to_string().replace(' ', "\\ ").replace('#', "\\#").replace('$', "$$");
    let (translated, scratch) = (escape(translated), escape(scratch));
    let mut corrected = text.replace(&translated, &escape(source));
    while let Some(at) = corrected.find(&scratch) {
        let rest = &corrected[at..];
        let end = rest.find([' ', '\n', '\\']).unwrap_or(rest.len());
        // With `-MP`, each header has a line of its own, which ends with a colon.
        let is_target = rest[..end].ends_with(':');
        let end = if is_target && rest[end..].starts_with('\n') { end + 1 } else { end };
        corrected.replace_range(at..at + end, "");
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut fresh| {
        std::io::Write::write_all(&mut fresh, corrected.as_bytes())?;
        fresh.persist(file).map_err(|error| error.error)
    });
    written.map(drop).map_err(|error| format!("cannot write {}: {error}", file.display()))
}

//! Finds annotations in the headers of a file. Headers are not translated, so these annotations have no effect.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::arguments::{Arguments, Word};
use crate::annotation::{Id, annotations};
use crate::lexer::tokens;
use crate::source::{Diagnostic, Source};

/// Returns warnings about the regions in headers that `text`, the content of the file `path`, includes. Headers are
/// looked for beside the file that includes them, and in the folders of `-I` and `-iquote`. Headers of the system are
/// left out.
pub fn warnings(arguments: &Arguments, path: &Path, text: &str) -> String {
    let folders = folders(arguments);
    let mut seen = HashSet::new();
    let mut left = found(&folders, path, text);
    let mut shown = String::new();
    while let Some(header) = left.pop() {
        if !seen.insert(header.canonicalize().unwrap_or_else(|_| header.clone())) {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&header) else { continue };
        left.extend(found(&folders, &header, &text));
        if text.contains("spar") {
            shown += &warn(Source::new(header.display().to_string(), text));
        }
    }
    shown
}

/// Returns a warning about each region of a header.
fn warn(header: Source) -> String {
    let mut said = Vec::new();
    let found = annotations(&header.text, &tokens(&header.text), &mut said);
    let regions = found.iter().filter(|annotation| annotation.id == Id::ToStream);
    let warning = |span| {
        let help = "move the function into a C++ file";
        Diagnostic::warning(span, "headers are not translated, so this region is a plain loop", help)
    };
    regions.map(|region| warning(region.span.clone()).render(&header)).collect()
}

/// Returns the folders of `-I` and `-iquote`.
fn folders(arguments: &Arguments) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let mut words = arguments.words.iter();
    while let Some(word) = words.next() {
        let Word::Option(option) = word else { continue };
        let option = option.to_string_lossy();
        if option == "-I" || option == "-iquote" {
            if let Some(Word::Option(folder)) = words.next() {
                folders.push(folder.into());
            }
        } else if let Some(folder) = option.strip_prefix("-I") {
            folders.push(folder.into());
        }
    }
    folders
}

/// Returns the headers that a text includes, as far as they are found.
fn found(folders: &[PathBuf], path: &Path, text: &str) -> Vec<PathBuf> {
    let beside = path.parent().unwrap_or(Path::new("")).to_owned();
    let mut found = Vec::new();
    for line in text.lines() {
        let Some(named) = line.trim_start().strip_prefix('#').map(str::trim_start) else { continue };
        let Some(named) = named.strip_prefix("include").map(str::trim_start) else { continue };
        let (close, is_quoted) = match named.as_bytes().first() {
            Some(b'"') => ('"', true),
            Some(b'<') => ('>', false),
            _ => continue,
        };
        let Some((name, _)) = named[1..].split_once(close) else { continue };
        let places = std::iter::once(&beside).filter(|_| is_quoted).chain(folders);
        found.extend(places.map(|folder| folder.join(name)).find(|path| path.is_file()));
    }
    found
}

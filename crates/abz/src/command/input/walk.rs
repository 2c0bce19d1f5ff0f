//! Iteration over the inputs: opens named files, and walks folders with `-r`.

use std::collections::{HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType};
use std::path::Path;

use crate::command::input::Input;
use crate::command::messages::problem::Problem;
use crate::command::request::{Inputs, Source};
use crate::command::system::temporary::is_temporary;

/// An iterator over the inputs, each opened when it is needed. The files of a folder come in the order of their
/// names, so that the order of messages is reproducible.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    inputs: &'a Inputs,
    /// The remaining sources, each with its file type if it was found in a folder.
    waiting: VecDeque<(Source, Option<FileType>)>,
    /// The names used so far in the common output folder.
    taken: HashSet<OsString>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(inputs: &'a Inputs) -> Self {
        let waiting = inputs.sources.iter().map(|source| (source.clone(), None)).collect();
        Walk { inputs, waiting, taken: HashSet::new() }
    }

    /// Queues the files and folders in `folder` before all others.
    fn enter(&mut self, folder: &Path) -> Result<(), Problem> {
        let cannot = |error| Problem::of_file(folder.display(), "cannot be read", &error);
        let mut found = Vec::new();
        // The folder is read completely first, so that new outputs are not found.
        for entry in fs::read_dir(folder).map_err(cannot)? {
            let entry = entry.map_err(cannot)?;
            let kind = entry.file_type().map_err(cannot)?;
            // A link may lead out of the folder, or back into it.
            if (kind.is_dir() || kind.is_file()) && !is_temporary(&entry.file_name()) {
                found.push((entry.path(), kind));
            }
        }
        found.sort_unstable_by(|(a, _), (b, _)| b.cmp(a));
        for (path, kind) in found {
            self.waiting.push_front((Source::File(path), Some(kind)));
        }
        Ok(())
    }

    /// Returns the problem of a file whose name another file has already used in the common output folder.
    fn is_taken(&mut self, path: &Path) -> Option<Problem> {
        let folder = self.inputs.one_folder.as_ref()?;
        let name = path.file_name().filter(|_| !self.inputs.force)?;
        let folder = folder.display();
        let message = format_args!("another file of this name goes to {folder} -- ignored");
        (!self.taken.insert(name.to_owned()))
            .then(|| Problem::new(self.inputs.behaviour.severities.exists, path.display(), message))
    }

    /// Returns `true` if the path is a folder to walk. `found` is its type if it was found in a folder.
    fn is_folder(&self, path: &Path, found: Option<FileType>) -> bool {
        match found {
            Some(kind) => kind.is_dir(),
            None if self.inputs.force => fs::metadata(path).is_ok_and(|metadata| metadata.is_dir()),
            None => fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir()),
        }
    }
}

impl Iterator for Walk<'_> {
    type Item = Result<Input, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (source, found) = self.waiting.pop_front()?;
            if let Source::File(path) = &source
                && self.inputs.exclude_compressed
                && is_compressed(path, self.inputs)
            {
                continue;
            }
            if let Source::File(path) = &source
                && self.inputs.recursive
                && self.is_folder(path, found)
            {
                match self.enter(path) {
                    Ok(()) => continue,
                    Err(problem) => return Some(Err(problem)),
                }
            }
            if let Source::File(path) = &source
                && let Some(problem) = self.is_taken(path)
            {
                return Some(Err(problem));
            }
            return Some(Input::open(source, found.is_some(), self.inputs));
        }
    }
}

/// Returns `true` if the name has the suffix of a compressed format.
fn is_compressed(path: &Path, inputs: &Inputs) -> bool {
    let name = path.file_name().unwrap_or_default();
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    inputs.names.without_suffix(name).is_some()
        || COMPRESSED.iter().any(|known| known.eq_ignore_ascii_case(extension))
}

/// Suffixes of compressed files of other formats: archives and packages, pictures, sound, films, documents.
const COMPRESSED: [&str; 66] = [
    "7z", "ace", "apk", "arj", "br", "bz3", "cab", "crate", "deb", "dmg", "ear", "ipa", "jar", "lha", "lz4",
    "lzo", "lzma", "rar", "rpm", "sz", "txz", "tzst", "war", "whl", "xpi", "xz", "Z", "zip", "zst", "avif",
    "gif", "heic", "jp2", "jpeg", "jpg", "jxl", "png", "webp", "aac", "ape", "flac", "m4a", "mp3", "ogg",
    "opus", "wma", "3gp", "avi", "flv", "m4v", "mkv", "mov", "mp4", "mpeg", "mpg", "webm", "wmv", "docx",
    "epub", "odp", "ods", "odt", "pptx", "woff", "woff2", "xlsx",
];

/// Returns the total size of all inputs, if known.
pub(crate) fn total(inputs: &Inputs) -> Option<u64> {
    inputs.sources.iter().try_fold(0u64, |total, source| match source {
        Source::Stdin => None,
        Source::File(path) => {
            let metadata = fs::metadata(path).or_else(|error| {
                let mut compressed = path.as_os_str().to_owned();
                compressed.push(OsStr::new(&inputs.names.suffix));
                fs::metadata(compressed).map_err(|_| error)
            });
            match metadata {
                Ok(metadata) if metadata.is_file() => Some(total.saturating_add(metadata.len())),
                Ok(metadata) if metadata.is_dir() && !inputs.recursive => Some(total),
                Ok(_) => None,
                Err(_) => Some(total),
            }
        }
    })
}

//! Where the output of an input goes.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::input::Input;
use super::options::{Action, Destination, Options, Source};
use super::problem::Problem;

/// Suffixes of compressed files beside the one that the user gave, in any case, and what replaces each.
const KNOWN: [(&[u8], &[u8]); 11] = [
    (b".gz", b""),
    (b".bz2", b""),
    (b".bz", b""),
    (b".tbz2", b".tar"),
    (b".tbz", b".tar"),
    (b".tgz", b".tar"),
    (b".taz", b".tar"),
    (b".z", b""),
    (b"-gz", b""),
    (b"-z", b""),
    (b"_z", b""),
];

/// Where output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    File(PathBuf),
    Stdout,
    Nowhere,
}

impl Target {
    /// The target of `input`.
    pub(super) fn of(input: &Input, options: &Options) -> Result<Target, Problem> {
        let path = match (&options.destination, &input.source) {
            (Destination::Nowhere, _) => return Ok(Target::Nowhere),
            (Destination::File(file), _) => return Ok(Target::File(file.clone())),
            (Destination::Stdout, _) | (Destination::Beside, Source::Stdin) => return Ok(Target::Stdout),
            (Destination::Beside, Source::File(path)) => path,
        };
        let name = path.file_name().unwrap_or_default();
        let stem = without_suffix(name, &options.suffix);
        let name = match (options.action, stem) {
            (Action::Compress, Some(_)) if !options.force => {
                return Err(Problem::note(input, "already has the suffix of a compressed file -- unchanged"));
            }
            (Action::Compress, _) => with_suffix(name, &options.suffix),
            (_, stem) if options.naming.restores => match input.stored_name().or(stem) {
                Some(name) => name,
                None => return Err(unknown_suffix(input, options)),
            },
            (_, Some(stem)) => stem,
            (_, None) => return Err(unknown_suffix(input, options)),
        };
        Ok(Target::File(path.with_file_name(name)))
    }
}

fn unknown_suffix(input: &Input, options: &Options) -> Problem {
    let suffix = options.suffix.display();
    Problem::warning(input, format_args!("unknown suffix, expected {suffix} -- ignored (use -c, or -o FILE)"))
}

/// `path` without the suffix of compressed files, if it has one.
pub(super) fn plain_path(path: &Path, suffix: &OsStr) -> Option<PathBuf> {
    without_suffix(path.file_name()?, suffix).map(|name| path.with_file_name(name))
}

/// `path` with the suffix of compressed files, if it has none yet.
pub(super) fn compressed_path(path: &Path, suffix: &OsStr) -> Option<PathBuf> {
    let name = path.file_name()?;
    without_suffix(name, suffix).is_none().then(|| path.with_file_name(with_suffix(name, suffix)))
}

fn with_suffix(name: &OsStr, suffix: &OsStr) -> OsString {
    let mut name = name.to_owned();
    name.push(suffix);
    name
}

/// The name of what was compressed to a file of the given name; `None` if that does not end with a known suffix,
/// or is nothing but one.
fn without_suffix(name: &OsStr, suffix: &OsStr) -> Option<OsString> {
    let name = name.as_bytes();
    let known = std::iter::once((suffix.as_bytes(), &b""[..])).chain(KNOWN);
    for (suffix, replacement) in known {
        if let Some(at) = name.len().checked_sub(suffix.len())
            && at > 0
            && name[at..].eq_ignore_ascii_case(suffix)
        {
            return Some(OsString::from_vec([&name[..at], replacement].concat()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_those_of_the_formats() {
        let stem = |name: &str| {
            without_suffix(name.as_ref(), ".gz".as_ref()).map(|stem| stem.into_string().unwrap())
        };
        for (name, expected) in [
            ("x.gz", Some("x")),
            ("x.GZ", Some("x")),
            ("x.tgz", Some("x.tar")),
            ("x.taz", Some("x.tar")),
            ("x.Z", Some("x")),
            ("x-gz", Some("x")),
            ("x_z", Some("x")),
            ("x.tar.gz", Some("x.tar")),
            ("x", None),
            (".gz", None),
            ("x.bz2", Some("x")),
            ("x.tbz2", Some("x.tar")),
            ("x.bz3", None),
        ] {
            assert_eq!(stem(name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn a_suffix_of_the_users_comes_first() {
        assert_eq!(without_suffix("x.foo".as_ref(), ".foo".as_ref()), Some("x".into()));
        assert_eq!(without_suffix("x.gz".as_ref(), ".foo".as_ref()), Some("x".into()));
        assert_eq!(compressed_path("d/x".as_ref(), ".foo".as_ref()), Some("d/x.foo".into()));
        assert_eq!(compressed_path("d/x.gz".as_ref(), ".foo".as_ref()), None);
    }
}

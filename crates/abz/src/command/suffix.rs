//! The names of compressed files, and of what is in them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use abz::Format;

use super::options::Options;

/// The suffix of indices, behind that of compressed files.
pub(super) const INDEX_SUFFIX: &str = ".abzi";

/// `path` without the suffix of compressed files, if it has one.
pub(super) fn plain_path(path: &Path, options: &Options) -> Option<PathBuf> {
    without_suffix(path.file_name()?, options).map(|name| path.with_file_name(name))
}

/// `path` with the suffix of compressed files, if it has none yet.
pub(super) fn compressed_path(path: &Path, options: &Options) -> Option<PathBuf> {
    let name = path.file_name()?;
    let path = || path.with_file_name(with_suffix(name, &options.suffix));
    without_suffix(name, options).is_none().then(path)
}

/// A name with one more ending.
pub(super) fn with_suffix(name: &OsStr, suffix: &OsStr) -> OsString {
    let mut name = name.to_owned();
    name.push(suffix);
    name
}

/// The name of what was compressed to a file of the given name; `None` if that does not end with a known suffix,
/// or is nothing but one.
pub(super) fn without_suffix(name: &OsStr, options: &Options) -> Option<OsString> {
    let name = name.as_bytes();
    let known: Box<dyn Iterator<Item = &(&str, &str)>> = match options.manners.suffixes {
        Some(known) => Box::new(known.iter()),
        None => Box::new(Format::all().flat_map(|format| format.suffixes())),
    };
    let known = known.map(|(suffix, replacement)| (suffix.as_bytes(), replacement.as_bytes()));
    let known = std::iter::once((options.suffix.as_bytes(), &b""[..])).chain(known);
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
    use abz::Written;

    use super::*;

    #[test]
    fn suffixes_are_those_of_the_formats() {
        let options = Options::plain(Written::GZIP);
        let stem =
            |name: &str| without_suffix(name.as_ref(), &options).map(|stem| stem.into_string().unwrap());
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
            ("x.tar.zst", Some("x.tar")),
            ("x.tzst", Some("x.tar")),
            ("x.bz3", None),
            ("x.lz", Some("x")),
            ("x.tlz", Some("x.tar")),
        ] {
            assert_eq!(stem(name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn a_suffix_of_the_users_comes_first() {
        let options = Options { suffix: ".foo".into(), ..Options::plain(Written::GZIP) };
        assert_eq!(without_suffix("x.foo".as_ref(), &options), Some("x".into()));
        assert_eq!(without_suffix("x.gz".as_ref(), &options), Some("x".into()));
        assert_eq!(compressed_path("d/x".as_ref(), &options), Some("d/x.foo".into()));
        assert_eq!(compressed_path("d/x.gz".as_ref(), &options), None);
    }
}

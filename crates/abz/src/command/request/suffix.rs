//! Conversion between the names of compressed and uncompressed files.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use abz::Format;
use abz::program::facts;

/// The suffix of an index, added to the name of the compressed file.
pub(crate) const INDEX_SUFFIX: &str = ".abzi";

/// The suffixes of compressed files.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// The suffix of new compressed files, not empty.
    pub(crate) suffix: OsString,
    /// The other known suffixes, each with its replacement. `None` selects those of all formats.
    pub(crate) known: Option<&'static [(&'static str, &'static str)]>,
    /// Suffixes have letters of either case, as in gzip.
    pub(crate) any_case: bool,
}

impl Names {
    /// Returns `path` without the suffix of a compressed file, if it has one.
    pub(crate) fn plain_path(&self, path: &Path) -> Option<PathBuf> {
        self.without_suffix(path.file_name()?).map(|name| path.with_file_name(name))
    }

    /// Returns `path` with the suffix added, if it has no known one.
    pub(crate) fn compressed_path(&self, path: &Path) -> Option<PathBuf> {
        let name = path.file_name()?;
        let path = || path.with_file_name(with_suffix(name, &self.suffix));
        self.without_suffix(name).is_none().then(path)
    }

    /// Returns the files that `path` may stand for.
    pub(crate) fn candidates(&self, path: &Path) -> impl Iterator<Item = PathBuf> {
        std::iter::once(path.to_owned()).chain(self.compressed_path(path))
    }

    /// Returns a name without its suffix, or `None` if it has no known suffix or is nothing else.
    pub(crate) fn without_suffix(&self, name: &OsStr) -> Option<OsString> {
        let of_user = std::iter::once((self.suffix.as_bytes(), &b""[..]));
        let bytes = |(suffix, stem): &(&'static str, &'static str)| (suffix.as_bytes(), stem.as_bytes());
        match self.known {
            Some(known) => strip(name, of_user.chain(known.iter().map(bytes)), self.any_case),
            None => {
                let known = Format::all().flat_map(|format| facts(format).suffixes).map(bytes);
                strip(name, of_user.chain(known), self.any_case)
            }
        }
    }
}

/// Returns a name with `suffix` added.
pub(crate) fn with_suffix(name: &OsStr, suffix: &OsStr) -> OsString {
    let mut name = name.to_owned();
    name.push(suffix);
    name
}

/// Replaces the first suffix that matches.
fn strip<'a>(
    name: &OsStr,
    ends: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    any_case: bool,
) -> Option<OsString> {
    let name = name.as_bytes();
    for (suffix, replacement) in ends {
        if let Some(at) = name.len().checked_sub(suffix.len())
            && at > 0
            && (name[at..] == *suffix || any_case && name[at..].eq_ignore_ascii_case(suffix))
        {
            return Some(OsString::from_vec([&name[..at], replacement].concat()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(suffix: &str) -> Names {
        Names { suffix: suffix.into(), known: None, any_case: true }
    }

    #[test]
    fn suffixes_are_those_of_the_formats() {
        let names = names(".gz");
        let stem = |name: &str| names.without_suffix(name.as_ref()).map(|stem| stem.into_string().unwrap());
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
    fn the_case_of_a_suffix_counts_where_it_does_for_the_tool() {
        let names = Names { any_case: false, ..names(".bz2") };
        assert_eq!(names.without_suffix("x.bz2".as_ref()), Some("x".into()));
        assert_eq!(names.without_suffix("x.BZ2".as_ref()), None);
    }

    #[test]
    fn a_suffix_of_the_users_comes_first() {
        let names = names(".foo");
        assert_eq!(names.without_suffix("x.foo".as_ref()), Some("x".into()));
        assert_eq!(names.without_suffix("x.gz".as_ref()), Some("x".into()));
        assert_eq!(names.compressed_path("d/x".as_ref()), Some("d/x.foo".into()));
        assert_eq!(names.compressed_path("d/x.gz".as_ref()), None);
    }
}

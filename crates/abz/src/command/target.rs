//! Where the output of an input goes.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::console::Told;
use super::input::Input;
use super::options::{Action, Destination, Options, Source};
use super::problem::Problem;

/// The suffix of indices, behind that of compressed files.
pub(super) const INDEX_SUFFIX: &str = ".abzi";

/// Where output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    File(PathBuf),
    Stdout,
    Nowhere,
}

impl Target {
    /// The target of `input`. Where its name had to be guessed, that is told.
    pub(super) fn of(input: &Input, options: &Options, told: &mut Told) -> Result<Target, Problem> {
        let path = match (&options.destination, &input.source) {
            (Destination::Nowhere, _) => return Ok(Target::Nowhere),
            (Destination::File(file), _) => return Ok(Target::File(file.clone())),
            (Destination::Stdout, _) | (Destination::Beside | Destination::Folder(_), Source::Stdin) => {
                return Ok(Target::Stdout);
            }
            (Destination::Beside | Destination::Folder(_), Source::File(path)) => path,
        };
        let name = path.file_name().unwrap_or_default();
        let stem = without_suffix(name, options);
        let manners = &options.manners;
        if let Some(severity) = manners.severities.suffix
            && options.action == Action::Compress
            && stem.is_some()
            && !options.force
        {
            return Err(Problem::new(
                severity,
                input,
                "already has the suffix of a compressed file -- unchanged",
            ));
        }
        let name = match (options.action, stem) {
            (Action::Index, _) => with_suffix(name, INDEX_SUFFIX.as_ref()),
            (Action::Compress, _) => with_suffix(name, &options.suffix),
            (_, stem) if options.naming.restores => match input.stored_name().or(stem) {
                Some(name) => name,
                None => return Err(unknown_suffix(input, options)),
            },
            (_, Some(stem)) => stem,
            (_, None) => {
                let addition = manners.guesses.ok_or_else(|| unknown_suffix(input, options))?;
                let guess = with_suffix(name, addition.as_ref());
                let message = format_args!("the original name is not known, {} is taken", guess.display());
                told.add(Err(Problem::new(manners.severities.no_suffix, input, message).afterwards()));
                guess
            }
        };
        Ok(Target::File(match &options.destination {
            Destination::Folder(folder) => folder.join(name),
            _ => path.with_file_name(name),
        }))
    }
}

fn unknown_suffix(input: &Input, options: &Options) -> Problem {
    let suffix = options.suffix.display();
    let advice = if options.manners.are_foreign() { "use -c" } else { "use -c, or -o FILE" };
    let message = format_args!("unknown suffix, expected {suffix} -- ignored ({advice})");
    Problem::new(options.manners.severities.no_suffix, input, message)
}

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

fn with_suffix(name: &OsStr, suffix: &OsStr) -> OsString {
    let mut name = name.to_owned();
    name.push(suffix);
    name
}

/// The name of what was compressed to a file of the given name; `None` if that does not end with a known suffix,
/// or is nothing but one.
pub(super) fn without_suffix(name: &OsStr, options: &Options) -> Option<OsString> {
    let name = name.as_bytes();
    let known = options.manners.suffixes.iter();
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
    use abz::Format;

    use super::*;

    #[test]
    fn suffixes_are_those_of_the_formats() {
        let options = Options::plain(Format::Gzip);
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
        let options = Options { suffix: ".foo".into(), ..Options::plain(Format::Gzip) };
        assert_eq!(without_suffix("x.foo".as_ref(), &options), Some("x".into()));
        assert_eq!(without_suffix("x.gz".as_ref(), &options), Some("x".into()));
        assert_eq!(compressed_path("d/x".as_ref(), &options), Some("d/x.foo".into()));
        assert_eq!(compressed_path("d/x.gz".as_ref(), &options), None);
    }
}

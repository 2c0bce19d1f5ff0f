//! The behaviour of abz, and of the tools by whose names it can be called, where users see a difference.

use std::process::ExitCode;

use abz::{Error, Format};

use crate::command::messages::options::{self, Options};
use crate::command::messages::problem::Severity;
use crate::command::messages::status::Status;

/// The behaviour of a tool: severities, formats that it reads, exit statuses, and more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Behaviour {
    /// The name that messages begin with.
    pub(crate) name: &'static str,
    /// The spelling of the options that messages mention.
    pub(crate) options: Options,
    /// The formats that are read; `None` for all. A file of any other format is reported as a damaged file of the
    /// first one.
    pub(crate) reads: Option<&'static [Format]>,
    /// The suffix added to the name of a decompressed file if its suffix is unknown. `None`: such a file is refused.
    pub(crate) guesses: Option<&'static str>,
    /// The known suffixes, each with its replacement. `None` selects those of all formats.
    pub(crate) suffixes: Option<&'static [(&'static str, &'static str)]>,
    /// The user at a terminal is asked whether to overwrite a file.
    pub(crate) asks: bool,
    /// A damaged lzip member is decoded as far as possible before the damage is reported.
    pub(crate) gives_what_it_can: bool,
    pub(crate) severities: Severities,
    /// Inputs that are kept may be symbolic links or have several hard links.
    pub(crate) keeps_links: bool,
    pub(crate) special_bits: SpecialBits,
    /// The tool's message for a damaged file. `None`: the message of abz is used.
    pub(crate) words: fn(&Error) -> Option<&'static str>,
    /// A file of another format may follow a gzip member, and is decoded too.
    pub(crate) takes_mixed: bool,
    /// When a file that has the suffix already is refused, unless `severities.suffix` is `None`.
    pub(crate) suffixed: Suffixed,
    /// No further input is processed after one has failed.
    pub(crate) stops_at_failure: bool,
    /// The outputs to which files that are not compressed are copied with `--force`.
    pub(crate) copies: Copies,
    /// An empty file counts as not compressed, and is copied. Otherwise it is an error.
    pub(crate) copies_empty: bool,
    /// The format of an input is checked before its name.
    pub(crate) looks_first: bool,
    /// Trailing bytes that contain the start of another member are damage. Otherwise they are ignored, as other
    /// trailing bytes.
    pub(crate) looks_behind: bool,
    /// The format of `--list`.
    pub(crate) lists: Lists,
    /// The exit statuses after a warning, an error, and a damaged file.
    pub(crate) statuses: [u8; 3],
    /// Returns the exit status after a failed write, by `errno`. `None`: the status of an error.
    pub(crate) write_status: Option<fn(i32) -> u8>,
}

/// The outputs to which files that are not compressed are copied unchanged, as `zcat -f` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copies {
    Nowhere,
    ToStdout,
    /// To files as well.
    Everywhere,
}

/// When a file to be compressed is refused because its name has the suffix of compressed files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Suffixed {
    /// Even if the output goes to standard output or to a file of another name.
    pub(crate) everywhere: bool,
    /// Even with `--force`.
    pub(crate) even_forced: bool,
    /// The end of the message.
    pub(crate) advice: &'static str,
}

impl Suffixed {
    /// If the output would get the suffix twice, unless it is forced.
    pub(crate) const UNLESS_FORCED: Self =
        Suffixed { everywhere: false, even_forced: false, advice: "unchanged" };
}

/// The tool whose format `--list` uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lists {
    /// The format of abz, which is that of gzip except for the columns of `-v`.
    Own,
    Gzip,
    Pigz,
    Lzip,
    Xz,
    Zstd,
}

/// The severities of conditions on which tools differ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Severities {
    /// A file to be compressed has the suffix already. `None`: it is compressed again.
    pub(crate) suffix: Option<Severity>,
    /// A file to be decompressed has no known suffix.
    pub(crate) no_suffix: Severity,
    /// The input cannot be opened.
    pub(crate) missing: Severity,
    /// The output exists.
    pub(crate) exists: Severity,
    /// The input is a folder, or not a regular file.
    pub(crate) no_file: Severity,
    /// The input is a symbolic link. `None`: it is followed.
    pub(crate) link: Option<Severity>,
    /// The input has several hard links. `None`: it is processed.
    pub(crate) names: Option<Severity>,
    /// Bytes follow the last member. `None`: they are ignored silently.
    pub(crate) garbage: Option<Severity>,
    /// A single byte follows the last member. `None`: it is treated as other trailing bytes.
    pub(crate) lone_byte: Option<Severity>,
    /// The time of the input cannot be stored. `None`: it is left out silently.
    pub(crate) time: Option<Severity>,
}

impl Severities {
    /// Returns the same severity for most conditions.
    pub(crate) const fn all(severity: Severity) -> Self {
        Severities {
            suffix: Some(severity),
            no_suffix: severity,
            missing: Severity::Error,
            exists: severity,
            no_file: severity,
            link: Some(severity),
            names: Some(severity),
            garbage: Some(severity),
            lone_byte: None,
            time: Some(severity),
        }
    }
}

/// The treatment of a file's setuid, setgid and sticky bits. The output has other contents than those for which the
/// bits were set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpecialBits {
    /// When a file with such bits is refused.
    pub(crate) refused: Refusal,
    /// The bits that the output gets too.
    pub(crate) kept: u32,
    /// The output has lost bits of an input that is removed. `None`: nothing is reported.
    pub(crate) lost: Option<Severity>,
}

/// When a file is refused because of its special bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Never,
    /// If the input would be removed, unless `--force` is given.
    UnlessKept,
    /// If the output is a file beside it. `--force` is enough for the sticky bit.
    Always,
}

impl SpecialBits {
    /// The bits are lost, and nothing is reported.
    pub(crate) const LOST: Self = SpecialBits { refused: Refusal::Never, kept: 0, lost: None };
}

/// The behaviour of `abz` under its own name, which is mostly that of gzip.
pub(crate) const OWN: Behaviour = Behaviour {
    name: "abz",
    options: options::OWN,
    reads: None,
    guesses: None,
    suffixes: None,
    asks: true,
    gives_what_it_can: false,
    severities: Severities {
        suffix: Some(Severity::Note),
        link: Some(Severity::Error),
        time: None,
        ..Severities::all(Severity::Warning)
    },
    keeps_links: false,
    special_bits: SpecialBits { refused: Refusal::UnlessKept, kept: 0, lost: Some(Severity::Note) },
    words: |_| None,
    takes_mixed: false,
    suffixed: Suffixed::UNLESS_FORCED,
    stops_at_failure: false,
    copies: Copies::ToStdout,
    copies_empty: true,
    looks_first: false,
    looks_behind: true,
    lists: Lists::Own,
    statuses: [2, 1, 1],
    write_status: None,
};

impl Behaviour {
    /// Returns `true` if the format is read.
    pub(crate) fn read(&self, format: Format) -> bool {
        self.reads.is_none_or(|reads| reads.contains(&format))
    }

    /// Returns the format as which an unknown file is reported.
    pub(crate) fn first_read(&self) -> Format {
        self.reads.and_then(|reads| reads.first()).copied().unwrap_or_default()
    }

    /// Returns `true` for another tool than abz.
    pub(crate) fn is_foreign(&self) -> bool {
        self.name != OWN.name
    }

    /// Returns the exit status of the process.
    pub(crate) fn exit_code(&self, status: Status) -> ExitCode {
        let [warning, error, damage] = self.statuses;
        ExitCode::from(match status {
            Status::Success => 0,
            Status::Warning => warning,
            Status::Error => error,
            Status::Damage => damage,
        })
    }
}

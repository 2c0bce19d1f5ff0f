//! How the program behaves under the name of another: where its users would see a difference.

use std::process::ExitCode;

use abz::{Error, Format};

use super::options::{self, Options};
use super::problem::Severity;
use super::status::Status;

/// What is taken for how bad, which formats are read, and what the exit status says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manners {
    /// What messages begin with.
    pub(super) name: &'static str,
    /// How it spells the options that messages advise.
    pub(super) options: Options,
    /// The formats that are read, if not all are. Any other file is held against the first of them.
    pub(super) reads: Option<&'static [Format]>,
    /// What an unknown name becomes when it is decompressed, instead of being refused.
    pub(super) guesses: Option<&'static str>,
    /// What ends a known name, and what becomes of that, if it is not to be what all formats say.
    pub(super) suffixes: Option<&'static [(&'static str, &'static str)]>,
    /// Whoever sits at the terminal is asked whether a file shall be overwritten.
    pub(super) asks: bool,
    /// What can be decoded of a damaged member of lzip is written, before the damage is told.
    pub(super) gives_what_it_can: bool,
    pub(super) severities: Severities,
    /// What stays anyway may be a link, or have other names.
    pub(super) keeps_links: bool,
    pub(super) special_bits: SpecialBits,
    /// What another tool says of a damaged file, if it is not to be what abz does.
    pub(super) words: fn(&Error) -> Option<&'static str>,
    /// Behind a member of gzip there may be a file of another format that is read.
    pub(super) takes_mixed: bool,
    /// What has the suffix already is not compressed under any circumstances, unless `suffix` is `None`.
    pub(super) minds_suffix: bool,
    /// No further input is taken after one that could not be converted.
    pub(super) stops_at_failure: bool,
    /// Where what is not compressed is copied, with force.
    pub(super) copies: Copies,
    /// An empty file is copied too. Otherwise it is cut.
    pub(super) copies_empty: bool,
    /// An input that cannot be read is found out before its name is looked at.
    pub(super) looks_first: bool,
    /// Whether bytes behind a member in which another member begins are damage. Other tools ignore them as any other bytes.
    pub(super) looks_behind: bool,
    /// The form of lists.
    pub(super) lists: Lists,
    /// The exit status after a warning, an error, and a damaged file.
    pub(super) statuses: [u8; 3],
    /// That after an output could not be written, by the number of the system's error, if it is another one.
    pub(super) write_status: Option<fn(i32) -> u8>,
}

/// Where what is not compressed is copied as it is, as `zcat -f` has always done it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copies {
    Nowhere,
    ToStdout,
    /// To files too.
    Everywhere,
}

/// Whose form a list has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lists {
    /// Its own, which is gzip's but for what -v adds.
    Own,
    Gzip,
    Pigz,
    Lzip,
    Xz,
    Zstd,
}

/// How bad it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Severities {
    /// What is to be compressed has the suffix already. `None`: it is compressed again.
    pub(super) suffix: Option<Severity>,
    /// What is to be decompressed has no known suffix.
    pub(super) no_suffix: Severity,
    /// The input cannot be opened.
    pub(super) missing: Severity,
    /// The output exists.
    pub(super) exists: Severity,
    /// The input is a folder, or neither that nor a file.
    pub(super) no_file: Severity,
    /// The input is a symbolic link. `None`: it is followed.
    pub(super) link: Option<Severity>,
    /// The input has other names. `None`: one of them is as good as another.
    pub(super) names: Option<Severity>,
    /// Something follows the last member. `None`: that is as it may be.
    pub(super) garbage: Option<Severity>,
    /// One byte does. `None`: that is no other case.
    pub(super) lone_byte: Option<Severity>,
    /// The time of the input cannot be stored. `None`: then it is not.
    pub(super) time: Option<Severity>,
}

impl Severities {
    /// The same for all.
    pub(super) const fn all(severity: Severity) -> Self {
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

/// What becomes of the rights to run as the owner or the group of a file, and of its sticky bit. An output under a new name has
/// other contents than those that they were given for.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpecialBits {
    /// Where a file with such bits is not taken.
    pub(super) refused: Refusal,
    /// Those that the output has too.
    pub(super) kept: u32,
    /// The input is removed, and its output has fewer. `None`: nobody is told.
    pub(super) lost: Option<Severity>,
}

/// Where a file is not taken for its special bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Never,
    /// Where it would be removed, without force.
    UnlessKept,
    /// Where it gets an output beside it. Force is enough for the sticky bit.
    Always,
}

impl SpecialBits {
    /// They get lost, and nobody is told.
    pub(super) const LOST: Self = SpecialBits { refused: Refusal::Never, kept: 0, lost: None };
}

/// Those of the program under its own name, which are gzip's in most.
pub(super) const OWN: Manners = Manners {
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
    minds_suffix: false,
    stops_at_failure: false,
    copies: Copies::ToStdout,
    copies_empty: true,
    looks_first: false,
    looks_behind: true,
    lists: Lists::Own,
    statuses: [2, 1, 1],
    write_status: None,
};

impl Manners {
    /// True of a format that is read.
    pub(super) fn read(&self, format: Format) -> bool {
        self.reads.is_none_or(|reads| reads.contains(&format))
    }

    /// What a file of no format that is read is held against.
    pub(super) fn first_read(&self) -> Format {
        self.reads.and_then(|reads| reads.first()).copied().unwrap_or_default()
    }

    /// True of those of another program.
    pub(super) fn are_foreign(&self) -> bool {
        self.name != OWN.name
    }

    /// What the process ends with.
    pub(super) fn exit_code(&self, status: Status) -> ExitCode {
        let [warning, error, damage] = self.statuses;
        ExitCode::from(match status {
            Status::Success => 0,
            Status::Warning => warning,
            Status::Error => error,
            Status::Damage => damage,
        })
    }
}

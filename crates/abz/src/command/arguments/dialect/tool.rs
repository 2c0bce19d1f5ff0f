//! The description of a tool and of its options.

use abz::Format;

use crate::command::messages::options::{OF_ABZ, Options, Spelling};
use crate::command::request::Sparse;
use crate::command::request::behaviour::Behaviour;

/// A tool whose command line abz understands.
pub(super) struct Tool {
    /// The names, each with its default action.
    pub(super) names: &'static [(&'static str, Mode)],
    pub(super) format: Format,
    /// The formats that `--format` can select for writing.
    pub(super) writes: &'static [Format],
    pub(super) behaviour: Behaviour,
    /// The options, some of them shared with other tools.
    pub(super) flags: &'static [&'static [Flag]],
    /// Environment variables with options, which precede those of the command line.
    pub(super) variables: &'static [&'static str],
    /// Environment variables that are the values of options.
    pub(super) numbers: &'static [(&'static str, Means)],
    /// Returns `true` for options that may be in `variables`.
    pub(super) allows: fn(Means) -> bool,
    /// Several options that select an action are an error. Otherwise the last one is used.
    pub(super) one_operation: bool,
    /// Decompressing after testing or listing decompresses. Otherwise these win.
    pub(super) last_operation: bool,
    /// If both standard output and a named output are asked for, the last one counts.
    pub(super) last_output: bool,
    /// A lone dash is no file.
    pub(super) ignores_dash: bool,
    /// A level that is too high becomes the highest one, with a warning. Levels above 19 need `--ultra`.
    pub(super) cuts_levels: bool,
    /// Inputs are kept by default.
    pub(super) keeps: bool,
    /// Standard input is read once, however often it is named.
    pub(super) takes_stdin_once: bool,
    /// Joining several inputs in one output requires `--force`.
    pub(super) asks_to_join: bool,
    pub(super) sparse: Sparse,
    /// Returns the exit status for a refused value of an option, or for an unknown option (`None`).
    pub(super) refuses_with: fn(Option<Means>) -> u8,
    /// With standard input as the input, the suffix is added to the name of the output if it is missing.
    pub(super) completes_names: bool,
    /// The name that decompresses to standard output copies files that are not compressed.
    pub(super) cat_copies: bool,
    /// Testing can be combined with standard output. Otherwise that is an error.
    pub(super) tests_to_stdout: bool,
    /// `--format` restricts which formats are read.
    pub(super) reads_named_format: bool,
    /// Symbolic links among the named inputs are skipped, except with `--force` or under the name that writes to
    /// standard output. It is an error if no input is left.
    pub(super) drops_links: bool,
}

impl Tool {
    /// Returns the spelling of the options that messages mention.
    pub(super) fn options(&self) -> Options {
        let mut options = OF_ABZ;
        // The first of several spellings is the one in the help.
        for flag in self.flags.iter().copied().flatten().rev() {
            let letter = flag.letters.chars().next().map(Spelling::Letter);
            let name = Some(flag.name).filter(|name| !name.is_empty()).map(Spelling::Name);
            match flag.means {
                Means::Threads => options.threads = letter.or(name).unwrap_or(options.threads),
                Means::Dictionary => options.dictionary = letter.or(name).unwrap_or(options.dictionary),
                Means::Long => options.window = name.unwrap_or(options.window),
                Means::MemoryLimit { compressing, decompressing } => {
                    let spelling = name.or(letter);
                    if let (true, Some(spelling)) = (compressing, spelling) {
                        options.memory_to_compress = spelling;
                    }
                    if let (true, Some(spelling)) = (decompressing, spelling) {
                        options.memory_to_decompress = spelling;
                    }
                }
                _ => {}
            }
        }
        options
    }
}

/// The default action of a tool's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Compress,
    Decompress,
    /// Decompress to standard output.
    Cat,
}

/// The meaning of an option, whatever its spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Means {
    Compress,
    Decompress,
    Test,
    List,
    Stdout,
    Output,
    OutputFolder {
        mirrors: bool,
    },
    ExcludeCompressed,
    Keep,
    Force,
    Recursive,
    Suffix,
    NoName,
    Name,
    Sync,
    Rsyncable,
    Level,
    LevelIs(u32),
    /// A negative level, -1 without a value.
    Fast,
    Threads,
    /// A size, a percentage of the physical memory, or 0 for no limit.
    MemoryLimit {
        compressing: bool,
        decompressing: bool,
    },
    /// The memory limit does not reduce the dictionary.
    NoAdjust,
    /// A size in KiB.
    Block,
    /// The settings of the filter, in the notation of xz.
    Filter,
    /// Says nothing about names with another suffix.
    QuietAboutNames,
    // Options of zstd only.
    Ultra,
    NoDictionaryId,
    Remove,
    Long,
    Dictionary,
    PatchFrom,
    Checksum,
    NoChecksum,
    // Options of lzip, xz or zstd only.
    Robot,
    /// A file with the names of inputs, each ended by a line feed, or by a zero byte.
    Files,
    Files0,
    Sparse,
    NoSparse,
    /// Whether files that are not compressed are copied.
    PassThrough(bool),
    FormatIs,
    Check,
    Extreme,
    SingleStream,
    IgnoreCheck,
    InfoMemory,
    Quieter,
    NoWarn,
    /// A block size with decimal units, such as k, and binary ones, such as Ki.
    MemberSize,
    /// A block size with binary units only.
    BlockSize,
    VolumeSize,
    /// Selects another output format.
    Writes(Format),
    DictionarySize,
    /// A number that is checked and ignored.
    Ignored {
        most: u32,
    },
    MatchLength,
    Recompress,
    TrailingError,
    LooseTrailing,
    EmptyError,
    MarkingError,
    Verbose,
    Quiet,
    Silent,
    License,
    Help,
    Version,
    /// Accepted and ignored.
    Nothing,
    /// Not supported; the message names an alternative.
    Refused(&'static str),
}

/// An option of a tool.
#[derive(Debug)]
pub(super) struct Flag {
    /// The short options; messages and help show the first.
    pub(super) letters: &'static str,
    /// The long option without dashes, or an empty string.
    pub(super) name: &'static str,
    pub(super) takes: Takes,
    pub(super) means: Means,
    /// The line in the help. Options without one are not listed.
    pub(super) help: &'static str,
}

/// The value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    /// In the same argument, or in the next one.
    Value,
    /// In the same argument, or none.
    Attached,
    /// The option letter itself, a digit.
    Digit,
    /// The option letter itself, a digit, with the digits after it.
    Digits,
}

impl Flag {
    pub(super) const fn new(letters: &'static str, name: &'static str, means: Means) -> Self {
        Flag { letters, name, takes: Takes::Nothing, means, help: "" }
    }

    pub(super) const fn takes(self, takes: Takes) -> Self {
        Flag { takes, ..self }
    }

    pub(super) const fn help(self, help: &'static str) -> Self {
        Flag { help, ..self }
    }
}

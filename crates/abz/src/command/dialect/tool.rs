//! What is told of a tool, and what its options mean.

use abz::Written;

use super::super::manners::Manners;
use super::super::options::{OF_ABZ, Options, Spelling};
use super::super::request::Sparse;

/// A tool, as far as its users see a difference.
pub(super) struct Tool {
    /// Its names, and what it does under each if it is not told.
    pub(super) names: &'static [(&'static str, Mode)],
    pub(super) format: Written,
    /// The formats that it writes if it is told to.
    pub(super) writes: &'static [Written],
    pub(super) manners: Manners,
    /// Its options, and those that it shares with others.
    pub(super) flags: &'static [&'static [Flag]],
    /// Variables of the environment with options that come before those of the command line.
    pub(super) variables: &'static [&'static str],
    /// Variables of the environment that are the values of options.
    pub(super) numbers: &'static [(&'static str, Means)],
    /// Which options these may have.
    pub(super) allows: fn(Means) -> bool,
    /// Two of the options that say what to do are a mistake. Otherwise the last one counts.
    pub(super) one_operation: bool,
    /// Inputs stay if nobody says otherwise.
    pub(super) keeps: bool,
    /// Standard input is one of the inputs, however often it is named.
    pub(super) takes_stdin_once: bool,
    /// Several inputs are joined in one output only with force.
    pub(super) asks_to_join: bool,
    pub(super) sparse: Sparse,
    /// The exit status if the value of an option is refused, or an option is none (`None`).
    pub(super) refuses_with: fn(Option<Means>) -> u8,
    /// What comes from standard input goes to a file with the suffix, whether the name of the output has it or not.
    pub(super) completes_names: bool,
    /// What decompresses to standard output copies what is not compressed.
    pub(super) cat_copies: bool,
    /// What is tested may go to standard output. Otherwise it is a mistake to say both.
    pub(super) tests_to_stdout: bool,
    /// The format that is named is the only one that is read.
    pub(super) reads_named_format: bool,
    /// Of the inputs that are named, symbolic links are passed over, unless all outputs go to standard output by the name of the
    /// tool, or there is force. It is an error if nothing is left.
    pub(super) drops_links: bool,
}

impl Tool {
    /// How it spells the options that messages advise.
    pub(super) fn options(&self) -> Options {
        let mut options = OF_ABZ;
        // The first of several spellings is the one that the help tells.
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

/// What a tool does if it is not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Compress,
    Decompress,
    /// Decompress to standard output.
    Cat,
}

/// What an option means, however the tool calls it.
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
    /// How many levels below 0: one, if it is not said.
    Fast,
    Threads,
    /// A size, a share of the memory there is, or 0 for none.
    MemoryLimit {
        compressing: bool,
        decompressing: bool,
    },
    /// The limit makes no dictionary smaller.
    NoAdjust,
    /// A size in KiB.
    Block,
    // What only zstd has.
    Remove,
    Long,
    Dictionary,
    PatchFrom,
    Checksum,
    NoChecksum,
    // What only lzip, xz or zstd has.
    Robot,
    /// Names of inputs are in a file, a line each, or behind each other with a zero byte.
    Files,
    Files0,
    Sparse,
    NoSparse,
    /// Copies what is not compressed, or does not.
    PassThrough(bool),
    FormatIs,
    Check,
    Extreme,
    SingleStream,
    IgnoreCheck,
    InfoMemory,
    Quieter,
    NoWarn,
    /// The size of a block, where units are multiples of 1000 if they are not called Ki and the like.
    MemberSize,
    /// The same, where they are multiples of 1024.
    BlockSize,
    VolumeSize,
    /// Writes another format than the tool's.
    Writes(Written),
    DictionarySize,
    /// A number, which changes nothing.
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
    /// It may be said, and nothing else comes out of it.
    Nothing,
    /// abz cannot do it, and what it can instead.
    Refused(&'static str),
}

/// An option of a tool.
#[derive(Debug)]
pub(super) struct Flag {
    /// The letters that mean it; of two or more the first is told.
    pub(super) letters: &'static str,
    /// The long name, or nothing.
    pub(super) name: &'static str,
    pub(super) takes: Takes,
    pub(super) means: Means,
    /// What the help says; options without it are not in the help.
    pub(super) help: &'static str,
}

/// Whether a value follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    /// In the same word or the next.
    Value,
    /// In the same word, or none.
    Attached,
    /// The letter, which is a digit.
    Digit,
    /// The letter, which is a digit, and those that follow it.
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

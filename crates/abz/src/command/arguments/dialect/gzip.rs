//! The command lines of gzip 1.12 and of pigz 2.6, which has further options.

use abz::Format;
use abz::gzip::{DecodeError, Fault};

use super::tool::{Flag, Means, Mode, Takes, Tool};
use crate::command::messages::problem::Severity;
use crate::command::request::Sparse;
use crate::command::request::behaviour::{
    Behaviour, Copies, Lists, OWN, Refusal, Severities, SpecialBits, Suffixed,
};

pub(super) static GZIP: Tool = Tool {
    names: &[("gzip", Mode::Compress), ("gunzip", Mode::Decompress), ("zcat", Mode::Cat)],
    format: Format::Gzip,
    writes: &[],
    behaviour: BEHAVIOUR,
    flags: &[FLAGS, GZIP_FLAGS],
    one_operation: false,
    last_operation: false,
    last_output: false,
    ignores_dash: false,
    cuts_levels: false,
    keeps: false,
    takes_stdin_once: false,
    asks_to_join: false,
    sparse: Sparse::Nowhere,
    refuses_with: |_| 1,
    completes_names: false,
    cat_copies: false,
    tests_to_stdout: true,
    reads_named_format: false,
    drops_links: false,
    variables: &["GZIP"],
    numbers: &[],
    // gzip accepts only options in the variable that do not change the action.
    allows: |means| {
        use Means::{
            Level, LevelIs, Name, NoName, Quiet, QuietAboutNames, Refused, Rsyncable, Sync, Verbose,
        };
        matches!(
            means,
            Level
                | LevelIs(_)
                | Name
                | NoName
                | Quiet
                | QuietAboutNames
                | Refused(_)
                | Rsyncable
                | Sync
                | Verbose
        )
    },
};

pub(super) static PIGZ: Tool = Tool {
    names: &[("pigz", Mode::Compress), ("unpigz", Mode::Decompress)],
    format: Format::Gzip,
    writes: &[],
    behaviour: Behaviour {
        reads: Some(&[Format::Gzip, Format::Compress, Format::Pack, Format::Lzh, Format::Zip, Format::Zlib]),
        suffixes: Some(&[
            (".gz", ""),
            (".z", ""),
            (".taz", ".tar"),
            (".tgz", ".tar"),
            ("-gz", ""),
            ("-z", ""),
            ("_z", ""),
            (".zz", ""),
            ("-zz", ""),
            (".zip", ""),
        ]),
        severities: Severities { names: None, garbage: None, time: None, ..Severities::all(Severity::Error) },
        special_bits: SpecialBits { kept: 0o1000, ..SpecialBits::LOST },
        words: OWN.words,
        takes_mixed: false,
        suffixed: Suffixed { everywhere: true, ..Suffixed::UNLESS_FORCED },
        lists: Lists::Pigz,
        write_status: Some(|error| error as u8),
        ..BEHAVIOUR
    },
    flags: &[FLAGS, PIGZ_FLAGS],
    one_operation: false,
    last_operation: false,
    last_output: false,
    ignores_dash: false,
    cuts_levels: false,
    keeps: false,
    takes_stdin_once: false,
    asks_to_join: false,
    sparse: Sparse::Nowhere,
    refuses_with: |_| 22,
    completes_names: false,
    cat_copies: false,
    tests_to_stdout: true,
    reads_named_format: false,
    drops_links: false,
    variables: &["GZIP", "PIGZ"],
    numbers: &[],
    allows: |_| true,
};

const BEHAVIOUR: Behaviour = Behaviour {
    name: "gzip",
    options: OWN.options,
    reads: Some(&[Format::Gzip, Format::Compress, Format::Pack, Format::Lzh, Format::Zip]),
    guesses: None,
    suffixes: Some(&[
        (".gz", ""),
        (".z", ""),
        (".taz", ".tar"),
        (".tgz", ".tar"),
        ("-gz", ""),
        ("-z", ""),
        ("_z", ""),
    ]),
    asks: true,
    gives_what_it_can: false,
    severities: Severities {
        link: Some(Severity::Error),
        suffix: Some(Severity::Note),
        // gzip reports an unexpected end after the first byte of a header.
        lone_byte: Some(Severity::Error),
        ..Severities::all(Severity::Warning)
    },
    keeps_links: false,
    special_bits: SpecialBits { refused: Refusal::Always, kept: 0, lost: None },
    words: |error| {
        Some(match error.damage::<DecodeError>()?.fault {
            Fault::Deflate => "invalid compressed data--format violated",
            Fault::Checksum { .. } => "invalid compressed data--crc error",
            Fault::Length { .. } | Fault::Disagreement { .. } => "invalid compressed data--length error",
            Fault::Truncated { .. } => "unexpected end of file",
            _ => return None,
        })
    },
    takes_mixed: true,
    suffixed: Suffixed::UNLESS_FORCED,
    stops_at_failure: false,
    copies: Copies::ToStdout,
    copies_empty: true,
    looks_first: false,
    looks_behind: false,
    lists: Lists::Gzip,
    statuses: OWN.statuses,
    write_status: None,
};

const FLAGS: &[Flag] = &[
    Flag::new("c", "stdout", Means::Stdout).help("write to standard output, keep FILE"),
    Flag::new("", "to-stdout", Means::Stdout),
    Flag::new("d", "decompress", Means::Decompress).help("decompress"),
    Flag::new("", "uncompress", Means::Decompress),
    Flag::new("f", "force", Means::Force)
        .help("overwrite files, follow links; with -cd copy what is not compressed"),
    Flag::new("h", "help", Means::Help).help("print this help"),
    Flag::new("k", "keep", Means::Keep).help("keep FILE"),
    Flag::new("l", "list", Means::List).help("list sizes"),
    Flag::new("L", "license", Means::License).help("print the license"),
    Flag::new("n", "no-name", Means::NoName).help("store, or restore, neither name nor time"),
    Flag::new("N", "name", Means::Name).help("store, or restore, name and time"),
    Flag::new("r", "recursive", Means::Recursive).help("process all files in folders"),
    Flag::new("S", "suffix", Means::Suffix).takes(Takes::Value).help("use the suffix X for compressed files"),
    Flag::new("t", "test", Means::Test).help("test"),
    Flag::new("v", "verbose", Means::Verbose).help("print what is done"),
    Flag::new("V", "version", Means::Version).help("print the version"),
    Flag::new("", "fast", Means::LevelIs(1)).help("compress fast, as -1"),
    Flag::new("", "best", Means::LevelIs(9)).help("compress well, as -9"),
    Flag::new("", "synchronous", Means::Sync).help("wait until the output is on disk"),
];

const GZIP_FLAGS: &[Flag] = &[
    Flag::new("123456789", "", Means::Level).takes(Takes::Digit),
    Flag::new("q", "quiet", Means::QuietAboutNames).help("print errors only"),
    Flag::new("", "silent", Means::QuietAboutNames),
    Flag::new("", "rsyncable", Means::Rsyncable).help("cut blocks by content, for rsync"),
    Flag::new("", "ascii", Means::Nothing),
    Flag::new("a", "", Means::Nothing),
    // The option is for the format of compress, which gzip no longer writes.
    Flag::new("b", "bits", Means::Ignored { most: 1 << 20 }).takes(Takes::Value),
    Flag::new("", "-presume-input-tty", Means::Nothing),
];

const PIGZ_FLAGS: &[Flag] = &[
    Flag::new("123456789", "", Means::Level).takes(Takes::Digits),
    Flag::new("p", "processes", Means::Threads).takes(Takes::Value).help("use X threads"),
    Flag::new("b", "blocksize", Means::Block).takes(Takes::Value).help("compress blocks of X KiB"),
    Flag::new("i", "independent", Means::Nothing),
    Flag::new("q", "quiet", Means::Silent).help("print nothing"),
    Flag::new("", "silent", Means::Silent),
    Flag::new("Y", "", Means::Sync),
    // These options are for zopfli, which pigz uses at level 11 only.
    Flag::new("F", "first", Means::Nothing),
    Flag::new("I", "iterations", Means::Nothing).takes(Takes::Value),
    Flag::new("J", "maxsplits", Means::Nothing).takes(Takes::Value),
    Flag::new("O", "oneblock", Means::Nothing),
    Flag::new("R", "rsyncable", Means::Rsyncable).help("cut blocks by content, for rsync"),
    Flag::new("0", "", Means::Refused("abz has no level 0")),
    Flag::new("K", "zip", Means::Writes(Format::Zip)).help("write zip archives with one file each"),
    Flag::new("z", "zlib", Means::Writes(Format::Zlib)).help("write zlib streams"),
    Flag::new("A", "alias", Means::Refused("--alias: abz stores the name of the file")).takes(Takes::Value),
    Flag::new("C", "comment", Means::Refused("--comment: abz stores no comments")).takes(Takes::Value),
    Flag::new("H", "huffman", Means::Refused("--huffman: abz has levels only")),
    Flag::new("U", "rle", Means::Refused("--rle: abz has levels only")),
    Flag::new("m", "no-time", Means::Refused("--no-time: use -n, which stores no name either")),
    Flag::new("M", "time", Means::Refused("--time: use -N, which stores the name too")),
];

//! The command lines of bzip2 1.0.8 and of lbzip2 2.5, which has further options.

use abz::Format;

use super::tool::{Flag, Means, Mode, Takes, Tool};
use crate::command::messages::problem::Severity;
use crate::command::request::Sparse;
use crate::command::request::behaviour::{Behaviour, Copies, Lists, OWN, Severities, SpecialBits, Suffixed};

pub(super) static BZIP2: Tool = Tool {
    names: &[("bzip2", Mode::Compress), ("bunzip2", Mode::Decompress), ("bzcat", Mode::Cat)],
    format: Format::Bzip2,
    writes: &[],
    behaviour: BEHAVIOUR,
    flags: &[FLAGS],
    one_operation: false,
    last_operation: true,
    last_output: false,
    ignores_dash: true,
    cuts_levels: false,
    keeps: false,
    takes_stdin_once: false,
    asks_to_join: false,
    sparse: Sparse::Nowhere,
    refuses_with: |_| 1,
    completes_names: false,
    cat_copies: false,
    tests_to_stdout: false,
    reads_named_format: false,
    drops_links: false,
    variables: &["BZIP2", "BZIP"],
    numbers: &[],
    allows: |_| true,
};

pub(super) static LBZIP2: Tool = Tool {
    names: &[("lbzip2", Mode::Compress), ("lbunzip2", Mode::Decompress), ("lbzcat", Mode::Cat)],
    behaviour: Behaviour {
        severities: Severities {
            garbage: Some(Severity::Note),
            no_suffix: Severity::Note,
            missing: Severity::Warning,
            ..Severities::all(Severity::Warning)
        },
        special_bits: SpecialBits { lost: Some(Severity::Warning), ..SpecialBits::LOST },
        copies: Copies::ToStdout,
        lists: Lists::Own,
        statuses: [4, 1, 1],
        ..BEHAVIOUR
    },
    flags: &[FLAGS, LBZIP2_FLAGS],
    variables: &["LBZIP2", "BZIP2", "BZIP"],
    numbers: &[],
    ..BZIP2
};

const BEHAVIOUR: Behaviour = Behaviour {
    name: "bzip2",
    options: OWN.options,
    reads: Some(&[Format::Bzip2]),
    guesses: Some(".out"),
    suffixes: Some(&[(".bz2", ""), (".bz", ""), (".tbz2", ".tar"), (".tbz", ".tar"), (".tz2", ".tar")]),
    asks: false,
    gives_what_it_can: false,
    severities: Severities {
        garbage: Some(Severity::Note),
        no_suffix: Severity::Note,
        ..Severities::all(Severity::Error)
    },
    keeps_links: false,
    special_bits: SpecialBits { kept: 0o1000, ..SpecialBits::LOST },
    words: OWN.words,
    takes_mixed: false,
    suffixed: Suffixed { everywhere: true, even_forced: true, ..Suffixed::UNLESS_FORCED },
    stops_at_failure: false,
    copies: Copies::Everywhere,
    copies_empty: false,
    looks_first: false,
    looks_behind: false,
    lists: Lists::Own,
    statuses: [0, 1, 2],
    write_status: None,
};

const FLAGS: &[Flag] = &[
    Flag::new("h", "help", Means::Help).help("print this help"),
    Flag::new("d", "decompress", Means::Decompress).help("decompress"),
    Flag::new("z", "compress", Means::Compress).help("compress"),
    Flag::new("k", "keep", Means::Keep).help("keep FILE"),
    Flag::new("f", "force", Means::Force)
        .help("overwrite files, follow links; with -cd copy what is not bzip2"),
    Flag::new("t", "test", Means::Test).help("test"),
    Flag::new("c", "stdout", Means::Stdout).help("write to standard output, keep FILE"),
    Flag::new("q", "quiet", Means::Quiet).help("print errors only"),
    Flag::new("v", "verbose", Means::Verbose).help("print what is done"),
    Flag::new("L", "license", Means::License).help("print the license"),
    Flag::new("V", "version", Means::Version).help("print the version"),
    Flag::new("123456789", "", Means::Level).takes(Takes::Digit),
    Flag::new("", "fast", Means::LevelIs(1)).help("compress blocks of 100 kB, as -1"),
    Flag::new("", "best", Means::LevelIs(9)).help("compress blocks of 900 kB, as -9, the default"),
    Flag::new("s", "small", Means::Nothing),
    Flag::new("", "repetitive-fast", Means::Nothing),
    Flag::new("", "repetitive-best", Means::Nothing),
    Flag::new("", "exponential", Means::Nothing),
];

const LBZIP2_FLAGS: &[Flag] = &[
    Flag::new("n", "", Means::Threads).takes(Takes::Value).help("use X threads"),
    Flag::new("u", "sequential", Means::Nothing),
    Flag::new("S", "", Means::Nothing),
];

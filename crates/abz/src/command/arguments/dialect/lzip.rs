//! The command lines of lzip 1.23 and plzip 1.10.

use abz::Format;

use super::tool::{Flag, Means, Mode, Takes, Tool};
use crate::command::messages::problem::Severity;
use crate::command::request::Sparse;
use crate::command::request::behaviour::{
    Behaviour, Copies, Lists, OWN, Refusal, Severities, SpecialBits, Suffixed,
};

pub(super) static LZIP: Tool = Tool {
    names: &[("lzip", Mode::Compress)],
    format: Format::Lzip,
    writes: &[],
    behaviour: Behaviour {
        name: "lzip",
        options: OWN.options,
        reads: Some(&[Format::Lzip]),
        guesses: Some(".out"),
        suffixes: Some(&[(".lz", ""), (".tlz", ".tar")]),
        asks: false,
        gives_what_it_can: true,
        severities: Severities {
            garbage: None,
            link: None,
            names: None,
            no_suffix: Severity::Note,
            time: None,
            ..Severities::all(Severity::Error)
        },
        keeps_links: false,
        special_bits: SpecialBits { refused: Refusal::Never, kept: 0o7000, lost: None },
        words: OWN.words,
        takes_mixed: false,
        suffixed: Suffixed {
            everywhere: true,
            even_forced: true,
            advice: "ignored (use -F to compress it again)",
        },
        stops_at_failure: true,
        copies: Copies::Nowhere,
        copies_empty: true,
        looks_first: false,
        looks_behind: false,
        lists: Lists::Lzip,
        statuses: [0, 1, 2],
        write_status: None,
    },
    flags: &[FLAGS],
    variables: &[],
    numbers: &[],
    allows: |_| true,
    // Two operations are an error.
    one_operation: true,
    last_operation: false,
    last_output: false,
    ignores_dash: false,
    cuts_levels: false,
    keeps: false,
    takes_stdin_once: true,
    asks_to_join: false,
    sparse: Sparse::Nowhere,
    refuses_with: |_| 1,
    completes_names: true,
    cat_copies: false,
    tests_to_stdout: true,
    reads_named_format: false,
    drops_links: false,
};

/// plzip takes another member after trailing data for damage.
pub(super) static PLZIP: Tool = Tool {
    names: &[("plzip", Mode::Compress)],
    behaviour: Behaviour { looks_behind: true, ..LZIP.behaviour },
    ..LZIP
};

const FLAGS: &[Flag] = &[
    Flag::new("h", "help", Means::Help).help("print this help"),
    Flag::new("V", "version", Means::Version).help("print the version"),
    Flag::new("a", "trailing-error", Means::TrailingError).help("treat trailing data as an error"),
    Flag::new("b", "member-size", Means::MemberSize).takes(Takes::Value).help("compress members of X bytes"),
    Flag::new("c", "stdout", Means::Stdout).help("write to standard output, keep FILE"),
    Flag::new("d", "decompress", Means::Decompress).help("decompress"),
    Flag::new("f", "force", Means::Force).help("overwrite files"),
    Flag::new("F", "recompress", Means::Recompress).help("compress files that have the suffix already"),
    Flag::new("k", "keep", Means::Keep).help("keep FILE"),
    Flag::new("l", "list", Means::List).help("list sizes"),
    Flag::new("m", "match-length", Means::MatchLength)
        .takes(Takes::Value)
        .help("match length limit in bytes"),
    Flag::new("n", "threads", Means::Threads).takes(Takes::Value).help("use X threads"),
    Flag::new("o", "output", Means::Output).takes(Takes::Value).help("write to the file X"),
    Flag::new("q", "quiet", Means::Silent).help("print nothing"),
    Flag::new("s", "dictionary-size", Means::DictionarySize)
        .takes(Takes::Value)
        .help("dictionary size in bytes"),
    Flag::new("t", "test", Means::Test).help("test"),
    Flag::new("v", "verbose", Means::Verbose).help("print what is done"),
    Flag::new("0123456789", "", Means::Level).takes(Takes::Digit),
    Flag::new("", "fast", Means::LevelIs(0)).help("compress fast, as -0"),
    Flag::new("", "best", Means::LevelIs(9)).help("compress well, as -9"),
    Flag::new("", "loose-trailing", Means::LooseTrailing)
        .help("accept trailing data that resembles a header"),
    Flag::new("", "empty-error", Means::EmptyError).help("treat an empty member as an error"),
    Flag::new("", "marking-error", Means::MarkingError).help("treat a member with a marker as an error"),
    Flag::new("S", "volume-size", Means::VolumeSize)
        .takes(Takes::Value)
        .help("write files of at most X bytes, FILE00001.lz and so on"),
    Flag::new("B", "data-size", Means::MemberSize).takes(Takes::Value),
    // The number of threads limits how many blocks wait in memory.
    Flag::new("", "in-slots", Means::Ignored { most: 64 }).takes(Takes::Value),
    Flag::new("", "out-slots", Means::Ignored { most: 1024 }).takes(Takes::Value),
];

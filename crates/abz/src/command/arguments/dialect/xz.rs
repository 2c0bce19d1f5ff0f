//! The command lines of xz 5.4, and of its alias lzma, which writes `.lzma`.

use abz::Format;

use super::tool::{Flag, Means, Mode, Takes, Tool};
use crate::command::messages::problem::Severity;
use crate::command::request::Sparse;
use crate::command::request::behaviour::{
    Behaviour, Copies, Lists, OWN, Refusal, Severities, SpecialBits, Suffixed,
};

pub(super) static XZ: Tool = Tool {
    names: &[("xz", Mode::Compress), ("unxz", Mode::Decompress), ("xzcat", Mode::Cat)],
    format: Format::Xz,
    writes: &[Format::Xz, Format::Lzma],
    behaviour: BEHAVIOUR,
    flags: &[FLAGS],
    variables: &["XZ_DEFAULTS", "XZ_OPT"],
    numbers: &[],
    allows: |_| true,
    one_operation: false,
    last_operation: true,
    last_output: false,
    ignores_dash: false,
    cuts_levels: false,
    keeps: false,
    takes_stdin_once: false,
    asks_to_join: false,
    sparse: Sparse::Everywhere,
    refuses_with: |_| 1,
    completes_names: false,
    cat_copies: false,
    tests_to_stdout: true,
    reads_named_format: true,
    drops_links: false,
};

pub(super) static LZMA: Tool = Tool {
    names: &[("lzma", Mode::Compress), ("unlzma", Mode::Decompress), ("lzcat", Mode::Cat)],
    format: Format::Lzma,
    behaviour: Behaviour { reads: Some(&[Format::Lzma]), ..BEHAVIOUR },
    ..XZ
};

const BEHAVIOUR: Behaviour = Behaviour {
    name: "xz",
    options: OWN.options,
    reads: Some(&[Format::Xz, Format::Lzma, Format::Lzip]),
    guesses: None,
    suffixes: Some(&[(".xz", ""), (".txz", ".tar"), (".lzma", ""), (".tlz", ".tar"), (".lz", "")]),
    asks: false,
    gives_what_it_can: false,
    severities: Severities {
        exists: Severity::Error,
        garbage: Some(Severity::Damage),
        time: None,
        ..Severities::all(Severity::Warning)
    },
    keeps_links: true,
    special_bits: SpecialBits { refused: Refusal::UnlessKept, kept: 0, lost: None },
    words: OWN.words,
    takes_mixed: false,
    suffixed: Suffixed { even_forced: true, ..Suffixed::UNLESS_FORCED },
    stops_at_failure: false,
    copies: Copies::ToStdout,
    copies_empty: true,
    looks_first: true,
    looks_behind: true,
    lists: Lists::Xz,
    statuses: [2, 1, 1],
    write_status: None,
};

const FLAGS: &[Flag] = &[
    Flag::new("z", "compress", Means::Compress).help("compress"),
    Flag::new("d", "decompress", Means::Decompress).help("decompress"),
    Flag::new("", "uncompress", Means::Decompress),
    Flag::new("t", "test", Means::Test).help("test"),
    Flag::new("l", "list", Means::List).help("list sizes"),
    Flag::new("k", "keep", Means::Keep).help("keep FILE"),
    Flag::new("f", "force", Means::Force)
        .help("overwrite files, follow links; with -cd copy what is not compressed"),
    Flag::new("c", "stdout", Means::Stdout).help("write to standard output, keep FILE"),
    Flag::new("", "to-stdout", Means::Stdout),
    Flag::new("", "no-sparse", Means::NoSparse).help("write zeros instead of leaving holes"),
    Flag::new("S", "suffix", Means::Suffix).takes(Takes::Value).help("use the suffix X for compressed files"),
    Flag::new("F", "format", Means::FormatIs)
        .takes(Takes::Value)
        .help("auto, xz or lzma: write this format, or read only this one"),
    Flag::new("C", "check", Means::Check).takes(Takes::Value).help("none, crc32, crc64 or sha256"),
    Flag::new("0123456789", "", Means::Level).takes(Takes::Digit),
    Flag::new("", "fast", Means::LevelIs(0)),
    Flag::new("", "best", Means::LevelIs(9)),
    Flag::new("e", "extreme", Means::Extreme).help("take more time for smaller files"),
    Flag::new("T", "threads", Means::Threads).takes(Takes::Value).help("use X threads"),
    Flag::new("", "block-size", Means::BlockSize).takes(Takes::Value).help("compress blocks of X bytes"),
    Flag::new("q", "quiet", Means::Quieter).help("print errors only; twice: nothing"),
    Flag::new("v", "verbose", Means::Verbose).help("print what is done"),
    Flag::new("Q", "no-warn", Means::NoWarn).help("exit with 0 after a warning"),
    Flag::new("hH", "help", Means::Help).help("print this help"),
    Flag::new("", "long-help", Means::Help),
    Flag::new("V", "version", Means::Version).help("print the version"),
    Flag::new("M", "memlimit", Means::MemoryLimit { compressing: true, decompressing: true })
        .takes(Takes::Value)
        .help("use at most X bytes of memory, with fewer threads"),
    Flag::new("", "memory", Means::MemoryLimit { compressing: true, decompressing: true })
        .takes(Takes::Value),
    Flag::new("", "memlimit-compress", Means::MemoryLimit { compressing: true, decompressing: false })
        .takes(Takes::Value),
    Flag::new("", "memlimit-decompress", Means::MemoryLimit { compressing: false, decompressing: true })
        .takes(Takes::Value),
    // abz has one limit to decompress, for one thread and for many.
    Flag::new("", "memlimit-mt-decompress", Means::Nothing).takes(Takes::Value),
    Flag::new("", "no-adjust", Means::NoAdjust).help("fail rather than use a smaller dictionary"),
    Flag::new("", "flush-timeout", Means::Nothing).takes(Takes::Value),
    Flag::new("", "robot", Means::Robot).help("with -l, print a list for programs"),
    Flag::new("", "info-memory", Means::InfoMemory).help("print the physical memory and the limits"),
    Flag::new("", "single-stream", Means::SingleStream)
        .help("decompress the first stream, and ignore what follows"),
    Flag::new("", "ignore-check", Means::IgnoreCheck).help("do not verify checks; damage goes unnoticed"),
    Flag::new("", "files", Means::Files)
        .takes(Takes::Attached)
        .help("process the files named in X, one on each line"),
    Flag::new("", "files0", Means::Files0)
        .takes(Takes::Attached)
        .help("the same, with names that end with a zero byte"),
    Flag::new("", "block-list", NO_FILTERS).takes(Takes::Value),
    Flag::new("", "lzma1", Means::Filter).takes(Takes::Attached),
    Flag::new("", "lzma2", Means::Filter)
        .takes(Takes::Attached)
        .help("preset=, dict=, lc=, lp=, pb=, mode=, nice=, mf= and depth= of LZMA"),
    Flag::new("", "x86", NO_FILTERS).takes(Takes::Attached),
    Flag::new("", "arm", NO_FILTERS).takes(Takes::Attached),
    Flag::new("", "armthumb", NO_FILTERS).takes(Takes::Attached),
    Flag::new("", "arm64", NO_FILTERS).takes(Takes::Attached),
    Flag::new("", "powerpc", NO_FILTERS).takes(Takes::Attached),
    Flag::new("", "ia64", NO_FILTERS).takes(Takes::Attached),
    Flag::new("", "sparc", NO_FILTERS).takes(Takes::Attached),
    Flag::new("", "delta", NO_FILTERS).takes(Takes::Attached),
];

const NO_FILTERS: Means = Means::Refused("abz writes blocks of one size, with the filter LZMA2 only");

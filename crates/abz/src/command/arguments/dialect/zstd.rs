//! The command line of zstd 1.5.

use abz::Format;

use super::tool::{Flag, Means, Mode, Takes, Tool};
use crate::command::messages::problem::Severity;
use crate::command::request::Sparse;
use crate::command::request::behaviour::{Behaviour, Copies, Lists, OWN, Severities, SpecialBits, Suffixed};

pub(super) static ZSTD: Tool = Tool {
    names: &[
        ("zstd", Mode::Compress),
        ("zstdmt", Mode::Compress),
        ("unzstd", Mode::Decompress),
        ("zstdcat", Mode::Cat),
    ],
    format: Format::Zstd,
    writes: &[Format::Zstd, Format::Gzip, Format::Xz, Format::Lzma],
    behaviour: Behaviour {
        name: "zstd",
        options: OWN.options,
        reads: Some(&[Format::Zstd, Format::Gzip, Format::Xz, Format::Lzma]),
        guesses: None,
        suffixes: Some(&[
            (".zst", ""),
            (".tzst", ".tar"),
            (".gz", ""),
            (".tgz", ".tar"),
            (".xz", ""),
            (".txz", ".tar"),
            (".lzma", ""),
            (".tlz", ".tar"),
        ]),
        asks: true,
        gives_what_it_can: false,
        severities: Severities {
            suffix: None,
            names: None,
            garbage: Some(Severity::Damage),
            time: None,
            ..Severities::all(Severity::Error)
        },
        keeps_links: false,
        special_bits: SpecialBits::LOST,
        words: OWN.words,
        takes_mixed: false,
        suffixed: Suffixed::UNLESS_FORCED,
        stops_at_failure: false,
        copies: Copies::ToStdout,
        copies_empty: false,
        looks_first: false,
        looks_behind: true,
        lists: Lists::Zstd,
        statuses: [0, 1, 1],
        write_status: Some(|_| 70),
    },
    flags: &[FLAGS],
    variables: &[],
    numbers: &[("ZSTD_CLEVEL", Means::Level), ("ZSTD_NBTHREADS", Means::Threads)],
    allows: |_| true,
    one_operation: false,
    last_operation: true,
    last_output: true,
    ignores_dash: false,
    cuts_levels: true,
    keeps: true,
    takes_stdin_once: false,
    asks_to_join: true,
    sparse: Sparse::Files,
    refuses_with: |means| match means {
        Some(Means::Dictionary) => 31,
        Some(Means::PatchFrom) => 42,
        Some(Means::Long) => 11,
        _ => 1,
    },
    completes_names: false,
    cat_copies: true,
    tests_to_stdout: true,
    reads_named_format: false,
    drops_links: true,
};

const LIMIT: Means = Means::MemoryLimit { compressing: false, decompressing: true };

const FLAGS: &[Flag] = &[
    Flag::new("z", "compress", Means::Compress).help("compress"),
    Flag::new("d", "decompress", Means::Decompress).help("decompress"),
    Flag::new("", "uncompress", Means::Decompress),
    Flag::new("t", "test", Means::Test).help("test"),
    Flag::new("l", "list", Means::List).help("list sizes"),
    Flag::new("k", "keep", Means::Keep).help("keep FILE (the default)"),
    Flag::new("", "rm", Means::Remove).help("remove FILE when its output is complete"),
    Flag::new("f", "force", Means::Force)
        .help("overwrite files, follow links; with -cd copy what is not compressed"),
    Flag::new("c", "stdout", Means::Stdout).help("write to standard output"),
    Flag::new("", "to-stdout", Means::Stdout),
    Flag::new("o", "", Means::Output).takes(Takes::Value).help("write to file X"),
    Flag::new("r", "", Means::Recursive).help("process all files in folders"),
    Flag::new("123456789", "", Means::Level).takes(Takes::Digits),
    Flag::new("", "fast", Means::Fast).takes(Takes::Attached).help("compress faster, at level -X"),
    Flag::new("", "ultra", Means::Ultra).help("allow the levels 20 to 22"),
    Flag::new("", "long", Means::Long).takes(Takes::Attached).help("use a window of 2^X bytes"),
    Flag::new("D", "", Means::Dictionary).takes(Takes::Value).help("use dictionary X"),
    Flag::new("", "patch-from", Means::PatchFrom)
        .takes(Takes::Value)
        .help("compress to a patch against X, or with -d apply one to X"),
    Flag::new("T", "threads", Means::Threads).takes(Takes::Value).help("use X threads"),
    Flag::new("B", "block-size", Means::BlockSize).takes(Takes::Value).help("compress blocks of X bytes"),
    Flag::new("M", "memory", LIMIT).takes(Takes::Value).help("use at most X bytes of memory to decompress"),
    Flag::new("", "memlimit", LIMIT).takes(Takes::Value),
    Flag::new("", "memlimit-decompress", LIMIT).takes(Takes::Value),
    Flag::new("", "format", Means::FormatIs)
        .takes(Takes::Value)
        .help("zstd, gzip, xz or lzma: write this format"),
    Flag::new("C", "check", Means::Checksum).help("store a checksum (the default)"),
    Flag::new("", "no-check", Means::NoChecksum).help("store no checksum"),
    Flag::new("", "rsyncable", Means::Rsyncable).help("cut blocks by content, for rsync"),
    Flag::new("", "sparse", Means::Sparse).help("leave holes for zeros, also if standard output is a file"),
    Flag::new("", "no-sparse", Means::NoSparse).help("write zeros instead of leaving holes"),
    Flag::new("q", "quiet", Means::Quieter).help("print errors only; twice: nothing"),
    Flag::new("v", "verbose", Means::Verbose).help("print what is done"),
    Flag::new("hH", "help", Means::Help).help("print this help"),
    Flag::new("V", "version", Means::Version).help("print the version"),
    // These options do not change the output.
    Flag::new("", "single-thread", Means::Nothing),
    Flag::new("", "progress", Means::Nothing),
    Flag::new("", "no-progress", Means::Nothing),
    Flag::new("", "asyncio", Means::Nothing),
    Flag::new("", "no-asyncio", Means::Nothing),
    Flag::new("", "content-size", Means::Nothing),
    Flag::new("", "auto-threads", Means::Nothing).takes(Takes::Value),
    Flag::new("", "row-match-finder", Means::Nothing),
    Flag::new("", "no-row-match-finder", Means::Nothing),
    Flag::new("", "compress-literals", Means::Nothing),
    Flag::new("", "no-compress-literals", Means::Nothing),
    Flag::new("", "no-dictID", Means::NoDictionaryId),
    Flag::new("", "stream-size", Means::Nothing).takes(Takes::Value),
    Flag::new("", "size-hint", Means::Nothing).takes(Takes::Value),
    // Adapting the level is optional: any output is valid.
    Flag::new("", "adapt", Means::Nothing).takes(Takes::Attached),
    Flag::new("", "no-content-size", Means::Refused("--no-content-size: abz stores the size if it is known")),
    Flag::new("", "exclude-compressed", Means::ExcludeCompressed)
        .help("skip files with the suffix of a compressed format"),
    Flag::new("", "output-dir-flat", Means::OutputFolder { mirrors: false })
        .takes(Takes::Value)
        .help("write all outputs to the folder X"),
    Flag::new("", "output-dir-mirror", Means::OutputFolder { mirrors: true })
        .takes(Takes::Value)
        .help("write below the folder X, in the same subfolders as FILE"),
    Flag::new("", "filelist", Means::Files)
        .takes(Takes::Value)
        .help("process the files named in X, one on each line"),
    Flag::new("", "pass-through", Means::PassThrough(true)).help("copy what is not compressed"),
    Flag::new("", "no-pass-through", Means::PassThrough(false)),
    // The option changes how often output is written, not which.
    Flag::new("", "target-compressed-block-size", Means::Nothing).takes(Takes::Value),
    Flag::new("", "zstd", Means::Refused("--zstd: abz has levels and --long only")).takes(Takes::Value),
    Flag::new("", "train", Means::Refused("--train: abz uses dictionaries of zstd, and does not train any")),
    Flag::new("b", "", Means::Refused("-b: abz --bench measures formats and levels")).takes(Takes::Attached),
    Flag::new("e", "", Means::Refused("-e: abz --bench measures formats and levels")).takes(Takes::Attached),
    Flag::new("i", "", Means::Refused("-i: abz --bench measures formats and levels")).takes(Takes::Attached),
];

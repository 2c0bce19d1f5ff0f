//! What to do.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

/// The actions, of which compressing needs no word.
#[derive(Debug, Args)]
#[command(next_help_heading = "What to do [compress]")]
pub struct What {
    /// Decompress
    ///
    /// Any file of gzip, bzip2, lzip, xz (and .lzma), zstd, compress (.Z, also with -H), pack (.z) or zip (with one file) will do.
    /// Blocks of bzip2, members of lzip (of up to twice their dictionary, or 8M), blocks of xz that say their sizes (of up
    /// to three times it), frames of zstd of up to 32M and the blocks in those of abz, and of gzip the blocks of abz and
    /// bgzip, are decoded by all threads; others by one, while others read and write. Every checksum and every size is
    /// verified. Where FILE does not exist and FILE.gz does, that is taken.
    #[arg(short, long, alias = "uncompress")]
    pub decompress: bool,

    /// Test: decompress to nowhere, and say what is damaged
    #[arg(short, long)]
    pub test: bool,

    /// List sizes and ratios, without decompressing where that can be
    ///
    /// Sizes are those of all members, also above 4 GiB. Files that do not say themselves how large their contents are, such as
    /// those of gzip of one block, must be decoded for that. With -v the first column says which kind a file is of: "members" or "stream".
    #[arg(short, long)]
    pub list: bool,

    /// With -l or --recover: tell it as JSON, an array with an object for each file
    #[arg(long, hide_short_help = true)]
    pub json: bool,

    /// Decompress what is whole in a damaged file of gzip, bzip2 or lzip, and say what is missing; FILE stays
    ///
    /// Every member (of bzip2 every block) that checks is written, wherever it lies; what is missing is left out (skip, the
    /// default), or zeros stand for it where the file tells its size (sparse), so that all behind it is where it was. That is
    /// so for lzip, for gzip files of abz and for BGZF, and never for bzip2. A file that is one member of gzip or lzip
    /// has only one checksum: for what comes before damage there, use -dc. Each gap is told on standard error. The status
    /// is 0 if nothing is missing, and otherwise that of a damaged file.
    #[arg(long, value_name = "GAPS", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "skip")]
    #[arg(conflicts_with_all = ["test", "list", "bench", "explain", "verify", "checksum", "archive", "extract", "range", "line_range"])]
    #[arg(hide_possible_values = true, hide_short_help = true)]
    pub recover: Option<Gaps>,

    /// Say how fast and how small each format makes FILE, and with how much memory; -F asks for all levels of one
    ///
    /// The first 64 MiB count. Nothing is written.
    #[arg(long, conflicts_with_all = ["decompress", "test", "list", "explain", "report", "trace", "output", "stdout"])]
    #[arg(hide_short_help = true)]
    pub bench: bool,

    /// With --bench: write a page with plots to OUT too
    #[arg(long, value_name = "OUT", value_hint = ValueHint::FilePath, requires = "bench", hide_short_help = true)]
    pub bench_html: Option<PathBuf>,

    /// Print the plan that would run, as text, dot, svg or json, and do nothing
    ///
    /// There is one for each file.
    #[arg(long, value_name = "AS", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    #[arg(hide_possible_values = true, conflicts_with_all = ["report", "trace"])]
    pub explain: Option<Explained>,
}

/// What `--recover` does about what is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Gaps {
    Skip,
    Sparse,
}

/// How `--explain` shows a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Explained {
    Text,
    Dot,
    Svg,
    Json,
}

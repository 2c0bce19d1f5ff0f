//! Options that select the action.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

/// Options that select the action; compressing is the default.
#[derive(Debug, Args)]
#[command(next_help_heading = "Actions [default: compress]")]
pub struct What {
    /// Decompress
    ///
    /// Decompresses gzip, bzip2, lzip, xz, .lzma, zstd, compress (.Z, also with -H), pack (.z) and zip (with one
    /// file). All threads decode the blocks of bzip2, members of lzip (up to twice their dictionary, or 8M), blocks
    /// of xz that record their sizes (up to three times their dictionary), frames of zstd of up to 32M, the blocks in
    /// zstd files of abz, and the blocks in gzip files of abz and bgzip. One thread decodes everything else, while
    /// others read and write. Every checksum and size is verified. If FILE does not exist and FILE.gz does, FILE.gz
    /// is decompressed.
    #[arg(short, long, alias = "uncompress")]
    pub decompress: bool,

    /// Test files: decompress without writing, and report damage
    #[arg(short, long)]
    pub test: bool,

    /// List sizes and ratios, without decompressing if possible
    ///
    /// Sizes include all members, and are right above 4 GiB. Files that do not record the size of their contents,
    /// such as gzip files of one block, have to be decoded. With -v, the first column is the type of a file:
    /// "members" or "stream".
    #[arg(short, long)]
    pub list: bool,

    /// With -l or --recover: print JSON, an array with an object for each file
    #[arg(long, hide_short_help = true)]
    pub json: bool,

    /// Recover a damaged gzip, bzip2 or lzip file, and report what is missing; FILE stays
    ///
    /// Writes every member (of bzip2 every block) whose checksum matches, wherever it lies. Missing data is left out
    /// (skip, the default), or replaced by zeros if the file records its size (sparse), so that the data after it
    /// keeps its offset. lzip, gzip files of abz and BGZF record sizes; bzip2 never does. A gzip or lzip file with a
    /// single member has only one checksum: use -dc for the data before the damage. Each gap is reported on standard
    /// error. The exit status is 0 if nothing is missing, and otherwise that of a damaged file.
    #[arg(long, value_name = "GAPS", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "skip")]
    #[arg(conflicts_with_all = ["test", "list", "bench", "explain", "verify", "checksum", "archive", "extract", "range", "line_range"])]
    #[arg(hide_possible_values = true, hide_short_help = true)]
    pub recover: Option<Gaps>,

    /// Measure speed, size and memory of each format on FILE; with -F, of all levels of one format
    ///
    /// Uses the first 64 MiB of FILE. No file is written.
    #[arg(long, conflicts_with_all = ["decompress", "test", "list", "explain", "report", "trace", "output", "stdout"])]
    #[arg(hide_short_help = true)]
    pub bench: bool,

    /// With --bench: also write a page with plots to OUT
    #[arg(long, value_name = "OUT", value_hint = ValueHint::FilePath, requires = "bench", hide_short_help = true)]
    pub bench_html: Option<PathBuf>,

    /// Print the plan as text, dot, svg or json, and do nothing else
    ///
    /// There is one plan for each file.
    #[arg(long, value_name = "AS", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    #[arg(hide_possible_values = true, conflicts_with_all = ["report", "trace"])]
    pub explain: Option<Explained>,
}

/// The values of `--recover`: what becomes of gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Gaps {
    Skip,
    Sparse,
}

/// The formats of `--explain`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Explained {
    Text,
    Dot,
    Svg,
    Json,
}

//! Options for input and output files.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

/// Options for input and output files.
#[derive(Debug, Args)]
#[command(next_help_heading = "Files")]
pub struct Files {
    /// Write to standard output, keep FILE
    ///
    /// The outputs of several files follow each other in the order of the command line. With -d and -f, data that is
    /// not compressed is copied unchanged.
    #[arg(short = 'c', long, alias = "to-stdout", conflicts_with = "output")]
    pub stdout: bool,

    /// Write to OUT (- for standard output), keep FILE
    ///
    /// The outputs of several files follow each other in the order of the command line. A FILE that does not exist is
    /// skipped; if a FILE fails after it was opened, OUT is not created.
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Write all outputs to the folder DIR, keep FILE
    ///
    /// If several files have the same name, the first one is written; with -f the last one.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, hide_short_help = true)]
    #[arg(conflicts_with_all = ["stdout", "output", "index", "recover", "archive", "extract"])]
    pub output_dir_flat: Option<PathBuf>,

    /// Keep FILE
    #[arg(short, long)]
    pub keep: bool,

    /// Overwrite files, follow links, use a terminal for compressed data
    ///
    /// Without -f, abz does not replace an existing file, skips symbolic links and files with several hard links,
    /// does not compress a file that has the suffix already, and does not write compressed data to a terminal.
    #[arg(short, long)]
    pub force: bool,

    /// Process all files in folders; links in them are not followed
    #[arg(short, long)]
    pub recursive: bool,

    /// Skip files whose names have the suffix of a compressed format, such as .zip, .jpg, .mp4 and .zst
    #[arg(long, hide_short_help = true)]
    pub exclude_compressed: bool,

    /// Use SUFFIX for compressed files instead of .gz, .bz2, .lz, .xz or .zst
    ///
    /// When decompressing, .gz, .tgz, .taz, .z, -gz, -z, _z, .bz2, .bz, .tbz2, .tbz, .lz, .tlz, .xz, .txz, .lzma,
    /// .zst and .tzst are recognized too; those with a t become .tar.
    #[arg(short = 'S', long, value_name = "SUFFIX")]
    pub suffix: Option<OsString>,

    /// Store no name and time; with -d, do not restore them (-d's default)
    #[arg(short, long, overrides_with = "name")]
    pub no_name: bool,

    /// Store name and time (the default); with -d, restore them
    ///
    /// Folders in a stored name are ignored.
    #[arg(short = 'N', long, overrides_with = "no_name")]
    pub name: bool,

    /// With -d to standard output: of a truncated file, write only complete blocks
    ///
    /// Without this option, everything that can be decoded of a truncated file is written, followed by an error. A
    /// complete block is verified before it is written in any case, except in files that are a single block or
    /// member. A file gets its name only when it is complete.
    #[arg(long, hide_short_help = true)]
    pub whole_blocks: bool,

    /// Wait until the new file is on disk before FILE is removed
    #[arg(long, alias = "synchronous")]
    pub sync: bool,

    /// Leave holes for zeros in decompressed files (the default), to save disk space
    #[arg(long, overrides_with = "no_sparse", hide_short_help = true)]
    pub sparse: bool,

    /// Write zeros instead of leaving holes
    #[arg(long, overrides_with = "sparse", hide_short_help = true)]
    pub no_sparse: bool,

    /// Do not restrict access to the file system
    ///
    /// If the kernel supports Landlock, abz restricts itself to the inputs and the folders of the outputs, and
    /// gives up network access.
    #[arg(long, hide_short_help = true)]
    pub no_sandbox: bool,

    /// Decompress the output while it is written, and compare it with FILE before FILE is removed
    #[arg(long, hide_short_help = true)]
    pub verify: bool,

    /// Write the SHA-256 of the uncompressed data to FILE.sha256, for sha256sum -c
    ///
    /// The file lies beside the output. If the output is standard output, the line goes to standard error; with -t,
    /// to standard output.
    #[arg(long, value_name = "KIND", value_enum, num_args = 0..=1, require_equals = true, hide_short_help = true)]
    #[arg(default_missing_value = "sha256", hide_possible_values = true)]
    pub checksum: Option<Checksum>,
}

/// The algorithm of `--checksum`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Checksum {
    Sha256,
}

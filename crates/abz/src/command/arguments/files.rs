//! Which files, and where to.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

/// Which files are taken, what becomes of them, and where their outputs go.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which files, and where to")]
pub struct Files {
    /// Write to standard output, keep FILE
    ///
    /// The outputs of several files come one after another, in the order of the command line. With -d and -f, what
    /// is not compressed is copied as it is.
    #[arg(short = 'c', long, alias = "to-stdout", conflicts_with = "output")]
    pub stdout: bool,

    /// Write to OUT (- for standard output), keep FILE
    ///
    /// The outputs of several files come one after another, in the order of the command line. A FILE that is not there is
    /// passed over; where one fails after it was opened, there is no OUT.
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Write to the folder DIR, each under a name made of that of FILE, keep FILE
    ///
    /// Of several files with one name the first is written; with -f the last one.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, hide_short_help = true)]
    #[arg(conflicts_with_all = ["stdout", "output", "index", "recover", "archive", "extract"])]
    pub output_dir_flat: Option<PathBuf>,

    /// Keep FILE
    #[arg(short, long)]
    pub keep: bool,

    /// Overwrite files, follow links, use a terminal for compressed data
    ///
    /// Without it abz does not replace a file that exists, takes no symbolic link and no file with several names
    /// (hard links), does not compress what has the suffix already, and does not write compressed data to a terminal.
    #[arg(short, long)]
    pub force: bool,

    /// Take the files in folders; links in them are not followed
    #[arg(short, long)]
    pub recursive: bool,

    /// Compress no files whose names say that they are compressed already, such as .zip, .jpg, .mp4 and .zst
    #[arg(long, hide_short_help = true)]
    pub exclude_compressed: bool,

    /// Let compressed files end with SUFFIX instead of .gz, .bz2, .lz, .xz or .zst
    ///
    /// When decompressing, .gz, .tgz, .taz, .z, -gz, -z, _z, .bz2, .bz, .tbz2, .tbz, .lz, .tlz, .xz, .txz, .lzma,
    /// .zst and .tzst are known too; those with a t become .tar.
    #[arg(short = 'S', long, value_name = "SUFFIX")]
    pub suffix: Option<OsString>,

    /// Store no name and time; with -d, do not restore them (-d's default)
    #[arg(short, long, overrides_with = "name")]
    pub no_name: bool,

    /// Store name and time (the default); with -d, restore them
    ///
    /// A stored name is used without its folders.
    #[arg(short = 'N', long, overrides_with = "no_name")]
    pub name: bool,

    /// With -d, write to standard output only blocks that are whole, where a file was cut
    ///
    /// Without it, all that can be decoded of a cut file is written, and then the error is told. A block that is whole is verified
    /// before it is written in any case; those of files that are one block or member are not. A file gets its name only when all
    /// of it is there.
    #[arg(long, hide_short_help = true)]
    pub whole_blocks: bool,

    /// Wait until the new file is on the disk before FILE is removed
    #[arg(long, alias = "synchronous")]
    pub sync: bool,

    /// Leave holes for zeros in decompressed files (the default); they take no room on the disk
    #[arg(long, overrides_with = "no_sparse", hide_short_help = true)]
    sparse: bool,

    /// Write zeros out
    #[arg(long, overrides_with = "sparse", hide_short_help = true)]
    pub no_sparse: bool,

    /// Let the process touch any file
    ///
    /// Where the kernel has Landlock, abz itself gives up the right to touch anything but the inputs and the folders of
    /// the outputs, and the network.
    #[arg(long, hide_short_help = true)]
    pub no_sandbox: bool,

    /// Decompress what is written, while it is written, and compare it with FILE before that is removed
    #[arg(long, hide_short_help = true)]
    pub verify: bool,

    /// Write the SHA-256 of the plain data to FILE.sha256, for sha256sum -c
    ///
    /// It lies beside the output. Where that is standard output, the line goes to standard error; with -t, to standard
    /// output.
    #[arg(long, value_name = "KIND", value_enum, num_args = 0..=1, require_equals = true, hide_short_help = true)]
    #[arg(default_missing_value = "sha256", hide_possible_values = true)]
    pub checksum: Option<Checksum>,
}

/// What `--checksum` tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Checksum {
    Sha256,
}

//! What zstd alone has.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::headings::HOW;

/// Of the format zstd.
#[derive(Debug, Args)]
#[command(next_help_heading = HOW)]
pub struct Zstd {
    /// With zstd, look back up to 2^N bytes [default: 27]; with -d, allow that
    ///
    /// Repetitions that are far apart are found. Whoever decompresses needs as much memory: up to 2^27 bytes (128 MiB) are
    /// allowed unless it is said there too. N is 10 to 31. Blocks have at least 2^N bytes.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "27")]
    #[arg(hide_short_help = true, value_parser = clap::value_parser!(u32).range(10..=31))]
    pub long: Option<u32>,

    /// Use FILE as the dictionary of zstd, both ways
    ///
    /// One that `zstd --train` made, or any file: what is like it becomes smaller. Whoever decompresses needs it too.
    #[arg(short = 'D', long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub dictionary: Option<PathBuf>,

    /// With zstd, make FILE a patch: what it differs in from OLD; with -d, make FILE of OLD and the patch
    ///
    /// As `zstd --patch-from`, which reads and makes the same. What FILE has in common with OLD, wherever it is, takes next to no
    /// room. Whoever decompresses needs OLD too, as it was, and memory for both files; where FILE is more than twice as large as
    /// OLD, and larger than 128 MiB, allow that with --long. One thread makes a patch, while another one reads.
    #[arg(long, value_name = "OLD", value_hint = ValueHint::FilePath, hide_short_help = true)]
    #[arg(conflicts_with = "dictionary")]
    pub patch_from: Option<PathBuf>,

    /// Allow the levels 20 to 22 of zstd, which need a lot of memory
    #[arg(long, hide_short_help = true)]
    pub ultra: bool,

    /// Make a frame of each block, with zstd, and a table at the end, as earlier versions did
    ///
    /// Some programs read the first frame of a file only, and do not say so: python-zstandard's decompress(), and others that
    /// decompress in one call. The kernel of Linux refuses several frames, in an initramfs for example. Without this option a
    /// file is one frame.
    #[arg(long, hide_short_help = true)]
    pub frames: bool,

    /// Write no checksums, with zstd
    #[arg(long, hide_short_help = true)]
    pub no_check: bool,
}

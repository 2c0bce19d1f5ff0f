//! Options for zstd.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::headings::HOW;

/// Options for zstd.
#[derive(Debug, Args)]
#[command(next_help_heading = HOW)]
pub struct Zstd {
    /// With zstd: use a window of 2^N bytes [default: 27]; with -d, allow such a window
    ///
    /// Finds repetitions that are far apart. Decompression needs as much memory: windows of up to 2^27 bytes (128
    /// MiB) are allowed, larger ones only with this option. N is 10 to 31. Blocks have at least 2^N bytes.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "27")]
    #[arg(hide_short_help = true, value_parser = clap::value_parser!(u32).range(10..=31))]
    pub long: Option<u32>,

    /// Use FILE as the zstd dictionary, to compress and to decompress
    ///
    /// FILE is a dictionary from `zstd --train`, or any file similar to the data. Decompression needs the same FILE.
    #[arg(short = 'D', long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub dictionary: Option<PathBuf>,

    /// With zstd: compress FILE to a patch against OLD; with -d, apply the patch to OLD
    ///
    /// Patches are compatible with `zstd --patch-from`. Data that FILE shares with OLD, at any offset, takes almost
    /// no space. Decompression needs the same OLD, and memory for both files. If FILE is larger than 128 MiB and more
    /// than twice as large as OLD, allow it with --long. One thread compresses a patch, while another one reads.
    #[arg(long, value_name = "OLD", value_hint = ValueHint::FilePath, hide_short_help = true)]
    #[arg(conflicts_with = "dictionary")]
    pub patch_from: Option<PathBuf>,

    /// Allow the levels 20 to 22 of zstd, which need a lot of memory
    #[arg(long, hide_short_help = true)]
    pub ultra: bool,

    /// With zstd: write a frame for each block, and a table at the end, as earlier versions did
    ///
    /// Some programs silently read only the first frame of a file: python-zstandard's decompress(), and others that
    /// decompress in one call. The Linux kernel refuses several frames, in an initramfs for example. Without this
    /// option, a file is one frame.
    #[arg(long, hide_short_help = true)]
    pub frames: bool,

    /// With zstd: write no checksums
    #[arg(long, hide_short_help = true)]
    pub no_check: bool,
}

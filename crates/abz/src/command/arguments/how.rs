//! Options for formats, levels, threads and memory.

use abz::program::format_named;
use abz::xz::Check;
use abz::{Format, Speculation};
use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use clap::{Args, ValueEnum};

use super::headings::HOW;
use super::level::Level;
use super::zstd::Zstd;

/// The smallest block size in bytes. Below it, headers take a notable share; `-b 128` is probably a mistake for 128K,
/// since other tools count in KiB.
const LEAST_BLOCK: usize = 4 << 10;

/// The largest block of any format, in bytes.
const MOST_BLOCK: usize = 1 << 30;

/// Options for formats, levels, threads and memory.
#[derive(Debug, Args)]
#[command(next_help_heading = HOW)]
pub struct How {
    /// Compress to gzip, bzip2, lzip, xz, zstd, zlib, zip, lzma [default: gzip]
    ///
    /// bzip2 files are a quarter smaller and take five times as long. lzip and xz files are a third smaller, take
    /// thirty times as long, and decompress faster than bzip2. zstd files are as small as those of gzip and take a
    /// fraction of the time. zlib (.zz) and zip, an archive with one file, hold the same data as gzip. lzma is the
    /// predecessor of xz: one thread writes it, and it has no checksum. When decompressing, the format is detected.
    #[arg(short = 'F', long, value_name = "FORMAT", value_parser = format_parser())]
    #[arg(hide_possible_values = true)]
    pub format: Option<Format>,

    #[command(flatten)]
    pub level: Level,

    /// Use N threads instead of one for each core
    ///
    /// The output does not depend on N. No more threads run at once than there are processors.
    #[arg(short, long, value_name = "N", value_parser = parse_processes)]
    pub processes: Option<usize>,

    /// Compress blocks of SIZE bytes: 4K to 4M [default: 1280K]
    ///
    /// Each block is compressed on its own. Smaller blocks need less memory and make larger files (gzip: 0.3 % with
    /// 512K, 2 % with 128K); larger ones gain next to nothing. bzip2 has blocks of 100,000 bytes with -1 to 900,000
    /// bytes with -9, its default, and no other size. lzip (where a block is a member) and xz have blocks of up to
    /// 1G; the default is twice the dictionary for lzip, three times the dictionary for xz, and at least 1M. zstd has
    /// blocks of up to 1G; the default is 4M at level 3, 16M at 9 and 32M at 19.
    #[arg(short, long, alias = "member-size", value_name = "SIZE", value_parser = parse_block_size)]
    pub block_size: Option<usize>,

    /// Cut blocks by content, so that a local change of FILE changes its output only locally
    ///
    /// For rsync and deduplicating storage. gzip: blocks of about 128K, and files 2 % larger. Not for bzip2.
    #[arg(long, hide_short_help = true)]
    pub rsyncable: bool,

    /// Write a gzip member for each block, and an index at the end
    ///
    /// Some readers return only the first member: IO::Uncompress::Gunzip of Perl and curl, for example. Each header
    /// has an extra field, which the Linux kernel does not accept in an initramfs.
    #[arg(long, conflicts_with = "bgzf", hide_short_help = true)]
    pub members: bool,

    /// Write gzip members of at most 64K, as bgzip does, for samtools and tabix
    ///
    /// Each header has an extra field, as with --members.
    #[arg(long, conflicts_with_all = ["rsyncable", "block_size"], hide_short_help = true)]
    pub bgzf: bool,

    /// Use about SIZE bytes of memory at most, with fewer threads if necessary
    ///
    /// The limit is for all files together. lzip and xz need about eleven times the dictionary for each thread to
    /// compress, and once the dictionary to decompress. If one thread does not fit, blocks and then the dictionary
    /// become smaller to compress; a message says so, and the output changes. If -s sets the dictionary, or to
    /// decompress, abz fails instead.
    #[arg(long, value_name = "SIZE", value_parser = parse_memory, hide_short_help = true)]
    pub memlimit: Option<u64>,

    /// With --memlimit: fail rather than use a smaller dictionary
    #[arg(long, hide_short_help = true)]
    pub no_adjust: bool,

    /// Dictionary size: 4K to 512M, for lzip and xz [default: -6: 8M]
    ///
    /// Compression takes twelve times as much memory for each thread, decompression once as much. A number from 12 to
    /// 29 is a power of two.
    #[arg(short = 's', long, value_name = "SIZE", value_parser = parse_dictionary_size, hide_short_help = true)]
    pub dictionary_size: Option<u32>,

    /// Match length limit: 5 to 273, for lzip only [default: -6: 37]
    #[arg(short, long, value_name = "N", hide_short_help = true)]
    #[arg(value_parser = RangedU64ValueParser::<u32>::new().range(5..=273))]
    pub match_length: Option<u32>,

    /// Take twice the time for slightly smaller files, for xz only
    #[arg(short = 'e', long, hide_short_help = true)]
    pub extreme: bool,

    /// Type of the check of each block: none, crc32, crc64 or sha256, for xz only [default: crc64]
    #[arg(long, value_name = "CHECK", hide_short_help = true, value_parser = check_parser())]
    #[arg(hide_possible_values = true)]
    pub check: Option<Check>,

    #[command(flatten)]
    pub zstd: Zstd,

    /// Decode one gzip member with all threads: auto, always or never [default: auto]
    ///
    /// For files of other programs, which do not record where their blocks are: threads guess where blocks begin, and
    /// wrong guesses are corrected. It takes more processor time in total. With auto, abz does it if there are enough
    /// threads to be faster; --explain shows the decision. The output is the same.
    #[arg(long, value_name = "WHEN", value_enum, default_value = "auto")]
    #[arg(hide_default_value = true, hide_possible_values = true, hide_short_help = true)]
    pub speculate: Speculate,

    /// Input mode: auto, stream, pread or mmap [default: auto]
    ///
    /// With stream, one thread at a time reads and passes blocks to the others. With pread, each thread reads its own
    /// blocks; with mmap, from mapped memory. This applies to files compressed to gzip, and to gzip files written by
    /// abz; everything else is read as a stream. Auto is stream to compress and pread to decompress. With mmap, a
    /// file that is truncated meanwhile ends the whole run.
    #[arg(long, value_name = "MODE", value_enum, default_value = "auto")]
    #[arg(hide_default_value = true, hide_possible_values = true, hide_short_help = true)]
    pub input_io: InputMode,

    /// Output mode: auto, stream, pwrite or mmap [default: auto]
    ///
    /// With stream, one thread at a time writes the blocks of all. With pwrite, each thread writes its own blocks at
    /// their offsets; with mmap, to mapped memory. This applies to gzip and bzip2, and to files that are decompressed
    /// in parts; everything else is written as a stream. Auto is stream to compress and pwrite to decompress.
    #[arg(long, value_name = "MODE", value_enum, default_value = "auto")]
    #[arg(hide_default_value = true, hide_possible_values = true, hide_short_help = true)]
    pub output_io: OutputMode,
}

/// The values of `--speculate`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Speculate {
    /// If that is faster.
    #[default]
    Auto,
    Always,
    Never,
}

impl From<Speculate> for Speculation {
    fn from(speculate: Speculate) -> Self {
        match speculate {
            Speculate::Auto => Speculation::Auto,
            Speculate::Always => Speculation::Always,
            Speculate::Never => Speculation::Never,
        }
    }
}

/// The values of `--input-io`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum InputMode {
    /// The fastest safe mode.
    #[default]
    Auto,
    Stream,
    Pread,
    Mmap,
}

/// The values of `--output-io`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputMode {
    /// The fastest mode.
    #[default]
    Auto,
    Stream,
    Pwrite,
    Mmap,
}

fn format_parser() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::written().map(Format::name))
        .try_map(|name| format_named(&name).ok_or("there is no such format"))
}

fn check_parser() -> impl TypedValueParser<Value = Check> {
    PossibleValuesParser::new(Check::ALL.map(Check::name)).try_map(|name| {
        let named = Check::ALL.into_iter().find(|check| check.name() == name);
        named.ok_or("there is no such check")
    })
}

fn parse_processes(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(processes @ 1..=1024) => Ok(processes),
        _ => Err("expected a number from 1 to 1024".into()),
    }
}

/// Parses a block size in bytes with an optional unit.
pub fn parse_block_size(text: &str) -> Result<usize, String> {
    match parse_size(text) {
        Some((size, _)) if (LEAST_BLOCK..=MOST_BLOCK).contains(&size) => Ok(size),
        Some((size, 1)) if size < LEAST_BLOCK => {
            Err(format!("expected 4K to 4M, found {size} bytes; is it {size}K?"))
        }
        _ => Err("expected a size from 4K to 4M, such as 512K; for lzip, xz and zstd up to 1G".into()),
    }
}

/// Parses a dictionary size in bytes with an optional unit, or as a power of two.
pub fn parse_dictionary_size(text: &str) -> Result<u32, String> {
    match parse_size(text) {
        Some((power @ 12..=29, 1)) => Ok(1 << power),
        Some((size, _)) if (4 << 10..=512 << 20).contains(&size) => Ok(size as u32),
        _ => Err("expected a size from 4K to 512M, such as 16M".into()),
    }
}

fn parse_memory(text: &str) -> Result<u64, String> {
    let size = parse_size(text).ok_or("expected a size in bytes, such as 512M")?;
    Ok(size.0 as u64)
}

/// Parses a number of bytes with an optional unit. Returns the number and the unit.
pub(super) fn parse_size(text: &str) -> Option<(usize, usize)> {
    const UNITS: [(char, usize); 3] = [('k', 1 << 10), ('m', 1 << 20), ('g', 1 << 30)];
    let short = text.strip_suffix("iB").or(text.strip_suffix('i')).unwrap_or(text);
    let unit = UNITS.into_iter().find_map(|(letter, unit)| {
        let digits = short.strip_suffix([letter, letter.to_ascii_uppercase()])?;
        Some((digits, unit))
    });
    let (digits, unit) = unit.unwrap_or((text, 1));
    let size = digits.parse::<usize>().ok()?.checked_mul(unit)?;
    Some((size, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_sizes_have_units_and_limits() {
        assert_eq!(parse_block_size("65536"), Ok(65536));
        assert_eq!(parse_block_size("512K"), Ok(512 << 10));
        assert_eq!(parse_block_size("2m"), Ok(2 << 20));
        assert_eq!(parse_block_size("4MiB"), Ok(4 << 20));
        assert_eq!(parse_block_size("16Mi"), Ok(16 << 20));
        for wrong in ["", "K", "1", "128", "2G", "-5", "1025M", "99999999999999999999M", "é"] {
            assert!(parse_block_size(wrong).is_err(), "{wrong}");
        }
        assert!(parse_block_size("128").unwrap_err().ends_with("is it 128K?"));
        assert_eq!(parse_dictionary_size("12"), Ok(4096));
        assert_eq!(parse_dictionary_size("29"), Ok(512 << 20));
        assert_eq!(parse_dictionary_size("3M"), Ok(3 << 20));
        for wrong in ["11", "30", "4095", "513M", "1G", ""] {
            assert!(parse_dictionary_size(wrong).is_err(), "{wrong}");
        }
    }
}

//! How to compress, and with what.

use abz::xz::Check;
use abz::{Speculation, Written};
use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use clap::{Args, ValueEnum};

use super::headings::HOW;
use super::level::Level;
use super::zstd::Zstd;

/// The smallest block that one may ask for, in bytes: below it the headers weigh, and `-b 128`, which means KiB
/// elsewhere, is a slip of the pen.
const LEAST_BLOCK: usize = 4 << 10;

/// The largest block of any format, in bytes.
const MOST_BLOCK: usize = 1 << 30;

/// How the work is done.
#[derive(Debug, Args)]
#[command(next_help_heading = HOW)]
pub struct How {
    /// Compress to gzip, bzip2, lzip, xz, zstd, zlib, zip, lzma [default: gzip]
    ///
    /// bzip2 makes files that are a quarter smaller, and takes five times as long. lzip and xz make files that are a
    /// third smaller, take thirty times as long, and are decompressed faster than bzip2. zstd makes files as small as
    /// those of gzip in a fraction of the time. zlib (.zz) and zip, an archive with one file, have the data of gzip. lzma is
    /// what came before xz: one thread makes it, and it has no checksum. What is to be decompressed tells its format itself.
    #[arg(short = 'F', long, value_name = "FORMAT", value_parser = format_parser())]
    #[arg(hide_possible_values = true)]
    pub format: Option<Written>,

    #[command(flatten)]
    pub level: Level,

    /// Use N threads instead of one for each core
    ///
    /// The output is the same for any number. No more of them work at once than there are processors.
    #[arg(short, long, value_name = "N", value_parser = parse_processes)]
    pub processes: Option<usize>,

    /// Compress blocks of SIZE bytes: 4K to 4M [default: 1280K]
    ///
    /// Each block is compressed by itself. Smaller ones need less memory and make larger files (gzip: 0.3 % with 512K,
    /// 2 % with 128K); larger ones gain next to nothing. The blocks of bzip2 have 100,000 bytes with -1, and 900,000 with
    /// -9, its default, and no other size. Those of lzip (its members) and xz have up to 1G; by default twice the size of
    /// the dictionary with lzip, three times that with xz, and at least 1M. So have those of zstd, by default 4M at level 3,
    /// 16M at 9 and 32M at 19.
    #[arg(short, long, alias = "member-size", value_name = "SIZE", value_parser = parse_block_size)]
    pub block_size: Option<usize>,

    /// Cut blocks where the contents say so, so that a change of FILE changes its output around it and no more
    ///
    /// For rsync, and for stores that know equal pieces. gzip: blocks of about 128K, and files 2 % larger. Not for bzip2.
    #[arg(long, hide_short_help = true)]
    pub rsyncable: bool,

    /// Make gzip in a member for each block, with an index at the end
    ///
    /// Some readers give only the first member: IO::Uncompress::Gunzip of Perl and curl, for example. Each header has an extra
    /// field, which the kernel of Linux takes in no initramfs.
    #[arg(long, conflicts_with = "bgzf", hide_short_help = true)]
    pub members: bool,

    /// Make gzip in members of 64K at most, as bgzip does, for samtools and tabix
    ///
    /// Each header has an extra field, as with --members.
    #[arg(long, conflicts_with_all = ["rsyncable", "block_size"], hide_short_help = true)]
    pub bgzf: bool,

    /// Take no more than SIZE bytes of memory, about, with fewer threads if need be
    ///
    /// That is for all files together. lzip and xz need about eleven times the dictionary for each thread to compress, and
    /// once the dictionary to decompress. Where not even one thread has room to compress, blocks and then the dictionary
    /// become smaller, which is told, and which changes the output; if -s names its size, or to decompress, nothing is done
    /// then.
    #[arg(long, value_name = "SIZE", value_parser = parse_memory, hide_short_help = true)]
    pub memlimit: Option<u64>,

    /// With --memlimit, take no smaller dictionary: if there is no room for this one, do nothing
    #[arg(long, hide_short_help = true)]
    pub no_adjust: bool,

    /// Look so far back for what repeats: 4K to 512M, for lzip and xz [default: -6: 8M]
    ///
    /// Compression takes twelve times as much memory for each thread, decompression once as much. A number from 12 to 29
    /// is a power of two.
    #[arg(short = 's', long, value_name = "SIZE", value_parser = parse_dictionary_size, hide_short_help = true)]
    pub dictionary_size: Option<u32>,

    /// Search no further where N bytes are the same: 5 to 273, for lzip only [default: -6: 37]
    #[arg(short, long, value_name = "N", hide_short_help = true)]
    #[arg(value_parser = RangedU64ValueParser::<u32>::new().range(5..=273))]
    pub match_length: Option<u32>,

    /// Take twice the time to make files a little smaller, for xz only
    #[arg(short = 'e', long, hide_short_help = true)]
    pub extreme: bool,

    /// Store CHECK of each block: none, crc32, crc64 or sha256, for xz only [default: crc64]
    #[arg(long, value_name = "CHECK", hide_short_help = true, value_parser = check_parser())]
    #[arg(hide_possible_values = true)]
    pub check: Option<Check>,

    #[command(flatten)]
    pub zstd: Zstd,

    /// Decode pieces of one member of gzip with all threads: auto, always or never [default: auto]
    ///
    /// That is for files of other programs, which do not say where their blocks are: it is guessed, and put right where the
    /// guess was wrong. It takes more time of the processors in all. Auto does it where the number of threads makes up for
    /// that; --explain says so. The output is the same.
    #[arg(long, value_name = "WHEN", value_enum, default_value = "auto")]
    #[arg(hide_default_value = true, hide_possible_values = true, hide_short_help = true)]
    pub speculate: Speculate,

    /// Read files WAY: auto, stream, pread or mmap [default: auto]
    ///
    /// With stream one thread at a time reads, and blocks go to the others. With pread each thread reads its own blocks,
    /// with mmap through memory. That is for files that are compressed to gzip, and for files of gzip that abz has made;
    /// all else is read as a stream. Auto takes stream to compress, and pread to decompress. With mmap, a file that becomes
    /// shorter meanwhile ends the whole run.
    #[arg(long, value_name = "WAY", value_enum, default_value = "auto")]
    #[arg(hide_default_value = true, hide_possible_values = true, hide_short_help = true)]
    pub input_io: InputWay,

    /// Write files WAY: auto, stream, pwrite or mmap [default: auto]
    ///
    /// With stream one thread at a time writes what the others made. With pwrite each thread writes its own blocks to
    /// their place, with mmap through memory. That is for gzip and bzip2, and for what is decompressed in parts; all else
    /// is written as a stream. Auto takes stream to compress, and pwrite to decompress.
    #[arg(long, value_name = "WAY", value_enum, default_value = "auto")]
    #[arg(hide_default_value = true, hide_possible_values = true, hide_short_help = true)]
    pub output_io: OutputWay,
}

/// Whether pieces of a member are guessed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Speculate {
    /// Where that is quicker.
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

/// How files are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum InputWay {
    /// What is quickest, and safe.
    #[default]
    Auto,
    Stream,
    Pread,
    Mmap,
}

/// How files are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputWay {
    /// What is quickest.
    #[default]
    Auto,
    Stream,
    Pwrite,
    Mmap,
}

fn format_parser() -> impl TypedValueParser<Value = Written> {
    PossibleValuesParser::new(Written::all().map(Written::name))
        .try_map(|name| Written::named(&name).ok_or("there is no such format"))
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

/// A size in bytes with an optional unit, within the limits of a block.
pub fn parse_block_size(text: &str) -> Result<usize, String> {
    match parse_size(text) {
        Some((size, _)) if (LEAST_BLOCK..=MOST_BLOCK).contains(&size) => Ok(size),
        Some((size, 1)) if size < LEAST_BLOCK => {
            Err(format!("expected 4K to 4M, found {size} bytes; is it {size}K?"))
        }
        _ => Err("expected a size from 4K to 4M, such as 512K; for lzip, xz and zstd up to 1G".into()),
    }
}

/// A size in bytes with an optional unit, or a power of two.
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

/// A number of bytes, with the unit that stands behind it.
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

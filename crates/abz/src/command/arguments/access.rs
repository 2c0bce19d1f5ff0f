//! Options to read parts of files.

use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::how::parse_size;

/// The part of the decompressed data to write.
#[derive(Debug, Args)]
#[command(next_help_heading = "Parts of files")]
pub struct Access {
    /// Write bytes A to B of the uncompressed data, without B, counted from 0; FILE stays
    ///
    /// A.. means everything from A on, ..B the first B bytes; 10M..11M is the eleventh MiB. They go to standard
    /// output, or to OUT with -o. A range past the end of the data is cut off. Only the needed parts are read and
    /// verified if the file records where its parts are, as files of abz, BGZF, lzip, xz and some of zstd do, or if
    /// it has an index. Any other file is decoded from its start up to B; damage after B goes unnoticed.
    #[arg(long, value_name = "A..B", value_parser = parse_bytes, hide_short_help = true)]
    #[arg(conflicts_with_all = ["line_range", "test", "list", "bench", "explain", "archive", "extract", "recover", "verify", "checksum"])]
    pub range: Option<Range<u64>>,

    /// Write lines A to B of the uncompressed data, with B, counted from 1, as sed -n A,Bp; FILE stays
    ///
    /// A.. means everything from line A on, ..B the first B lines. Works like --range, but without an index the data
    /// is decoded from its start.
    #[arg(long, value_name = "A..B", value_parser = parse_lines, hide_short_help = true)]
    #[arg(conflicts_with_all = ["test", "list", "bench", "explain", "archive", "extract", "recover", "verify", "checksum"])]
    pub line_range: Option<RangeInclusive<u64>>,

    /// Make an index FILE.abzi, so that --range and --line-range can start in the middle; with -d, too
    ///
    /// An index is used if it lies beside FILE and matches it. If FILE has changed since, --range and --line-range
    /// warn and decode from the start; -d and -t ignore the index. With an index, all threads decode a single large
    /// gzip member with -d and -t. FILE stays unchanged, with -d too, and may have been made by any tool. With -d, an
    /// existing index that matches is used rather than made again, unless -f is given. An index records where
    /// decoding can begin: the blocks of bzip2, members of lzip, blocks of xz, frames of zstd, and in gzip a point
    /// for each 1M of data, with the 32K before it, compressed. A file with only one such point, as most zstd files,
    /// can only be read from its start.
    #[arg(long, hide_short_help = true)]
    #[arg(conflicts_with_all = ["range", "line_range", "test", "list", "bench", "explain", "archive", "extract", "recover", "verify"])]
    pub index: bool,

    /// With --index: put the points in a foreign gzip file SIZE bytes of data apart [default: 1M]
    #[arg(long, value_name = "SIZE", value_parser = parse_every, requires = "index", hide_short_help = true)]
    pub index_every: Option<u64>,

    /// With --range, --line-range, -d and -t: use the index PATH
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub index_file: Option<PathBuf>,
}

/// The smallest distance of points in bytes: each takes up to 32 KiB.
const LEAST_EVERY: u64 = 64 << 10;

fn parse_every(text: &str) -> Result<u64, String> {
    let size = parse_size(text).map(|(size, _)| size as u64).filter(|&size| size >= LEAST_EVERY);
    size.ok_or("expected a size in bytes of 64K or more, such as 4M".into())
}

/// Parses two ends, either of which may be omitted.
fn parse_ends(text: &str, number: impl Fn(&str) -> Option<u64>) -> Option<(Option<u64>, Option<u64>)> {
    let (from, to) = text.split_once("..")?;
    let end = |text: &str| if text.is_empty() { Some(None) } else { number(text).map(Some) };
    Some((end(from)?, end(to)?))
}

fn parse_bytes(text: &str) -> Result<Range<u64>, String> {
    let size = |text: &str| parse_size(text).map(|(size, _)| size as u64);
    let Some((from, to)) = parse_ends(text, size) else {
        return Err("expected a range of bytes, such as 4096..8192, 10M..11M, 1G.. or ..512".into());
    };
    let (from, to) = (from.unwrap_or(0), to.unwrap_or(u64::MAX));
    if from > to {
        return Err(format!("ends before it begins: is it {to}..{from}?"));
    }
    Ok(from..to)
}

fn parse_lines(text: &str) -> Result<RangeInclusive<u64>, String> {
    let Some((from, to)) = parse_ends(text, |text| text.parse().ok()) else {
        return Err("expected a range of lines, such as 100..200, 7..7, 1000.. or ..10".into());
    };
    let (from, to) = (from.unwrap_or(1), to.unwrap_or(u64::MAX));
    if from == 0 || to == 0 {
        return Err("lines are counted from 1".into());
    }
    if from > to {
        return Err(format!("ends before it begins: is it {to}..{from}?"));
    }
    Ok(from..=to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_may_be_left_out_and_have_units_where_they_are_bytes() {
        assert_eq!(parse_bytes("1..2"), Ok(1..2));
        assert_eq!(parse_bytes("10M..11MiB"), Ok(10 << 20..11 << 20));
        assert_eq!(parse_bytes("1k.."), Ok(1024..u64::MAX));
        assert_eq!(parse_bytes("..7"), Ok(0..7));
        assert_eq!(parse_bytes(".."), Ok(0..u64::MAX));
        assert_eq!(parse_bytes("5..5"), Ok(5..5));
        assert_eq!(parse_lines("1..2"), Ok(1..=2));
        assert_eq!(parse_lines("3.."), Ok(3..=u64::MAX));
        assert_eq!(parse_lines("..3"), Ok(1..=3));
        for wrong in ["", "1", "1.2", "2..1", "-1..2", "a..b", "1..2..3", "1...2", "99999999999999999999.."] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
            assert!(parse_lines(wrong).is_err(), "{wrong}");
        }
        assert!(
            parse_lines("0..4").is_err() && parse_lines("..0").is_err() && parse_lines("1k..2k").is_err()
        );
    }
}

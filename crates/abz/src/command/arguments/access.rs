//! Parts of files.

use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::how::parse_size;

/// Which part of the plain data is wanted.
#[derive(Debug, Args)]
#[command(next_help_heading = "Parts of files")]
pub struct Access {
    /// Write the bytes A to B of the plain data, B not included, counted from 0; FILE stays
    ///
    /// A.. is all from A on, ..B the first B bytes; 10M..11M is the eleventh MiB. They go to standard output, or to OUT with
    /// -o. What lies behind the end of the data is left out. Of files that abz made, and of others of BGZF, lzip, xz, and
    /// zstd that say where their parts are, and of any that has an index, only those parts are read and verified that are
    /// needed. All other files are decoded from their start up to B, and what is wrong behind it is not noticed.
    #[arg(long, value_name = "A..B", value_parser = parse_bytes, hide_short_help = true)]
    #[arg(conflicts_with_all = ["line_range", "test", "list", "bench", "explain", "archive", "extract", "recover", "verify", "checksum"])]
    pub range: Option<Range<u64>>,

    /// Write the lines A to B of the plain data, both included, counted from 1, as sed -n A,Bp does; FILE stays
    ///
    /// A.. is all from line A on, ..B the first B lines. As with --range, but that the data is decoded from its start if there
    /// is no index.
    #[arg(long, value_name = "A..B", value_parser = parse_lines, hide_short_help = true)]
    #[arg(conflicts_with_all = ["test", "list", "bench", "explain", "archive", "extract", "recover", "verify", "checksum"])]
    pub line_range: Option<RangeInclusive<u64>>,

    /// Make an index of each compressed FILE, FILE.abzi, with which --range and --line-range begin in the middle; with -d on the way
    ///
    /// It is used where it lies beside FILE and fits it; if FILE was changed, that is told, and the data is decoded from its
    /// start. With an index all threads decode one large member of gzip with -d and -t, which then say nothing of an index that
    /// does not fit. FILE stays as it is, with -d too, and any tool may have made it. With -d an index that is there and fits is
    /// used instead, unless -f is given. An index has the places where decoding can begin: the blocks
    /// of bzip2, members of lzip, blocks of xz, frames of zstd, and of gzip one for each 1M of data, with 32K before it,
    /// compressed. A file that has only one such place, as most of zstd, cannot be entered elsewhere.
    #[arg(long, hide_short_help = true)]
    #[arg(conflicts_with_all = ["range", "line_range", "test", "list", "bench", "explain", "archive", "extract", "recover", "verify"])]
    pub index: bool,

    /// With --index: let the places in a foreign file of gzip be SIZE bytes of data apart [default: 1M]
    #[arg(long, value_name = "SIZE", value_parser = parse_every, requires = "index", hide_short_help = true)]
    pub index_every: Option<u64>,

    /// With --range, --line-range, -d and -t: use the index PATH
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub index_file: Option<PathBuf>,
}

/// The least distance of places: each of them takes up to 32 KiB.
const LEAST_EVERY: u64 = 64 << 10;

fn parse_every(text: &str) -> Result<u64, String> {
    let size = parse_size(text).map(|(size, _)| size as u64).filter(|&size| size >= LEAST_EVERY);
    size.ok_or("expected a size in bytes of 64K or more, such as 4M".into())
}

/// Two ends, of which the first or the last may be left out.
fn parse_ends(text: &str, number: impl Fn(&str) -> Option<u64>) -> Option<(Option<u64>, Option<u64>)> {
    let (from, to) = text.split_once("..")?;
    let end = |text: &str| if text.is_empty() { Some(None) } else { number(text).map(Some) };
    Some((end(from)?, end(to)?))
}

fn parse_bytes(text: &str) -> Result<Range<u64>, String> {
    let size = |text: &str| parse_size(text).map(|(size, _)| size as u64);
    let Some((from, to)) = parse_ends(text, size) else {
        return Err("expected two places in bytes, such as 4096..8192, 10M..11M, 1G.. or ..512".into());
    };
    let (from, to) = (from.unwrap_or(0), to.unwrap_or(u64::MAX));
    if from > to {
        return Err(format!("ends before it begins: is it {to}..{from}?"));
    }
    Ok(from..to)
}

fn parse_lines(text: &str) -> Result<RangeInclusive<u64>, String> {
    let Some((from, to)) = parse_ends(text, |text| text.parse().ok()) else {
        return Err("expected two numbers of lines, such as 100..200, 7..7, 1000.. or ..10".into());
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

//! How to compress, and with what.

use abz::Format;
use abz::gzip::MAX_BLOCK;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::level::Level;

/// The smallest block that one may ask for, in bytes: below it the headers weigh, and `-b 128`, which means KiB
/// elsewhere, is a slip of the pen.
const LEAST_BLOCK: usize = 4 << 10;

/// How the work is done.
#[derive(Debug, Args)]
#[command(next_help_heading = HOW)]
pub struct How {
    /// Compress to FORMAT: gzip or bzip2 [default: gzip]
    ///
    /// bzip2 makes files that are a quarter smaller, and takes five times as long. What is to be decompressed tells its
    /// format itself.
    #[arg(short = 'F', long, value_name = "FORMAT", value_parser = format_parser())]
    #[arg(default_value = "gzip", hide_default_value = true, hide_possible_values = true)]
    pub format: Format,

    #[command(flatten)]
    pub level: Level,

    /// Use N threads instead of one for each core
    ///
    /// The output is the same for any number.
    #[arg(short, long, value_name = "N", value_parser = parse_processes)]
    pub processes: Option<usize>,

    /// Compress blocks of SIZE bytes: 4K to 4M [default: 1280K]
    ///
    /// Each block is compressed by itself. Smaller ones need less memory and make larger files (0.3 % with 512K,
    /// 2 % with 128K); larger ones gain next to nothing. For gzip only: the blocks of bzip2 have 100,000 bytes with -1, and
    /// 900,000 with -9, its default.
    #[arg(short, long, value_name = "SIZE", value_parser = parse_block_size)]
    pub block_size: Option<usize>,
}

/// The heading of these arguments.
pub(super) const HOW: &str = "How";

fn format_parser() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::WRITTEN.map(Format::name))
        .try_map(|name| Format::named(&name).ok_or("there is no such format"))
}

fn parse_processes(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(processes @ 1..=1024) => Ok(processes),
        _ => Err("expected a number from 1 to 1024".into()),
    }
}

/// A size in bytes with an optional unit, within the limits of a block.
pub fn parse_block_size(text: &str) -> Result<usize, String> {
    let short = text.strip_suffix("iB").unwrap_or(text);
    let (digits, unit) = match (short.strip_suffix(['k', 'K']), short.strip_suffix(['m', 'M'])) {
        (Some(digits), _) => (digits, 1 << 10),
        (_, Some(digits)) => (digits, 1 << 20),
        _ => (text, 1),
    };
    let size = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
    match size {
        Some(size) if (LEAST_BLOCK..=MAX_BLOCK).contains(&size) => Ok(size),
        Some(size) if size < LEAST_BLOCK && unit == 1 => {
            Err(format!("expected 4K to 4M, found {size} bytes; is it {size}K?"))
        }
        _ => Err("expected a size from 4K to 4M, such as 512K".into()),
    }
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
        for wrong in ["", "K", "1", "128", "5M", "-5", "1G", "99999999999999999999M", "é"] {
            assert!(parse_block_size(wrong).is_err(), "{wrong}");
        }
        assert!(parse_block_size("128").unwrap_err().ends_with("is it 128K?"));
    }
}

//! What the user may write. [`Options`](super::Options) says what it means.

use std::ffi::OsString;
use std::path::PathBuf;

use abz::gzip::MAX_BLOCK;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Parser};

/// The smallest block that one may ask for, in bytes: below it the headers weigh, and `-b 128`, which means KiB
/// elsewhere, is a slip of the pen.
const LEAST_BLOCK: usize = 4 << 10;

/// Compress or decompress files with all cores, in the gzip format
#[derive(Debug, Parser)]
#[command(version, args_override_self = true, after_help = AFTER_HELP, max_term_width = 100)]
pub(super) struct Arguments {
    /// Files to compress or decompress
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,

    /// Decompress
    #[arg(short, long, alias = "uncompress")]
    pub(super) decompress: bool,

    /// Test compressed files: read all and write nothing
    #[arg(short, long)]
    pub(super) test: bool,

    /// Write to standard output, keep the input
    #[arg(short = 'c', long, alias = "to-stdout", conflicts_with = "output")]
    pub(super) stdout: bool,

    /// Keep the input
    #[arg(short, long)]
    pub(super) keep: bool,

    /// Overwrite files, follow links, write compressed data to a terminal
    #[arg(short, long)]
    pub(super) force: bool,

    /// Write to FILE (- for standard output), keep the input
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    #[command(flatten)]
    pub(super) level: Level,

    /// Use N threads [default: the cores that this process may use]
    #[arg(short, long, value_name = "N", value_parser = parse_processes)]
    pub(super) processes: Option<usize>,

    /// Compress blocks of SIZE bytes, 4K to 4M
    #[arg(short, long, value_name = "SIZE", default_value = "1M", value_parser = parse_block_size)]
    pub(super) block_size: usize,

    /// Use SUFFIX for compressed files
    #[arg(short = 'S', long, value_name = "SUFFIX", default_value = ".gz")]
    pub(super) suffix: OsString,

    /// Tell of each file how much it shrank
    #[arg(short, long, overrides_with = "quiet")]
    pub(super) verbose: bool,

    /// Tell no warnings
    #[arg(short, long, overrides_with = "verbose")]
    pub(super) quiet: bool,

    /// Tell sizes and ratio of compressed files, right ones also of several members and above 4 GiB
    #[arg(short, long)]
    pub(super) list: bool,

    /// Take the files in folders, and in their folders; links are not followed
    #[arg(short, long)]
    pub(super) recursive: bool,

    /// Store no name and no time; with -d, do not take those that are stored (-d's default)
    #[arg(short, long, overrides_with = "name")]
    pub(super) no_name: bool,

    /// Store name and time (the default); with -d, take those that are stored
    #[arg(short = 'N', long, overrides_with = "no_name")]
    pub(super) name: bool,

    /// Wait until the output is safely on the disk before its input is removed
    #[arg(long, alias = "synchronous")]
    pub(super) sync: bool,

    /// Print the plan that would run, and do nothing
    #[arg(long)]
    pub(super) explain: bool,

    /// Tell what each stage of the work did, how long it was busy, and what held it up
    #[arg(long)]
    pub(super) report: bool,

    /// Print the license
    #[arg(short = 'L', long)]
    pub(super) license: bool,
}

/// What `--license` prints.
pub(super) const LICENSE: &str = "\
abz is free software, and comes without any warranty. You may use, copy, change
and distribute it under the terms of either the MIT license
<https://opensource.org/license/mit> or the Apache License, version 2.0
<https://www.apache.org/licenses/LICENSE-2.0>, at your choice.
";

const AFTER_HELP: &str = "\
Each FILE is replaced by FILE.gz, or back again with -d. The new file appears
under its name when it is complete; only then is the old one removed. With no
FILE, or when FILE is -, from standard input to standard output.

Examples:
  abz -k notes.txt            makes notes.txt.gz and keeps notes.txt
  abz -d notes.txt.gz         makes notes.txt of it again
  tar c folder | abz -9 > folder.tar.gz
  abz -dc folder.tar.gz | tar x
  abz -t *.gz                 tells which files are damaged, and where

Exit status: 0 if all is well, 1 after an error, 2 after a warning.";

/// How hard to compress: `-1` to `-9`, of which the last one given counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level(pub(super) u32);

impl Level {
    const DEFAULT: Level = Level(6);
    /// The names by which clap knows the flags.
    const IDS: [(&'static str, char); 9] = [
        ("fast", '1'),
        ("2", '2'),
        ("3", '3'),
        ("4", '4'),
        ("5", '5'),
        ("6", '6'),
        ("7", '7'),
        ("8", '8'),
        ("best", '9'),
    ];
}

impl Args for Level {
    fn augment_args(command: Command) -> Command {
        command.args(Level::IDS.map(|(id, digit)| {
            let flag = Arg::new(id).short(digit).action(ArgAction::SetTrue);
            match digit {
                '1' => flag.long(id).help("Compress fast; -2 to -8 lie between the two [default: -6]"),
                '9' => flag.long(id).help("Compress well"),
                _ => flag.hide(true),
            }
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Level::augment_args(command)
    }
}

impl FromArgMatches for Level {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = Level::IDS.iter().filter(|(id, _)| matches.get_flag(id));
        let last = given.max_by_key(|(id, _)| matches.index_of(id));
        Ok(last.and_then(|(_, digit)| digit.to_digit(10)).map_or(Level::DEFAULT, Level))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Level::from_arg_matches(matches)?;
        Ok(())
    }
}

fn parse_processes(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(processes @ 1..=1024) => Ok(processes),
        _ => Err("expected a number from 1 to 1024".into()),
    }
}

fn parse_block_size(text: &str) -> Result<usize, String> {
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
    fn the_arguments_are_consistent() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_last_level_counts() {
        let level = |line: &str| Arguments::parse_from(line.split(' ')).level.0;
        assert_eq!(level("abz x"), 6);
        assert_eq!(level("abz -1 -9 x"), 9);
        assert_eq!(level("abz -9 -1 x"), 1);
        assert_eq!(level("abz -9 -1 --best x"), 9);
        assert_eq!(level("abz -3kf4 x"), 4);
    }

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

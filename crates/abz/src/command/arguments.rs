//! What the user may write. [`Options`](super::Options) says what it means.

use std::ffi::OsString;
use std::path::PathBuf;

use abz::Format;
use abz::gzip::MAX_BLOCK;
use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Parser, ValueEnum, ValueHint};

/// The smallest block that one may ask for, in bytes: below it the headers weigh, and `-b 128`, which means KiB
/// elsewhere, is a slip of the pen.
const LEAST_BLOCK: usize = 4 << 10;

/// Compress or decompress files with all cores, in the formats gzip and bzip2
#[derive(Debug, Parser)]
#[command(
    name = "abz",
    version,
    args_override_self = true,
    before_help = BEFORE_HELP,
    after_help = AFTER_HELP,
    help_template = TEMPLATE,
    max_term_width = 100,
    disable_help_flag = true,
    disable_version_flag = true
)]
pub(super) struct Arguments {
    /// Files to compress or decompress
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub(super) files: Vec<PathBuf>,

    /// Decompress
    ///
    /// Any gzip or bzip2 file will do. Blocks of bzip2, and members of gzip that say how long they are (those of abz and
    /// of bgzip), are decoded by all threads; other members by one, while others read and write. Every checksum and
    /// every size is verified. Where FILE does not exist and FILE.gz does, that is taken.
    #[arg(short, long, alias = "uncompress", help_heading = WHAT)]
    pub(super) decompress: bool,

    /// Test: decompress to nowhere, and say what is damaged
    #[arg(short, long, help_heading = WHAT)]
    pub(super) test: bool,

    /// List sizes and ratios, without decompressing where that can be
    ///
    /// Sizes are those of all members, also above 4 GiB. Files whose members do not say how long they are must be
    /// decoded for that. With -v the first column says which kind a file is of: "members" or "stream".
    #[arg(short, long, help_heading = WHAT)]
    pub(super) list: bool,

    /// Print the plan that would run, as text, dot, svg or json, and do nothing
    ///
    /// There is one for each file.
    #[arg(long, value_name = "AS", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    #[arg(hide_possible_values = true, conflicts_with_all = ["report", "trace"], help_heading = WHAT)]
    pub(super) explain: Option<Explained>,

    /// Write to standard output, keep FILE
    ///
    /// The outputs of several files come one after another, in the order of the command line. With -d and -f, what
    /// is not compressed is copied as it is.
    #[arg(short = 'c', long, alias = "to-stdout", conflicts_with = "output", help_heading = FILES)]
    pub(super) stdout: bool,

    /// Write to OUT (- for standard output), keep FILE
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath, help_heading = FILES)]
    pub(super) output: Option<PathBuf>,

    /// Keep FILE
    #[arg(short, long, help_heading = FILES)]
    pub(super) keep: bool,

    /// Overwrite files, follow links, use a terminal for compressed data
    ///
    /// Without it abz does not replace a file that exists, takes no symbolic link and no file with several names
    /// (hard links), does not compress what has the suffix already, and does not write compressed data to a terminal.
    #[arg(short, long, help_heading = FILES)]
    pub(super) force: bool,

    /// Take the files in folders; links in them are not followed
    #[arg(short, long, help_heading = FILES)]
    pub(super) recursive: bool,

    /// Let compressed files end with SUFFIX instead of .gz or .bz2
    ///
    /// When decompressing, .gz, .tgz, .taz, .z, -gz, -z, _z, .bz2, .bz, .tbz2 and .tbz are known too; those with a t
    /// become .tar.
    #[arg(short = 'S', long, value_name = "SUFFIX", help_heading = FILES)]
    pub(super) suffix: Option<OsString>,

    /// Store no name and time; with -d, do not restore them (-d's default)
    #[arg(short, long, overrides_with = "name", help_heading = FILES)]
    pub(super) no_name: bool,

    /// Store name and time (the default); with -d, restore them
    ///
    /// A stored name is used without its folders.
    #[arg(short = 'N', long, overrides_with = "no_name", help_heading = FILES)]
    pub(super) name: bool,

    /// Wait until the new file is on the disk before FILE is removed
    #[arg(long, alias = "synchronous", help_heading = FILES)]
    pub(super) sync: bool,

    /// Compress to FORMAT: gzip or bzip2 [default: gzip]
    ///
    /// bzip2 makes files that are a quarter smaller, and takes five times as long. What is to be decompressed tells its
    /// format itself.
    #[arg(short = 'F', long, value_name = "FORMAT", value_parser = format_parser(), help_heading = HOW)]
    #[arg(default_value = "gzip", hide_default_value = true, hide_possible_values = true)]
    pub(super) format: Format,

    #[command(flatten)]
    pub(super) level: Level,

    /// Use N threads instead of one for each core
    ///
    /// The output is the same for any number.
    #[arg(short, long, value_name = "N", value_parser = parse_processes, help_heading = HOW)]
    pub(super) processes: Option<usize>,

    /// Compress blocks of SIZE bytes: 4K to 4M [default: 1280K]
    ///
    /// Each block is compressed by itself. Smaller ones need less memory and make larger files (0.3 % with 512K,
    /// 2 % with 128K); larger ones gain next to nothing. For gzip only: the blocks of bzip2 have 100,000 bytes with -1, and
    /// 900,000 with -9, its default.
    #[arg(short, long, value_name = "SIZE", value_parser = parse_block_size, help_heading = HOW)]
    pub(super) block_size: Option<usize>,

    /// Say of each file how much it shrank
    #[arg(short, long, overrides_with = "quiet", help_heading = TOLD)]
    pub(super) verbose: bool,

    /// Say nothing but errors
    #[arg(short, long, overrides_with = "verbose", help_heading = TOLD)]
    pub(super) quiet: bool,

    /// Say what each stage did and what held it up, as text, json or html
    ///
    /// It goes to standard error. There is one report for each file that all threads work on, and one for small files
    /// that are next to each other; JSON is a list of them, and HTML one page.
    #[arg(long, value_name = "AS", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    #[arg(hide_possible_values = true, help_heading = TOLD)]
    pub(super) report: Option<Reported>,

    /// Write the report to OUT instead of standard error
    #[arg(long, value_name = "OUT", value_hint = ValueHint::FilePath, requires = "report", help_heading = TOLD)]
    pub(super) report_file: Option<PathBuf>,

    /// Write to OUT what each thread did and when
    ///
    /// A trace in Chrome's format, for ui.perfetto.dev or chrome://tracing.
    #[arg(long, value_name = "OUT", value_hint = ValueHint::FilePath, help_heading = TOLD)]
    pub(super) trace: Option<PathBuf>,

    /// Print the manual page, or completions for a shell
    ///
    /// For example: abz --generate man > abz.1; abz --generate bash > abz.bash
    #[arg(long, value_name = "WHAT", hide_short_help = true, help_heading = TOLD)]
    pub(super) generate: Option<Generated>,

    /// Print the license
    #[arg(short = 'L', long, help_heading = TOLD)]
    pub(super) license: bool,

    /// Print this help
    #[arg(short, long, action = ArgAction::HelpShort, help_heading = TOLD)]
    help: Option<bool>,

    /// Print the version
    #[arg(short = 'V', long, action = ArgAction::Version, help_heading = TOLD)]
    version: Option<bool>,
}

/// How `--explain` shows a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Explained {
    Text,
    Dot,
    Svg,
    Json,
}

/// How `--report` tells of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Reported {
    Text,
    Json,
    Html,
}

/// What `--generate` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Generated {
    /// The manual page, in roff
    Man,
    Bash,
    Elvish,
    Fish,
    #[value(name = "powershell")]
    PowerShell,
    Zsh,
}

const WHAT: &str = "What to do [compress]";
const FILES: &str = "Which files, and where to";
const HOW: &str = "How";
const TOLD: &str = "What is told";

const TEMPLATE: &str = "\
{about-with-newline}
{usage-heading} {usage}

{before-help}{all-args}{after-help}";

/// What `--license` prints.
pub(super) const LICENSE: &str = "\
abz is free software, and comes without any warranty. You may use, copy, change
and distribute it under the terms of either the MIT license
<https://opensource.org/license/mit> or the Apache License, version 2.0
<https://www.apache.org/licenses/LICENSE-2.0>, at your choice.
";

pub(super) const BEFORE_HELP: &str = "\
Each FILE becomes FILE.gz (with -F bzip2 FILE.bz2), or back again with -d. The new file
gets its name when it is complete; only then is FILE removed. With no FILE, or when FILE
is -, from standard input to standard output.";

const AFTER_HELP: &str = "\
Examples:
  abz -k notes.txt                       makes notes.txt.gz, keeps notes.txt
  tar c folder | abz -9 > folder.tar.gz
  abz -t *.gz                            says which files are damaged, and where

Exit status: 0 if all is well, 1 after an error, 2 after a warning.";

/// How hard to compress, if it is said: `-1` to `-9` or `--level`, of which the last one given counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level(pub(super) Option<u32>);

impl Level {
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
        let flags = Level::IDS.map(|(id, digit)| {
            let flag = Arg::new(id).short(digit).action(ArgAction::SetTrue).help_heading(HOW);
            match digit {
                '1' => flag
                    .long(id)
                    .help("Compress fast; -2 to -8 lie between the two [default: -6, of bzip2 -9]"),
                '9' => flag.long(id).help("Compress well"),
                _ => flag.hide(true),
            }
        });
        command.args(flags).arg(
            Arg::new("level")
                .long("level")
                .value_name("N")
                .value_parser(RangedU64ValueParser::<u32>::new().range(1..=12))
                .help_heading(HOW)
                .help("Compress at level N: 1 to 12, of bzip2 1 to 9; from 10 on very slow"),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Level::augment_args(command)
    }
}

impl FromArgMatches for Level {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let flags = Level::IDS.iter().filter(|(id, _)| matches.get_flag(id));
        let flags = flags.map(|(id, digit)| (matches.index_of(id), digit.to_digit(10)));
        let number = matches.get_one("level").map(|level| (matches.index_of("level"), Some(*level)));
        let last = flags.chain(number).max_by_key(|(place, _)| *place);
        Ok(Level(last.and_then(|(_, level)| level)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Level::from_arg_matches(matches)?;
        Ok(())
    }
}

fn format_parser() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name))
        .try_map(|name| Format::named(&name).ok_or("there is no such format"))
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
        assert_eq!(level("abz x"), None);
        assert_eq!(level("abz -1 -9 x"), Some(9));
        assert_eq!(level("abz -9 -1 x"), Some(1));
        assert_eq!(level("abz -9 -1 --best x"), Some(9));
        assert_eq!(level("abz -3kf4 x"), Some(4));
        assert_eq!(level("abz -1 --level 12 x"), Some(12));
        assert_eq!(level("abz --level 12 --level 10 -2 x"), Some(2));
        assert!(Arguments::try_parse_from(["abz", "--level", "13"]).is_err());
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

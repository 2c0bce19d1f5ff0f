//! The compression level, which can be written in many ways.

use std::ffi::OsString;
use std::ops::RangeInclusive;

use abz::Compression;
use clap::builder::RangedU64ValueParser;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};

use super::headings::HOW;

/// The level, if given: `-0` to `-9`, `-10` and so on, `--level` or `--fast`. The last one is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(Option<Said>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    /// A level; negative for zstd's levels below 0.
    Level(i64),
    /// Several digits in one argument: one level if the format has it, otherwise a level for each digit, of which the
    /// last is used.
    Digits(u32),
}

/// The hidden option that stands for several digits.
const DIGITS: &str = "digits";

/// Replaces two or three consecutive digits in an argument by a hidden option: `-k19f` becomes `-k`, `--digits=19`
/// and `-f`. The parser, `command`, would take each digit for an option.
pub(crate) fn with_long_levels(
    command: &Command,
    arguments: impl Iterator<Item = OsString>,
) -> Vec<OsString> {
    let takes_value = |letter: char| {
        let option = command.get_arguments().find(|option| option.get_short() == Some(letter));
        option.is_some_and(|option| option.get_action().takes_values())
    };
    let (mut split, mut is_over) = (Vec::new(), false);
    for argument in arguments {
        is_over |= argument == "--";
        let letters = argument.to_str().and_then(|argument| argument.strip_prefix('-'));
        let letters = letters.filter(|letters| !is_over && !letters.starts_with('-'));
        let Some(letters) = letters else {
            split.push(argument);
            continue;
        };
        // The rest of the argument is the value of this option.
        let end = letters.find(takes_value).unwrap_or(letters.len());
        let is_digit = |letter: char| letter.is_ascii_digit();
        let start = letters[..end].find(is_digit).unwrap_or(end);
        let len = letters[start..end].find(|letter| !is_digit(letter)).unwrap_or(end - start);
        let (before, rest) = letters.split_at(start);
        let (digits, after) = rest.split_at(len);
        if !(2..=3).contains(&len) {
            split.push(argument);
            continue;
        }
        let as_option = |letters: &str| (!letters.is_empty()).then(|| format!("-{letters}").into());
        split.extend(as_option(before));
        split.push(format!("--{DIGITS}={digits}").into());
        split.extend(as_option(after));
    }
    split
}

impl Level {
    /// Returns the level within `levels`, or a negative one for zstd's levels below 0.
    pub(in crate::command) fn of(self, levels: RangeInclusive<u32>) -> Option<i64> {
        self.0.map(|said| match said {
            Said::Level(level) => level,
            Said::Digits(level) if levels.contains(&level) => level.into(),
            Said::Digits(levels) => i64::from(levels % 10),
        })
    }

    /// The identifiers of the flags in clap.
    const IDS: [(&'static str, char); 10] = [
        ("0", '0'),
        ("1", '1'),
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
                '1' => flag.help("Compress fast; lzip, xz have -0 too [default: -6, bzip2 -9, zstd -3]"),
                '9' => flag.long(id).help("Compress well"),
                _ => flag.hide(true),
            }
        });
        let fast = Arg::new("fast")
            .long("fast")
            .value_name("N")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("0")
            .value_parser(RangedU64ValueParser::<u32>::new().range(0..=Compression::MAX_FAST.into()))
            .help_heading(HOW)
            .hide_short_help(true)
            .help("As -1; with N: level -N, which is faster, for zstd only");
        let digits = Arg::new(DIGITS).long(DIGITS).hide(true).value_parser(value_parser!(u32));
        command.args(flags).arg(fast).arg(digits).arg(
            Arg::new("level")
                .long("level")
                .value_name("N")
                .value_parser(RangedU64ValueParser::<u32>::new().range(0..=22))
                .help_heading(HOW)
                .help("Compress at level N: gzip 1 to 12; bzip2, lzip, xz to 9; zstd to 19"),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Level::augment_args(command)
    }
}

impl FromArgMatches for Level {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let flags = Level::IDS.iter().filter(|(id, _)| matches.get_flag(id));
        let flags = flags
            .map(|(id, digit)| (matches.index_of(id), Said::Level(digit.to_digit(10).map_or(0, i64::from))));
        let number = |id| matches.get_one(id).map(|&number: &u32| (matches.index_of(id), number));
        let level = number("level").map(|(place, level)| (place, Said::Level(level.into())));
        let digits = number(DIGITS).map(|(place, digits)| (place, Said::Digits(digits)));
        let fast = number("fast")
            .map(|(place, fast)| (place, Said::Level(if fast == 0 { 1 } else { -i64::from(fast) })));
        let last = flags.chain(level).chain(digits).chain(fast).max_by_key(|(place, _)| *place);
        Ok(Level(last.map(|(_, said)| said)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Level::from_arg_matches(matches)?;
        Ok(())
    }
}

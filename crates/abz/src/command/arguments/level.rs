//! The level, which has many spellings.

use abz::Compression;
use clap::builder::RangedU64ValueParser;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::how::HOW;

/// How hard to compress, if it is said: `-0` to `-9`, `--level` or `--fast`, of which the last one given counts. Below 0 it
/// is so many levels of zstd below 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(pub(in crate::command) Option<i64>);

impl Level {
    /// The names by which clap knows the flags.
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
            .help("As -1; with N, from 1 on, faster than that by so many levels below 0, for zstd only");
        command.args(flags).arg(fast).arg(
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
        let flags = flags.map(|(id, digit)| (matches.index_of(id), digit.to_digit(10).map(i64::from)));
        let number = |id| matches.get_one(id).map(|&number: &u32| (matches.index_of(id), i64::from(number)));
        let level = number("level").map(|(place, level)| (place, Some(level)));
        let fast = number("fast").map(|(place, fast)| (place, Some(if fast == 0 { 1 } else { -fast })));
        let last = flags.chain(level).chain(fast).max_by_key(|(place, _)| *place);
        Ok(Level(last.and_then(|(_, level)| level)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Level::from_arg_matches(matches)?;
        Ok(())
    }
}

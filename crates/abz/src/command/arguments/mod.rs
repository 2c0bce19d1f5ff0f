//! The command line of `abz`, as clap parses it. [`command_line`](self::command_line) translates it to a
//! [`request`](super::request).

pub(crate) mod command_line;
pub(crate) mod dialect;
pub(crate) mod pages;
pub(crate) mod raw_arguments;

mod access;
mod archive;
mod files;
mod headings;
mod how;
mod level;
mod messages;
mod what;
mod zstd;

use std::path::PathBuf;

use clap::{Parser, ValueHint};

pub(crate) use access::Access;
pub(crate) use archive::Archive;
pub(crate) use files::Files;
pub(crate) use how::{How, InputMode, OutputMode, parse_block_size, parse_dictionary_size};
pub(crate) use level::with_long_levels;
pub(crate) use messages::{Generated, MessageOptions, Reported};
pub(crate) use what::{Explained, Gaps, What};
pub(crate) use zstd::Zstd;

/// Compress or decompress files with all cores, in the formats gzip, bzip2, lzip, xz and zstd
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
pub(crate) struct Arguments {
    /// Files to compress or decompress
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub(crate) inputs: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) what: What,

    #[command(flatten)]
    pub(crate) files: Files,

    #[command(flatten)]
    pub(crate) how: How,

    #[command(flatten)]
    pub(crate) archive: Archive,

    #[command(flatten)]
    pub(crate) access: Access,

    #[command(flatten)]
    pub(crate) messages: MessageOptions,
}

const TEMPLATE: &str = "\
{about-with-newline}
{usage-heading} {usage}

{before-help}{all-args}{after-help}";

/// The text of `--license`.
pub(crate) const LICENSE: &str = "\
abz is free software, and comes without any warranty. You may use, copy, change
and distribute it under the terms of either the MIT license
<https://opensource.org/license/mit> or the Apache License, version 2.0
<https://www.apache.org/licenses/LICENSE-2.0>, at your choice.
";

pub(crate) const BEFORE_HELP: &str = "\
Compresses each FILE to FILE.gz (with -F to FILE.bz2, FILE.lz, FILE.xz or FILE.zst), or
decompresses it with -d. The output gets its name when it is complete; only then is FILE
removed. Without FILE, or if FILE is -, reads standard input and writes standard output.";

const AFTER_HELP: &str = "\
Examples:
  abz -k notes.txt                       creates notes.txt.gz, keeps notes.txt
  tar c folder | abz -9 > folder.tar.gz
  abz -t *.gz                            reports which files are damaged, and where

Exit status: 0 on success, 1 after an error, 2 after a warning.";

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_last_level_counts() {
        let level = |line: &str| {
            let words = with_long_levels(&Arguments::command(), line.split(' ').map(OsString::from));
            Arguments::parse_from(words).how.level.of(0..=12)
        };
        assert_eq!(level("abz x"), None);
        assert_eq!(level("abz -1 -9 x"), Some(9));
        assert_eq!(level("abz -9 -1 x"), Some(1));
        assert_eq!(level("abz -9 -1 --best x"), Some(9));
        assert_eq!(level("abz -3kf4 x"), Some(4));
        assert_eq!(level("abz -12 x"), Some(12));
        assert_eq!(level("abz -k12f x"), Some(12));
        assert_eq!(level("abz -19 x"), Some(9));
        assert_eq!(level("abz -12 -3 x"), Some(3));
        assert_eq!(level("abz -3 -12 x"), Some(12));
        assert_eq!(level("abz -S12 -p10 x"), None);
        assert_eq!(level("abz -kp10 -2 x"), Some(2));
        assert_eq!(level("abz -- -12"), None);
        assert_eq!(level("abz -1 --level 12 x"), Some(12));
        assert_eq!(level("abz -9 --fast x"), Some(1));
        assert_eq!(level("abz -9 --fast=7 x"), Some(-7));
        assert_eq!(level("abz --fast=7 -2 x"), Some(2));
        assert_eq!(level("abz --fast --level 3 --fast=7 x"), Some(-7));
        assert_eq!(level("abz --level 12 --level 10 -2 x"), Some(2));
        assert!(Arguments::try_parse_from(["abz", "--level", "23"]).is_err());
    }
}

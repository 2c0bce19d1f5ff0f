//! What is told.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum, ValueHint};

/// What is told of the work, and of abz.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is told")]
pub struct Told {
    /// Say of each file how much it shrank
    #[arg(short, long, overrides_with = "quiet")]
    pub verbose: bool,

    /// Say nothing but errors
    #[arg(short, long, overrides_with = "verbose")]
    pub quiet: bool,

    /// Say what each stage did and what held it up, as text, json or html
    ///
    /// It goes to standard error. There is one report for each file that all threads work on, and one for small files
    /// that are next to each other; JSON is a list of them, and HTML one page.
    #[arg(long, value_name = "AS", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    #[arg(hide_possible_values = true)]
    pub report: Option<Reported>,

    /// Write the report to OUT instead of standard error
    #[arg(long, value_name = "OUT", value_hint = ValueHint::FilePath, requires = "report", hide_short_help = true)]
    pub report_file: Option<PathBuf>,

    /// Write to OUT what each thread did and when
    ///
    /// A trace in Chrome's format, for ui.perfetto.dev or chrome://tracing.
    #[arg(long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub trace: Option<PathBuf>,

    /// Print the manual page, or completions for a shell
    ///
    /// For example: abz --generate man > abz.1; abz --generate bash > abz.bash
    #[arg(long, value_name = "WHAT", hide_short_help = true)]
    pub generate: Option<Generated>,

    /// Make links to abz in DIR under the names of other tools, and say which
    ///
    /// Called by such a name (gzip, gunzip, zcat, pigz, bzip2, lbzip2 and so on), abz takes the options of that tool and
    /// behaves as it does. DIR is made if it is not there; what exists in it and is no such link stays.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, hide_short_help = true)]
    pub install_links: Option<PathBuf>,

    /// Print the license
    #[arg(short = 'L', long, hide_short_help = true)]
    pub license: bool,

    /// Print this help
    #[arg(short, long, action = ArgAction::HelpShort)]
    help: Option<bool>,

    /// Print the version
    #[arg(short = 'V', long, action = ArgAction::Version)]
    version: Option<bool>,
}

/// How `--report` tells of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Reported {
    Text,
    Json,
    Html,
}

/// What `--generate` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Generated {
    /// The manual page, in roff
    Man,
    Bash,
    Elvish,
    Fish,
    #[value(name = "powershell")]
    PowerShell,
    Zsh,
}

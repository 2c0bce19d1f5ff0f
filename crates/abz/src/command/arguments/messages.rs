//! Options for messages and reports.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum, ValueHint};

/// Options for messages and reports.
#[derive(Debug, Args)]
#[command(next_help_heading = "Messages and reports")]
pub struct MessageOptions {
    /// Print the compression ratio of each file
    #[arg(short, long, overrides_with = "quiet")]
    pub verbose: bool,

    /// Print errors only
    #[arg(short, long, overrides_with = "verbose")]
    pub quiet: bool,

    /// Report what each stage did and what slowed it down, as text, json or html
    ///
    /// The report goes to standard error. There is one report for each file that all threads process together, and
    /// one for each group of small files. JSON is a list of reports, HTML is one page.
    #[arg(long, value_name = "AS", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    #[arg(hide_possible_values = true)]
    pub report: Option<Reported>,

    /// Write the report to OUT instead of standard error
    #[arg(long, value_name = "OUT", value_hint = ValueHint::FilePath, requires = "report", hide_short_help = true)]
    pub report_file: Option<PathBuf>,

    /// Write a trace of all threads to OUT
    ///
    /// The trace is in Chrome's format, for ui.perfetto.dev or chrome://tracing.
    #[arg(long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub trace: Option<PathBuf>,

    /// Print the manual page, or completions for a shell
    ///
    /// For example: abz --generate man > abz.1; abz --generate bash > abz.bash
    #[arg(long, value_name = "WHAT", hide_short_help = true)]
    pub generate: Option<Generated>,

    /// Create links to abz in DIR under the names of other tools, and print them
    ///
    /// When called by such a name (gzip, gunzip, zcat, pigz, bzip2, lbzip2 and so on), abz takes the options of that
    /// tool and behaves like it. DIR is created if it does not exist. Existing files that are not such links stay.
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

/// The formats of `--report`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Reported {
    Text,
    Json,
    Html,
}

/// The values of `--generate`.
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

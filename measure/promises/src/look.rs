//! The request to a suite, and its results.

use std::time::Instant;

use measure_harness::rounds::Unmeasured;
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};

/// The groups to measure, and how thoroughly to measure them.
#[derive(Debug)]
pub struct Look {
    pub quick: bool,
    /// The group to measure; `None` for all groups.
    pub only: Option<String>,
    begin: Instant,
}

/// The results of a suite.
#[derive(Debug, Default)]
pub struct Measured {
    pub rows: Vec<Row>,
    /// Lines for the head of the table: versions and commands.
    pub notes: Vec<String>,
    /// More tables in Markdown, each with the name of its markers in `RESULTS.md`.
    pub tables: Vec<(&'static str, String)>,
}

impl Look {
    /// Begins now.
    pub fn new(quick: bool, only: Option<String>) -> Self {
        Self { quick, only, begin: Instant::now() }
    }

    /// Seconds since it began.
    pub fn seconds(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }

    /// Whether a group is to be measured.
    pub fn asks(&self, group: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == group)
    }

    /// Whether a group is to be measured. If so, prints on standard error that it begins.
    pub fn at(&self, group: &str) -> bool {
        let asked = self.asks(group);
        if asked {
            self.say(group);
        }
        asked
    }

    /// Prints on standard error what is happening.
    pub fn say(&self, what: &str) {
        eprintln!("{:4.0} s: {what}", self.seconds());
    }
}

impl Measured {
    /// Nothing could be measured, and why.
    pub fn impossible(group: &str, why: String) -> Self {
        let what = (Target::None, Unit::Percent);
        let row = Row::without(group, "all of it", what, Unmeasured::Impossible(why));
        Self { rows: vec![row], ..Self::default() }
    }
}

//! What is being measured, and how long it will take.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// A line on standard error that is written over, if that is a terminal.
#[derive(Debug)]
pub struct Progress {
    end: Instant,
    is_terminal: bool,
}

impl Progress {
    /// For measurements that take this long.
    pub fn new(time: Duration) -> Self {
        Self { end: Instant::now() + time, is_terminal: stderr().is_terminal() }
    }

    /// A case begins.
    pub fn case(&self, text: &str) {
        if !self.is_terminal {
            eprintln!("{text}, {} left", self.left());
        }
    }

    /// A variant of the case runs.
    pub fn variant(&self, case: &str, variant: &str, round: usize) {
        if self.is_terminal {
            let text = format!("{case}: round {round}, {variant}; {} left", self.left());
            // Erases what the line had before (ECMA-48, 8.3.41).
            eprint!("\r{text}\x1b[K");
            let _ = stderr().flush();
        }
    }

    /// Everything is measured.
    pub fn end(&self) {
        if self.is_terminal {
            eprint!("\r\x1b[K");
        }
    }

    fn left(&self) -> String {
        let seconds = self.end.saturating_duration_since(Instant::now()).as_secs();
        if seconds < 90 {
            format!("at most {seconds} s")
        } else {
            format!("at most {} min", seconds.div_ceil(60))
        }
    }
}

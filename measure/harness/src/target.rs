//! The target of a number, and the verdict on it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::statistics::Summary;

/// The unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Hundredths.
    Percent,
    /// Percentage points.
    Points,
    /// Billionths of a second.
    Nanoseconds,
    /// Millionths of a second.
    Microseconds,
    /// Thousandths of a second.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// 1,048,576 bytes each.
    Mebibytes,
    /// 1,000 bytes each.
    Kilobytes,
    /// Lines of a program.
    Lines,
    /// Threads of a process.
    Threads,
    /// A ratio.
    Times,
}

impl Unit {
    /// A number with its unit.
    pub fn show(self, value: f64) -> String {
        format!("{} {}", self.digits(value), self.name())
    }

    /// A number without its unit, with as many digits as are meaningful.
    pub fn digits(self, value: f64) -> String {
        let places = match value.abs() {
            _ if self == Self::Times => 2,
            size if size < 1.0 => 2,
            size if size < 1_000.0 => 1,
            _ => 0,
        };
        format!("{value:.places$}")
    }

    fn name(self) -> &'static str {
        match self {
            Self::Percent => "%",
            Self::Points => "points",
            Self::Nanoseconds => "ns",
            Self::Microseconds => "us",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
            Self::Mebibytes => "MiB",
            Self::Kilobytes => "kB",
            Self::Lines => "lines",
            Self::Threads => "threads",
            Self::Times => "times",
        }
    }
}

/// What a number has to be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Target {
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
    /// At most this far from 0, on either side.
    Within(f64),
    /// At least as fast as a rival. The number is how many times as fast.
    Rival,
    /// No target: measured for comparison.
    None,
}

/// Two rivals that differ by less than this share are tied.
pub const TIE: f64 = 0.05;

impl Target {
    /// The target as text.
    pub fn show(self, unit: Unit) -> String {
        match self {
            Self::AtLeast(value) => format!("at least {value} {}", unit.name()),
            Self::AtMost(value) => format!("at most {value} {}", unit.name()),
            Self::Within(value) => format!("within {value} {}", unit.name()),
            Self::Rival => "at least 1.0 times".into(),
            Self::None => String::new(),
        }
    }

    /// Judges by the interval, and not by the median alone.
    pub fn judge(self, summary: Summary) -> Verdict {
        let Summary { median, low, high } = summary;
        match self {
            Self::None => Verdict::Unasked,
            Self::AtLeast(least) => Verdict::by(low >= least, high < least, median >= least),
            Self::Within(most) => {
                Verdict::by(low >= -most && high <= most, low > most || high < -most, median.abs() <= most)
            }
            Self::AtMost(most) => Verdict::by(high <= most, low > most, median <= most),
            Self::Rival if median > 1.0 + TIE && low > 1.0 => Verdict::Met,
            Self::Rival if median < 1.0 - TIE && high < 1.0 => Verdict::Missed,
            Self::Rival => Verdict::Tie,
        }
    }
}

/// Whether a number meets its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Verdict {
    /// The whole interval meets the target.
    Met,
    /// None of the interval does.
    Missed,
    /// The target lies inside the interval; the median meets it.
    OpenMet,
    /// The target lies inside the interval; the median misses it.
    OpenMissed,
    /// The rivals are too close to tell apart.
    Tie,
    /// There is no target.
    Unasked,
}

impl Verdict {
    fn by(met: bool, missed: bool, median: bool) -> Self {
        match (met, missed, median) {
            (true, ..) => Self::Met,
            (_, true, _) => Self::Missed,
            (.., true) => Self::OpenMet,
            (.., false) => Self::OpenMissed,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Met => "met",
            Self::Missed => "not met",
            Self::OpenMet => "open (median: met)",
            Self::OpenMissed => "open (median: not met)",
            Self::Tie => "met (a tie)",
            Self::Unasked => "",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(low: f64, median: f64, high: f64) -> Summary {
        Summary { median, low, high }
    }

    #[test]
    fn the_interval_decides() {
        let target = Target::AtLeast(94.0);
        assert_eq!(target.judge(summary(94.0, 95.0, 96.0)), Verdict::Met);
        assert_eq!(target.judge(summary(93.0, 95.0, 96.0)), Verdict::OpenMet);
        assert_eq!(target.judge(summary(92.0, 93.0, 96.0)), Verdict::OpenMissed);
        assert_eq!(target.judge(summary(91.0, 92.0, 93.0)), Verdict::Missed);
        assert_eq!(Target::AtMost(12.0).judge(summary(7.0, 8.0, 9.0)), Verdict::Met);
        assert_eq!(Target::AtMost(12.0).judge(summary(13.0, 14.0, 19.0)), Verdict::Missed);
        assert_eq!(Target::Within(10.0).judge(summary(-9.0, -8.0, 1.0)), Verdict::Met);
        assert_eq!(Target::Within(10.0).judge(summary(-12.0, -9.0, -8.0)), Verdict::OpenMet);
        assert_eq!(Target::Within(10.0).judge(summary(-19.0, -14.0, -13.0)), Verdict::Missed);
    }

    #[test]
    fn rivals_within_five_percent_tie() {
        assert_eq!(Target::Rival.judge(summary(1.01, 1.04, 1.05)), Verdict::Tie);
        assert_eq!(Target::Rival.judge(summary(0.95, 0.96, 0.97)), Verdict::Tie);
        assert_eq!(Target::Rival.judge(summary(0.99, 1.2, 1.3)), Verdict::Tie);
        assert_eq!(Target::Rival.judge(summary(1.1, 1.2, 1.3)), Verdict::Met);
        assert_eq!(Target::Rival.judge(summary(0.8, 0.9, 0.93)), Verdict::Missed);
    }

    #[test]
    fn targets_read_well() {
        assert_eq!(Target::AtLeast(97.0).show(Unit::Percent), "at least 97 %");
        assert_eq!(Target::AtMost(1.15).show(Unit::Times), "at most 1.15 times");
        assert_eq!(Target::AtMost(0.3).show(Unit::Percent), "at most 0.3 %");
        assert_eq!(Unit::Nanoseconds.show(7.12), "7.1 ns");
    }
}

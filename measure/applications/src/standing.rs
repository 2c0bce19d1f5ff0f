//! Who wins a case.

use measure_harness::statistics::Summary;
use measure_harness::target::{TIE, Target, Verdict};

use crate::results::{Cell, Group};
use crate::systems::{Side, side, streams};

/// How a case ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Win,
    Loss,
    /// The medians differ by less than 5 %.
    Tie,
    /// The median is ahead by 5 % or more, but the interval contains 1.
    Ahead,
    /// The median is behind by 5 % or more, but the interval contains 1.
    Behind,
}

impl End {
    /// Judges how many times as fast as the rival Anabranch is.
    fn of(times: Summary) -> Self {
        match Target::Rival.judge(times) {
            Verdict::Met => Self::Win,
            Verdict::Missed => Self::Loss,
            _ if times.median > 1.0 + TIE => Self::Ahead,
            _ if times.median < 1.0 - TIE => Self::Behind,
            _ => Self::Tie,
        }
    }
}

/// The best of Anabranch against the best of the rivals.
#[derive(Debug)]
pub struct Standing<'a> {
    pub own: &'a Cell,
    pub rival: &'a Cell,
    /// How many times as fast as the rival Anabranch is.
    pub times: Summary,
    pub end: End,
}

impl<'a> Standing<'a> {
    /// Against the best of all rivals. `None` if one of the two is not there.
    pub fn of(group: &'a Group) -> Option<Self> {
        Self::against(group, |_| true)
    }

    /// Against the best of the rivals that give results as they come.
    pub fn of_streams(group: &'a Group) -> Option<Self> {
        Self::against(group, streams)
    }

    fn against(group: &'a Group, is_meant: fn(&str) -> bool) -> Option<Self> {
        let own = best_own(group)?;
        let rival = best(group, |variant| side(variant) == Side::Rival && is_meant(variant))?;
        let times = own.figures.against(&rival.figures);
        Some(Self { own, rival, times, end: End::of(times) })
    }
}

/// The cell that others are shown against: the best rival, or the quickest plain loop if there is no rival.
pub fn reference(group: &Group) -> Option<&Cell> {
    best(group, |variant| side(variant) == Side::Rival)
        .or_else(|| best(group, |variant| side(variant) == Side::Plain))
}

/// The best variant of Anabranch.
pub fn best_own(group: &Group) -> Option<&Cell> {
    best(group, |variant| side(variant) == Side::Anabranch)
}

/// The cell with the shortest median time, among the variants that are meant.
fn best(group: &Group, is_meant: impl Fn(&str) -> bool) -> Option<&Cell> {
    let among = group.cells.iter().filter(|cell| is_meant(&cell.variant));
    let median = |cell: &Cell| cell.figures.time().median;
    among.min_by(|a, b| median(a).total_cmp(&median(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_interval_is_not_a_tie() {
        let end = |low, median, high| End::of(Summary { median, low, high });
        assert_eq!(end(1.1, 1.2, 1.3), End::Win);
        assert_eq!(end(0.9, 1.2, 1.3), End::Ahead);
        assert_eq!(end(0.6, 1.01, 2.0), End::Tie);
        assert_eq!(end(0.8, 0.9, 1.1), End::Behind);
        assert_eq!(end(0.8, 0.9, 0.94), End::Loss);
    }
}

//! Who wins a case.

use anabranch_measure::statistics::Summary;
use anabranch_measure::target::{Target, Verdict};

use crate::choice::{RIVALS, SEQUENTIAL};
use crate::results::{Cell, Group};
use crate::variants::OWN;

/// The best of Anabranch against the best of the rivals.
#[derive(Debug)]
pub struct Standing<'a> {
    pub own: &'a Cell,
    pub rival: &'a Cell,
    /// How many times as fast as the rival Anabranch is.
    pub times: Summary,
    pub verdict: Verdict,
}

impl<'a> Standing<'a> {
    /// `None` if one of the two is not there.
    pub fn of(group: &'a Group) -> Option<Self> {
        let (own, rival) = (best(group, &OWN)?, best(group, &RIVALS)?);
        let times = own.against(rival);
        Some(Self { own, rival, times, verdict: Target::Rival.judge(times) })
    }
}

/// The cell that others are shown against: the best rival, or the sequential program if there is no rival.
pub fn reference(group: &Group) -> Option<&Cell> {
    best(group, &RIVALS).or_else(|| best(group, &[SEQUENTIAL]))
}

/// The cell with the shortest median time, among these variants.
fn best<'a>(group: &'a Group, variants: &[&str]) -> Option<&'a Cell> {
    let among = group.cells.iter().filter(|cell| variants.contains(&cell.variant.as_str()));
    let median = |cell: &Cell| Summary::of(cell.seconds.iter().copied()).median;
    among.min_by(|a, b| median(a).total_cmp(&median(b)))
}

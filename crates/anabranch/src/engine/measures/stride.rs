//! Chooses the items that the inline executor measures. It has no claims, and to read the clock for each item
//! would cost too much.

/// The time from one measured item to the next, in nanoseconds. With this distance, about 1 % of the time is
/// spent on reading clocks.
const PACE_NS: u64 = 50_000;
/// At least one in this many items is measured.
const LONGEST_GAP_ITEMS: u64 = 256;
/// Each of this many items at the beginning is measured.
const FIRST_ITEMS: u32 = 64;

/// Chooses the items to measure. If items take long, all of them are measured. If they are short, one of
/// several is measured, and the choice does not depend on how long that item takes.
#[derive(Debug)]
pub(crate) struct Stride {
    /// How many items were measured.
    measured: u32,
    /// How many items are left out before the next one is measured.
    left: u64,
    /// The distance between two measured items, in items.
    gap: u64,
}

impl Stride {
    pub(crate) fn new() -> Self {
        Self { measured: 0, left: 0, gap: 1 }
    }

    /// How many items the next item stands for. 0 if it is not measured.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        if self.left > 0 {
            self.left -= 1;
            return 0;
        }
        self.gap
    }

    /// Notes that a measured item took `nanos` nanoseconds.
    pub(crate) fn took(&mut self, nanos: u64) {
        self.measured = self.measured.saturating_add(1);
        if self.measured < FIRST_ITEMS {
            return;
        }
        self.gap = (PACE_NS / nanos.max(1)).clamp(1, LONGEST_GAP_ITEMS);
        self.left = self.gap - 1;
    }
}

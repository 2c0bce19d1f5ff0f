//! Which items the inline executor measures: it has no claims, and a clock for each item would cost too much.

/// Two items that are measured are about so many nanoseconds apart: 1 % of them goes to the clocks.
const PACE: u64 = 50_000;
/// Of so many items one is measured at least...
const MOST: u64 = 256;
/// ... and of the first so many, each.
const ALL: u32 = 64;

/// Chooses items: all where they take long, one in some where they are short. Which one does not depend on how long
/// that one takes.
#[derive(Debug)]
pub(crate) struct Stride {
    measured: u32,
    left: u64,
    gap: u64,
}

impl Stride {
    pub(crate) fn new() -> Self {
        Self { measured: 0, left: 0, gap: 1 }
    }

    /// For how many items the next one stands; 0 if it is not measured.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        if self.left > 0 {
            self.left -= 1;
            return 0;
        }
        self.gap
    }

    /// An item that was measured took so long.
    pub(crate) fn took(&mut self, nanos: u64) {
        self.measured = self.measured.saturating_add(1);
        if self.measured < ALL {
            return;
        }
        self.gap = (PACE / nanos.max(1)).clamp(1, MOST);
        self.left = self.gap - 1;
    }
}

//! How windows lie, and in which order their results come.

/// How windows lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Windows of `size` items that begin with each `step`th.
    Count { size: i64, step: i64 },
    /// Windows of `length` units of time that begin at each multiple of `step`.
    Time { length: i64, step: i64, lateness: i64 },
    /// Windows that end with a gap.
    Session { gap: i64, lateness: i64 },
}

impl Layout {
    /// The watermark when `high` is the greatest time so far.
    #[inline]
    pub(super) fn watermark(&self, high: i64) -> i64 {
        match *self {
            Layout::Count { .. } => i64::MIN,
            Layout::Time { lateness, .. } => high.saturating_sub(lateness),
            Layout::Session { gap, lateness } => {
                let (watermark, grain) = (high.saturating_sub(lateness), grain(gap));
                watermark.div_euclid(grain).saturating_mul(grain)
            }
        }
    }

    /// The last place at or before `watermark` at which windows may close. If it is the same for two watermarks, no window
    /// closes between them.
    #[inline]
    pub(super) fn border(&self, watermark: i64) -> i64 {
        match *self {
            Layout::Count { .. } => 0,
            Layout::Time { length, step, .. } => watermark.div_euclid(common_divisor(length, step)),
            Layout::Session { .. } => watermark,
        }
    }

    /// The least rank of the windows that have not closed before the item `order`, which came at `watermark`.
    #[inline]
    pub(super) fn rank_from(&self, order: u64, watermark: i64) -> Rank {
        match *self {
            Layout::Count { .. } => (order as i64, 0),
            _ => (watermark.saturating_add(1), 0),
        }
    }
}

/// The watermark of sessions is a multiple of this.
pub(super) fn grain(gap: i64) -> i64 {
    (gap / 16).max(1)
}

/// The greatest common divisor of two positive numbers.
pub(super) fn common_divisor(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The place of a result in the order of all results. For windows by count it is the number of the item with which the
/// window is complete; for others the end of the window, and the number of its first item.
pub(crate) type Rank = (i64, u64);

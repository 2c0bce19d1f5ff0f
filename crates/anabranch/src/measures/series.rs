//! Sums over time, for a fixed number of stretches of time.

/// The number of stretches of a series. When all are in use, they are joined in pairs, and each is twice as
/// long.
pub(crate) const STRETCHES: usize = 256;
/// A stretch has 2^13 nanoseconds at first.
const FIRST_STRETCH_NS_BITS: u32 = 13;

/// Sums over time, in several columns.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    columns: usize,
    /// The length of a stretch is 2^`bits` nanoseconds.
    bits: u32,
    /// The rows, one for each stretch that is in use.
    sums: Vec<u64>,
}

impl Series {
    pub(crate) fn new(columns: usize) -> Self {
        Self { columns, bits: FIRST_STRETCH_NS_BITS, sums: Vec::with_capacity(STRETCHES * columns) }
    }

    /// Adds the time from `at` to `at + nanos` to a column. Each stretch gets the part that lies in it.
    pub(crate) fn add_time(&mut self, at: u64, nanos: u64, column: usize) {
        self.add_product(at, nanos, column, 1);
    }

    /// Like [`add_time`](Self::add_time), but adds the time multiplied by `value`.
    pub(crate) fn add_product(&mut self, at: u64, nanos: u64, column: usize, value: u64) {
        let end = at.saturating_add(nanos);
        self.reach(end);
        let mut from = at;
        while from < end {
            let stretch = (from >> self.bits) as usize;
            let to = end.min((stretch as u64 + 1) << self.bits);
            let sum = &mut self.sums[stretch * self.columns + column];
            *sum = sum.saturating_add((to - from).saturating_mul(value));
            from = to;
        }
    }

    /// Makes room for time `at`, and returns the number of its stretch.
    fn reach(&mut self, at: u64) -> usize {
        while at >> self.bits >= STRETCHES as u64 {
            self.join();
        }
        let stretch = (at >> self.bits) as usize;
        if self.sums.len() <= stretch * self.columns {
            self.sums.resize((stretch + 1) * self.columns, 0);
        }
        stretch
    }

    fn join(&mut self) {
        let columns = self.columns;
        let rows = self.sums.len() / columns;
        for row in 0..rows.div_ceil(2) {
            for column in 0..columns {
                let second = self.sums.get((2 * row + 1) * columns + column).copied().unwrap_or(0);
                self.sums[row * columns + column] =
                    self.sums[2 * row * columns + column].saturating_add(second);
            }
        }
        self.sums.truncate(rows.div_ceil(2) * columns);
        self.bits += 1;
    }

    /// The length of a stretch in nanoseconds.
    #[cfg(any(feature = "json", feature = "html"))]
    pub(crate) fn width(&self) -> u64 {
        1 << self.bits
    }

    /// The rows: for each stretch, the sums of all columns.
    pub(crate) fn rows(&self) -> std::slice::ChunksExact<'_, u64> {
        self.sums.chunks_exact(self.columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_when_stretches_are_joined() {
        let mut series = Series::new(3);
        let mut at = 0;
        for step in 0..5_000u64 {
            series.add_time(at, 1, 0);
            series.add_product(at, 1, 1, step);
            at += 7_919 * (1 + step % 5);
        }
        series.add_time(1_000, at, 2);
        assert!(series.rows().len() <= STRETCHES);
        assert!(series.width() * STRETCHES as u64 > at);
        let sum = |column: usize| series.rows().map(|row| row[column]).sum::<u64>();
        assert_eq!((sum(0), sum(1), sum(2)), (5_000, (0..5_000).sum(), at));
        // No stretch holds more time than it has.
        assert!(series.rows().all(|row| row[2] <= series.width()));
    }

    #[test]
    fn a_long_pause_is_a_stretch_of_nothing() {
        let mut series = Series::new(1);
        series.add_time(0, 1, 0);
        series.add_product(3_600_000_000_000, 1, 0, 2);
        let rows: Vec<u64> = series.rows().map(|row| row[0]).collect();
        assert_eq!((rows[0], rows[rows.len() - 1]), (1, 2));
        assert!(rows.len() <= STRETCHES && rows[1..rows.len() - 1].iter().all(|&sum| sum == 0));
    }
}

//! A median, and how well it is known.

use serde::{Deserialize, Serialize};

/// The median of some samples, with a 95 % interval for it.
///
/// The interval is made of order statistics. It is exact (from the binomial distribution) and assumes nothing
/// about the distribution of the samples. With fewer than 6 samples there is no such interval, and the range
/// of the samples is used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The median of the samples.
    pub median: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Summary {
    /// Computes the median and the interval of the samples.
    ///
    /// # Panics
    /// If there is no sample.
    pub fn of(samples: impl IntoIterator<Item = f64>) -> Self {
        let mut samples: Vec<f64> = samples.into_iter().collect();
        samples.sort_by(f64::total_cmp);
        let (n, outside) = (samples.len(), outside(samples.len()));
        assert!(n > 0, "a summary needs a sample");
        let median = f64::midpoint(samples[(n - 1) / 2], samples[n / 2]);
        Self { median, low: samples[outside], high: samples[n - 1 - outside] }
    }

    /// The same, and `None` if there is no sample.
    pub fn of_some(samples: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut samples = samples.into_iter().peekable();
        samples.peek().is_some().then(|| Self::of(samples))
    }
}

/// How many samples at each end are outside of the interval.
///
/// The true median is below the sample at position *k*, counted from 1, only if fewer than *k* samples are
/// below the median. Each sample is below it with probability 1/2. *k* is the largest position for which this
/// has a probability of at most 2.5 %.
fn outside(samples: usize) -> usize {
    let samples = samples.min(1_000);
    let (mut exactly, mut at_most) = (0.5f64.powi(samples as i32), 0.0);
    for heads in 0..samples / 2 {
        at_most += exactly;
        if at_most > 0.025 {
            return heads.saturating_sub(1);
        }
        exactly *= (samples - heads) as f64 / (heads + 1) as f64;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_the_tables() {
        // Interval from the (outside + 1)-th sample: 1 for 6 to 8, 2 for 9, 4 for 15, 6 for 21.
        for (samples, left_out) in [(1, 0), (5, 0), (6, 0), (8, 0), (9, 1), (15, 3), (21, 5), (31, 9)] {
            assert_eq!(outside(samples), left_out, "{samples} samples");
        }
    }

    #[test]
    fn the_order_of_the_samples_does_not_matter() {
        let summary = Summary::of([3.0, 9.0, 1.0, 2.0]);
        assert_eq!(summary, Summary { median: 2.5, low: 1.0, high: 9.0 });
    }
}

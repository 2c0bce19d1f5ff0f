//! Numbers that are the same in every run.

/// Random numbers.
pub struct Random(fastrand::Rng);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// A number from -1 to 1.
    pub fn value(&mut self) -> f32 {
        2.0 * self.0.f32() - 1.0
    }
}

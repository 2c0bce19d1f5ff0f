//! The input of the kernels: numbers that are the same in every run.

/// A generator of pseudo-random numbers (G. Marsaglia, *Xorshift RNGs*, 2003).
#[derive(Debug, Clone)]
pub(super) struct Noise(u32);

impl Noise {
    pub(super) fn new(seed: u32) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9) | 1)
    }

    #[inline]
    pub(super) fn number(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    /// Fills a signal with numbers from -1 to 1.
    pub(super) fn signal(&mut self, samples: &mut [f32]) {
        samples.iter_mut().for_each(|sample| *sample = (self.number() as i32 as f32) / (1u32 << 31) as f32);
    }
}

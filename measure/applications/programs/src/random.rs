//! Numbers that look random and are the same in every run.

/// The generator xorshift64* (S. Vigna, *An experimental exploration of Marsaglia's xorshift generators,
/// scrambled*, 2016).
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// A generator; another seed gives other numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number from 0 to `end`, without `end`.
    pub fn below(&mut self, end: usize) -> usize {
        ((self.bits() >> 32) as usize * end) >> 32
    }

    /// Bytes of all values.
    pub fn noise(&mut self, bytes: usize) -> Vec<u8> {
        (0..bytes).map(|_| (self.bits() >> 56) as u8).collect()
    }

    /// Prose without a meaning: at least this many bytes of words, most of them frequent ones.
    pub fn text(&mut self, bytes: usize) -> Vec<u8> {
        let mut text = Vec::with_capacity(bytes + 32);
        while text.len() < bytes {
            // Small numbers are more likely, as in language.
            let word = self.below(64) * self.below(64);
            let mut letters = Random::new(word as u64 + 7);
            for _ in 0..2 + letters.below(8) {
                text.push(b"etaoinshrdlucmfwypvbgk"[letters.below(22)]);
            }
            text.push(if self.below(12) == 0 { b'\n' } else { b' ' });
        }
        text
    }
}

//! The scrambler x^7 + x^4 + 1 (IEEE Std 802.11-2020, 17.3.5.5), and the pilots' polarity, which it gives.

/// Length of the sequence in bits: it repeats after this.
pub const PERIOD: usize = 127;

/// The scrambler's sequence. It never ends.
#[derive(Debug, Clone)]
pub struct Scrambler {
    /// Seven bits. The bit that was put in last is the lowest.
    state: u8,
}

impl Scrambler {
    /// Creates a scrambler with the state `seed`, from 1 to 127. The highest of the seven bits comes out first.
    ///
    /// # Panics
    /// If the seed is 0, with which the sequence would be all zeros, or more than 127.
    pub fn new(seed: u8) -> Self {
        assert!((1..=127).contains(&seed), "a seed is from 1 to 127, not {seed}");
        Self { state: seed }
    }

    /// Creates the scrambler that has put out `bits`, seven of them, the first being the highest bit. `None` for zeros,
    /// because no scrambler puts out seven zeros in a row.
    pub fn after(bits: u8) -> Option<Self> {
        (1..=127).contains(&bits).then_some(Self { state: bits })
    }

    /// Returns the next bit of the sequence.
    pub fn bit(&mut self) -> u8 {
        let bit = (self.state >> 6 ^ self.state >> 3) & 1;
        self.state = (self.state << 1 | bit) & 0x7f;
        bit
    }

    /// Returns the next eight bits. The first is the lowest.
    pub fn byte(&mut self) -> u8 {
        (0..8).fold(0, |byte, at| byte | self.bit() << at)
    }
}

/// Returns the sign of the pilots of each symbol. The SIGNAL field has the first one.
pub fn polarity() -> [f32; PERIOD] {
    let mut scrambler = Scrambler::new(0x7f);
    std::array::from_fn(|_| if scrambler.bit() == 0 { 1.0 } else { -1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_of_all_ones_is_that_of_the_standard() {
        let mut scrambler = Scrambler::new(0x7f);
        let first: Vec<u8> = (0..32).map(|_| scrambler.bit()).collect();
        let expected = "00001110111100101100100100000010";
        assert_eq!(first, expected.bytes().map(|c| c - b'0').collect::<Vec<_>>());
    }

    #[test]
    fn seven_bits_of_the_output_tell_the_rest() {
        for seed in 1..=127 {
            let mut sent = Scrambler::new(seed);
            let bits = (0..7).fold(0, |bits, _| bits << 1 | sent.bit());
            let mut found = Scrambler::after(bits).unwrap();
            assert!((0..PERIOD).all(|_| sent.bit() == found.bit()), "seed {seed}");
        }
        assert!(Scrambler::after(0).is_none());
    }
}

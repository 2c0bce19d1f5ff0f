//! The convolutional code of 802.11a, K = 7 with the polynomials 133 and 171 (octal), and its puncturing
//! (IEEE Std 802.11-2020, 17.3.5.6).

/// Taps of the first output. Bit *n* of the mask is the input *n* bits ago.
pub const FIRST_TAPS: u8 = 0b110_1101;

/// Taps of the second output.
pub const SECOND_TAPS: u8 = 0b100_1111;

/// The coded bits that are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Puncturing {
    /// All of them: rate 1/2.
    Half,
    /// Rate 2/3: three of four.
    TwoThirds,
    /// Rate 3/4: four of six.
    ThreeQuarters,
}

impl Puncturing {
    /// Returns a number of data bits, and the number of coded bits that are sent for them.
    pub fn ratio(self) -> (usize, usize) {
        match self {
            Self::Half => (1, 2),
            Self::TwoThirds => (2, 3),
            Self::ThreeQuarters => (3, 4),
        }
    }

    /// Returns, for each coded bit of a period, whether it is sent.
    pub fn pattern(self) -> &'static [bool] {
        match self {
            Self::Half => &[true, true],
            Self::TwoThirds => &[true, true, true, false],
            Self::ThreeQuarters => &[true, true, true, false, false, true],
        }
    }
}

/// Returns the two coded bits for the last seven input bits. The newest one is the lowest bit of `window`.
pub fn outputs(window: u8) -> [u8; 2] {
    [FIRST_TAPS, SECOND_TAPS].map(|taps| (window & taps).count_ones() as u8 & 1)
}

/// Encodes bits, each a 0 or a 1, from state 0, and leaves out the bits that `puncturing` removes.
pub fn encode(bits: &[u8], puncturing: Puncturing) -> Vec<u8> {
    let (data, coded) = puncturing.ratio();
    let mut sent = Vec::with_capacity(bits.len() * coded / data + coded);
    let mut pattern = puncturing.pattern().iter().cycle();
    let mut window = 0;
    for bit in bits {
        window = (window << 1 | bit) & 0x7f;
        for output in outputs(window) {
            if *pattern.next().expect("it is cyclic") {
                sent.push(output);
            }
        }
    }
    sent
}

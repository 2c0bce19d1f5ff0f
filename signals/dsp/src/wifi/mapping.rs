//! Points of BPSK, QPSK, 16-QAM and 64-QAM, and the reliability of their bits (IEEE Std 802.11-2020, 17.3.5.8).

use dsp_transforms::num_complex::Complex32;

/// The mapping of bits to a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Modulation {
    /// 1 bit.
    Bpsk,
    /// 2 bits.
    Qpsk,
    /// 4 bits.
    Qam16,
    /// 6 bits.
    Qam64,
}

impl Modulation {
    /// Returns the number of bits of a point.
    pub const fn bits(self) -> usize {
        match self {
            Self::Bpsk => 1,
            Self::Qpsk => 2,
            Self::Qam16 => 4,
            Self::Qam64 => 6,
        }
    }

    /// Returns half of the distance between neighbours, for points with a mean power of 1.
    pub fn step(self) -> f32 {
        let power: f32 = match self {
            Self::Bpsk => 1.0,
            Self::Qpsk => 2.0,
            Self::Qam16 => 10.0,
            Self::Qam64 => 42.0,
        };
        power.sqrt().recip()
    }

    /// Returns the point of `bits`, as many as the modulation has, each a 0 or a 1.
    pub fn point(self, bits: &[u8]) -> Complex32 {
        let (re, im) = match self {
            Self::Bpsk => (level(bits), 0.0),
            _ => {
                let (first, second) = bits.split_at(bits.len() / 2);
                (level(first), level(second))
            }
        };
        Complex32::new(re, im) * self.step()
    }
}

/// Returns the level of an axis: an odd number. The bits are a Gray code, the first being the highest bit.
fn level(bits: &[u8]) -> f32 {
    let (mut value, mut bit) = (0, 0);
    for gray in bits {
        bit ^= gray;
        value = value << 1 | i32::from(bit);
    }
    (2 * value - ((1 << bits.len()) - 1)) as f32
}

/// Returns the soft bits of an axis: the distance to the nearest boundary between 0 and 1, in half-distances of
/// neighbours, positive for 1. This is the difference of the log-likelihoods of the two nearest points (up to the
/// noise), with the boundary extended as a line. `N` is the number of bits, from 1 to 3.
#[inline(always)]
pub fn soft<const N: usize>(level: f32) -> [f32; N] {
    let mut bits = [level; N];
    for bit in 1..N {
        bits[bit] = (1 << (N - bit)) as f32 - bits[bit - 1].abs();
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Modulation; 4] = [Modulation::Bpsk, Modulation::Qpsk, Modulation::Qam16, Modulation::Qam64];

    fn bits_of(number: usize, count: usize) -> Vec<u8> {
        (0..count).map(|at| (number >> at & 1) as u8).collect()
    }

    #[test]
    fn points_have_a_mean_power_of_one() {
        for modulation in ALL {
            let count = modulation.bits();
            let power: f32 = (0..1 << count).map(|n| modulation.point(&bits_of(n, count)).norm_sqr()).sum();
            assert!((power / (1 << count) as f32 - 1.0).abs() < 1e-6, "{modulation:?}");
        }
    }

    #[test]
    fn neighbours_differ_in_one_bit() {
        let levels: Vec<f32> = (0..8).map(|n| level(&bits_of(n, 3))).collect();
        for (n, m) in (0..8usize).flat_map(|n| (0..8usize).map(move |m| (n, m))) {
            if (levels[n] - levels[m]).abs() == 2.0 {
                assert_eq!((n ^ m).count_ones(), 1);
            }
        }
    }

    #[test]
    fn the_signs_of_soft_bits_are_the_bits_of_the_nearest_point() {
        for n in 0..8 {
            let bits = bits_of(n, 3);
            for off in [-0.9, 0.0, 0.9] {
                let soft = soft::<3>(level(&bits) + off);
                assert!(soft.iter().zip(&bits).all(|(soft, bit)| (*soft > 0.0) == (*bit == 1)), "{bits:?}");
            }
            let soft = soft::<2>(level(&bits[..2]));
            assert!(soft.iter().zip(&bits).all(|(soft, bit)| (*soft > 0.0) == (*bit == 1)), "{bits:?}");
        }
    }
}

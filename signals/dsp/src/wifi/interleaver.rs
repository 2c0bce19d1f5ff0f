//! The interleaver of a symbol's coded bits (IEEE Std 802.11-2020, 17.3.5.7).

use super::rate::Rate;

/// Returns the place of each coded bit of a symbol. A first permutation puts neighbours on distant carriers, a second
/// one puts them alternately on high and low bits of the points.
pub fn positions(rate: Rate) -> Vec<usize> {
    let count = rate.coded_bits();
    let spread = (rate.modulation().bits() / 2).max(1);
    let position = |bit: usize| {
        let on_carrier = count / 16 * (bit % 16) + bit / 16;
        spread * (on_carrier / spread) + (on_carrier + count - 16 * on_carrier / count) % spread
    };
    (0..count).map(position).collect()
}

/// Returns the bits of a symbol in the order in which they are mapped to points.
pub fn interleave(bits: &[u8], positions: &[usize]) -> Vec<u8> {
    let mut moved = vec![0; bits.len()];
    for (bit, position) in bits.iter().zip(positions) {
        moved[*position] = *bit;
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_is_used_once() {
        for rate in Rate::ALL {
            let mut positions = positions(rate);
            positions.sort_unstable();
            assert!(positions.iter().copied().eq(0..rate.coded_bits()), "{rate:?}");
        }
    }
}

//! The bytes of a frame: a payload and its check sequence, and the bits that are sent for them (IEEE Std
//! 802.11-2020, 17.3.5.2 to 17.3.5.5, and 9.2.4.8 for the check sequence).

use super::rate::{MOST_BYTES, Rate, SERVICE_BITS, end_of_data};
use super::scrambler::Scrambler;

/// Bytes of the check sequence, a CRC-32.
pub const CHECK_BYTES: usize = 4;

/// The most bytes of a payload.
pub const MOST_PAYLOAD: usize = MOST_BYTES - CHECK_BYTES;

/// Returns a payload with its check sequence behind it.
pub fn with_check(payload: &[u8]) -> Vec<u8> {
    let mut bytes = payload.to_vec();
    bytes.extend(crc32fast::hash(payload).to_le_bytes());
    bytes
}

/// Returns the payload of a frame, if its check sequence is right.
pub fn checked(bytes: &[u8]) -> Option<&[u8]> {
    let (payload, check) = bytes.split_last_chunk::<CHECK_BYTES>()?;
    (crc32fast::hash(payload).to_le_bytes() == *check).then_some(payload)
}

/// Returns the scrambled bits of a frame, each a 0 or a 1, as many as its symbols carry: the SERVICE field, the bytes
/// with their lowest bit first, the tail, and padding of the last symbol.
pub fn scrambled(bytes: &[u8], rate: Rate, seed: u8) -> Vec<u8> {
    let mut bits = vec![0; rate.symbols(bytes.len()) * rate.data_bits()];
    for (bits, byte) in bits[SERVICE_BITS..].chunks_exact_mut(8).zip(bytes) {
        bits.iter_mut().enumerate().for_each(|(at, bit)| *bit = byte >> at & 1);
    }
    let mut scrambler = Scrambler::new(seed);
    bits.iter_mut().for_each(|bit| *bit ^= scrambler.bit());
    // The tail is not scrambled, because it brings the encoder back to state 0.
    bits[SERVICE_BITS + 8 * bytes.len()..end_of_data(bytes.len())].fill(0);
    bits
}

/// Descrambles received bytes, which begin with the two bytes of the SERVICE field. The first seven bits of this field
/// were zeros, so they reveal the scrambler's state. Returns `None` if they are zeros now, because no scrambler has
/// that state.
pub fn descramble(bytes: &mut [u8]) -> Option<()> {
    let first = *bytes.first()?;
    let mut scrambler = Scrambler::after(first.reverse_bits() >> 1)?;
    bytes[0] = first >> 7 ^ scrambler.bit();
    bytes[1..].iter_mut().for_each(|byte| *byte ^= scrambler.byte());
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descrambled_bytes_are_those_that_were_scrambled() {
        let bytes: Vec<u8> = (0..=255).collect();
        for seed in 1..=127 {
            let bits = scrambled(&bytes, Rate::ALL[0], seed);
            let mut received: Vec<u8> = bits[..8 * (2 + bytes.len())]
                .chunks_exact(8)
                .map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit))
                .collect();
            descramble(&mut received).unwrap();
            assert_eq!(received[2..], bytes);
        }
    }

    #[test]
    fn a_changed_byte_is_noticed() {
        let mut bytes = with_check(b"payload");
        assert_eq!(checked(&bytes), Some(&b"payload"[..]));
        bytes[3] ^= 1;
        assert_eq!(checked(&bytes), None);
        assert_eq!(checked(&bytes[..3]), None);
    }
}

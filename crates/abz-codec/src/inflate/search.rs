//! Search for places in the middle of a stream at which a block may begin.

use super::bits::Bits;
use super::lengths::{Lengths, MOST_DISTANCES, MOST_LITLENS};

/// A place at which a block may begin, in bits from the start of the searched bytes. A decoder that expects a block at
/// a bit from `earliest` to `bit` gets the same contents as from `bit`, because the header of a stored block is a
/// series of zeros up to a byte boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// The first of these bits.
    pub earliest: u64,
    /// The last of these bits, from which to decode.
    pub bit: u64,
}

/// The share of the code space that four code lengths of three bits take, in 128ths.
const USED: [u16; 4096] = {
    let mut used = [0; 4096];
    let mut lens = 0;
    while lens < 4096 {
        let mut at = 0;
        while at < 12 {
            let len = lens >> at & 7;
            used[lens] += if len == 0 { 0 } else { 128 >> len };
            at += 3;
        }
        lens += 1;
    }
    used
};

/// Finds the next place from bit `from` on at which a block may begin that is not the last one of its stream: a block
/// with dynamic codes, all of which are complete, or a stored block. Blocks with fixed codes are not searched, because
/// any bits look like one. The place found may be no block.
pub fn find_block(bytes: &[u8], from: u64) -> Option<Start> {
    let mut lengths = Lengths::new();
    for at in (from / 8) as usize..bytes.len() {
        let word = word_at(bytes, at);
        if let Some(start) = stored(word, bytes, at).filter(|start| start.bit >= from) {
            return Some(start);
        }
        let mut starts = dynamic(word) & 0xff;
        while starts != 0 {
            let skipped = starts.trailing_zeros();
            starts &= starts - 1;
            let bit = 8 * at as u64 + u64::from(skipped);
            // Up to 19 lengths of 3 bits each, from the 17th bit on.
            let codes = 4 + (word >> (skipped + 13) & 15);
            let all = word_at(bytes, at + (skipped as usize + 17) / 8) >> ((skipped + 17) % 8);
            let all = all & ((1 << (3 * codes)) - 1);
            let used: u16 = (0..5).map(|four| USED[(all >> (12 * four)) as usize & 4095]).sum();
            if used != 128 || bit < from {
                continue;
            }
            let mut header = Bits::new(&bytes[at..], (0, 0));
            header.fill();
            header.take(skipped + 3);
            lengths.begin();
            if lengths.read(&mut header) == Ok(true) && lengths.are_right() {
                return Some(Start { earliest: bit, bit });
            }
        }
    }
    None
}

/// Returns the bits of `word` at which a dynamic block may begin, as far as the 13 bits from there on tell: it is not the last
/// one, and has no more codes than there are.
fn dynamic(word: u64) -> u64 {
    // The two highest of 32 numbers are too large (RFC 1951, section 3.2.7).
    let too_many = |first: u32| {
        const { assert!(MOST_LITLENS == 257 + 29 && MOST_DISTANCES == 1 + 29) };
        word >> (first + 1) & word >> (first + 2) & word >> (first + 3) & word >> (first + 4)
    };
    !word & !(word >> 1) & word >> 2 & !too_many(3) & !too_many(8)
}

/// Returns the header of a stored block, if one ends with the byte at `at`, with which `word` begins.
fn stored(word: u64, bytes: &[u8], at: usize) -> Option<Start> {
    let is_one = word >> 5 & 7 == 0 && (word >> 8 ^ word >> 24) & 0xffff == 0xffff;
    if !is_one || at + 5 > bytes.len() {
        return None;
    }
    let end = 8 * (at as u64 + 1);
    let before = if at > 0 { bytes[at - 1] } else { 0xff };
    // Three bits of the header, and at most seven of padding.
    let zeros = u16::from_be_bytes([bytes[at], before]).leading_zeros().min(10);
    Some(Start { earliest: end - u64::from(zeros), bit: end - 3 })
}

/// Returns the eight bytes from index `at` on, with zeros behind the end.
fn word_at(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes.get(at..).unwrap_or_default();
    match bytes.first_chunk() {
        Some(&word) => u64::from_le_bytes(word),
        None => bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    /// Returns the first place from bit `from` on at which a block may begin, by the rules of RFC 1951 alone.
    fn first(bytes: &[u8], from: u64) -> Option<u64> {
        (from..8 * bytes.len() as u64).find(|&bit| is_dynamic(bytes, bit) || is_stored(bytes, bit))
    }

    fn bits(bytes: &[u8], from: u64, count: u64) -> Option<u64> {
        let bit = |at: u64| Some(u64::from(*bytes.get((at / 8) as usize)?) >> (at % 8) & 1);
        (0..count).try_fold(0, |all, at| Some(all | bit(from + at)? << at))
    }

    /// The last header of this kind before the sizes.
    fn is_stored(bytes: &[u8], bit: u64) -> bool {
        let lens = bits(bytes, bit + 3, 32);
        bit % 8 == 5
            && bits(bytes, bit, 3) == Some(0)
            && lens.is_some_and(|lens| lens >> 16 == lens & 0xffff ^ 0xffff)
    }

    fn is_dynamic(bytes: &[u8], bit: u64) -> bool {
        let codes = bits(bytes, bit + 13, 4).unwrap_or(0) + 4;
        let lens = (0..codes).map(|at| bits(bytes, bit + 17 + 3 * at, 3).unwrap_or(0));
        let used: u32 = lens.filter(|len| *len > 0).map(|len| 128 >> len).sum();
        let mut header = Bits::new(&bytes[(bit / 8) as usize..], (0, 0));
        header.fill();
        header.take((bit % 8) as u32);
        let mut lengths = Lengths::new();
        used == 128 && header.peek(3) == Some(4) && {
            header.take(3);
            lengths.begin();
            lengths.read(&mut header) == Ok(true) && lengths.are_right()
        }
    }

    proptest! {
        #[test]
        fn the_first_place_is_found(
            before in proptest::collection::vec(prop_oneof![Just(0), Just(0xff), any::<u8>()], 0..300),
            text in "[a-f ]{0,300}",
            level in 0..10u32,
            from in 0..800u64,
        ) {
            let mut encoder = flate2::write::DeflateEncoder::new(before, flate2::Compression::new(level));
            encoder.write_all(text.as_bytes()).unwrap();
            encoder.flush().unwrap();
            encoder.write_all(text.as_bytes()).unwrap();
            let bytes = encoder.finish().unwrap();
            let found = find_block(&bytes, from);
            prop_assert_eq!(found.map(|start| start.bit), first(&bytes, from));
            prop_assert!(found.is_none_or(|start| start.earliest <= start.bit));
        }
    }
}

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
        if let Some(start) = stored(bytes, at).filter(|start| start.bit >= from) {
            return Some(start);
        }
        let more = bytes.get(at + 8..).map_or(0, |bytes| word_at(bytes, 0));
        for skipped in 0..8 {
            // The block is not the last one, and of type 2.
            let bits = word >> skipped;
            if bits & 7 != 4 || 8 * at as u64 + skipped < from {
                continue;
            }
            let (litlens, distances) = (257 + (bits >> 3 & 31), 1 + (bits >> 8 & 31));
            if litlens as usize > MOST_LITLENS || distances as usize > MOST_DISTANCES {
                continue;
            }
            // Up to 19 lengths of 3 bits each, from the 17th bit on.
            let codes = 4 + (bits >> 13 & 15);
            let all = (u128::from(word) | u128::from(more) << 64) >> (skipped + 17);
            let all = all as u64 & ((1 << (3 * codes)) - 1);
            let used: u16 = (0..5).map(|four| USED[(all >> (12 * four)) as usize & 4095]).sum();
            if used != 128 {
                continue;
            }
            let mut header = Bits::new(&bytes[at..], (0, 0));
            header.fill();
            header.take(skipped as u32 + 3);
            lengths.begin();
            if lengths.read(&mut header) == Ok(true) && lengths.are_right() {
                let bit = 8 * at as u64 + skipped;
                return Some(Start { earliest: bit, bit });
            }
        }
    }
    None
}

/// Returns the header of a stored block, if one ends with the byte at `at`.
fn stored(bytes: &[u8], at: usize) -> Option<Start> {
    let lens = bytes.get(at + 1..at + 5)?;
    if bytes[at] >> 5 != 0 || [!lens[0], !lens[1]] != lens[2..] {
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
    match bytes[at..].first_chunk() {
        Some(&word) => u64::from_le_bytes(word),
        None => {
            let mut word = [0; 8];
            word[..bytes.len() - at].copy_from_slice(&bytes[at..]);
            u64::from_le_bytes(word)
        }
    }
}

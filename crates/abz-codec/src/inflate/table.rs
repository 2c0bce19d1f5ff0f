//! Tables that decode Huffman codes (RFC 1951, section 3.2.2).
//!
//! A table has two levels. The lowest bits of the input are an index into the first level, whose entry is a symbol or
//! refers to a table of the second level for longer codes. An entry is a number of 32 bits:
//!
//! | bits | a literal | a length or a distance | a table of the second level | the end of a block, or no code |
//! |--:|---|---|---|---|
//! | 0 to 5 | bits to take | bits to take, extra bits included | | bits to take |
//! | 8 to 11 | | bits of the code | the bits of its index | |
//! | 12 to 15 | [`LITERAL`] | | [`SPECIAL`], [`DEEPER`] | [`SPECIAL`], and [`END`] of a block |
//! | 16 to 30 | the literal | the least value | the index at which the table begins | |
//!
//! Entries with two literals, for codes that together are no longer than the index, were tried. Without them decoding
//! of binaries was faster. On text and source code two measurements contradicted each other.

use super::Damaged;

/// The numbers of bits of the index into the first level of literals and lengths, and of distances.
pub(crate) const LITLEN_BITS: u32 = 11;
pub(crate) const DISTANCE_BITS: u32 = 8;

/// Flag of an entry for a literal.
pub(crate) const LITERAL: u32 = 1 << 12;
/// Flag of an entry for neither a literal nor a length nor a distance.
pub(crate) const SPECIAL: u32 = 1 << 13;
pub(crate) const DEEPER: u32 = 1 << 14;
pub(crate) const END: u32 = 1 << 15;

/// The length of the longest code, in bits (RFC 1951, section 3.2.7).
const LONGEST: usize = 15;

/// The numbers of symbols that can have a code, including unused ones (RFC 1951, section 3.2.6).
const LITLENS: usize = 288;
const DISTANCES: usize = 32;

/// For each length symbol from 257 on, the number of extra bits and the least length (RFC 1951, section 3.2.5).
const LENGTHS: [(u8, u16); 29] = [
    (0, 3),
    (0, 4),
    (0, 5),
    (0, 6),
    (0, 7),
    (0, 8),
    (0, 9),
    (0, 10),
    (1, 11),
    (1, 13),
    (1, 15),
    (1, 17),
    (2, 19),
    (2, 23),
    (2, 27),
    (2, 31),
    (3, 35),
    (3, 43),
    (3, 51),
    (3, 59),
    (4, 67),
    (4, 83),
    (4, 99),
    (4, 115),
    (5, 131),
    (5, 163),
    (5, 195),
    (5, 227),
    (0, 258),
];

/// The tables of a block.
pub(crate) struct Tables {
    /// At most 2,342 entries are needed, and 402 for distances (computed with `enough` of zlib). The sizes are powers
    /// of two, so that a masked index needs no check.
    litlen: [u32; 4096],
    distance: [u32; 512],
    is_fixed: bool,
}

impl Tables {
    pub(crate) fn new() -> Self {
        Tables { litlen: [0; 4096], distance: [0; 512], is_fixed: false }
    }

    /// Makes the tables of a block with fixed codes (RFC 1951, section 3.2.6).
    pub(crate) fn set_fixed(&mut self) {
        if !self.is_fixed {
            let mut litlens = [8; LITLENS];
            litlens[144..256].fill(9);
            litlens[256..280].fill(7);
            self.set(&litlens, &[5; DISTANCES]).expect("these codes are complete");
            self.is_fixed = true;
        }
    }

    /// Makes the tables of codes with these lengths.
    ///
    /// # Errors
    ///
    /// If the codes are oversubscribed or incomplete. A single code of one bit is accepted, and so are no codes for
    /// distances.
    pub(crate) fn set(&mut self, litlens: &[u8], distances: &[u8]) -> Result<(), Damaged> {
        self.is_fixed = false;
        build(litlens, litlen_entry, LITLEN_BITS, &mut self.litlen)?;
        build(distances, distance_entry, DISTANCE_BITS, &mut self.distance)?;
        Ok(())
    }

    /// Returns the entry of the first level for the next bits.
    #[inline(always)]
    pub(crate) fn litlen(&self, hold: u64) -> u32 {
        self.litlen[hold as usize & ((1 << LITLEN_BITS) - 1)]
    }

    #[inline(always)]
    pub(crate) fn litlen_deeper(&self, entry: u32, hold: u64) -> u32 {
        self.litlen[deeper(entry, hold, LITLEN_BITS) & 4095]
    }

    #[inline(always)]
    pub(crate) fn distance(&self, hold: u64) -> u32 {
        self.distance[hold as usize & ((1 << DISTANCE_BITS) - 1)]
    }

    #[inline(always)]
    pub(crate) fn distance_deeper(&self, entry: u32, hold: u64) -> u32 {
        self.distance[deeper(entry, hold, DISTANCE_BITS) & 511]
    }
}

/// Returns the index of the second-level entry to which an entry of the first level refers.
#[inline(always)]
fn deeper(entry: u32, hold: u64, bits: u32) -> usize {
    let index = (hold >> bits) as usize & ((1 << (entry >> 8 & 15)) - 1);
    (entry >> 16) as usize + index
}

/// Returns the length or distance of an entry: its least value plus the extra bits.
#[inline(always)]
pub(crate) fn value(entry: u32, hold: u64) -> usize {
    let extra = (hold & ((1 << (entry & 63)) - 1)) >> (entry >> 8 & 15);
    (entry >> 16) as usize + extra as usize
}

fn litlen_entry(symbol: usize, len: u32) -> u32 {
    match symbol {
        0..256 => LITERAL | (symbol as u32) << 16 | len,
        256 => SPECIAL | END | len,
        _ => match LENGTHS.get(symbol - 257) {
            Some(&(extra, least)) => u32::from(least) << 16 | len << 8 | (len + u32::from(extra)),
            None => SPECIAL | len,
        },
    }
}

/// By RFC 1951, section 3.2.5, there are two codes for each number of extra bits.
fn distance_entry(symbol: usize, len: u32) -> u32 {
    match symbol as u32 {
        symbol @ 0..2 => (symbol + 1) << 16 | len << 8 | len,
        symbol @ 2..30 => {
            let extra = symbol / 2 - 1;
            (((2 + symbol % 2) << extra) + 1) << 16 | len << 8 | (len + extra)
        }
        _ => SPECIAL | len,
    }
}

/// Counts the codes of each length.
///
/// # Errors
///
/// If the codes are oversubscribed, or incomplete, so that some bits are no code. A single code of one bit, or none, is
/// accepted.
pub(crate) fn count(lens: &[u8]) -> Result<[u16; LONGEST + 1], Damaged> {
    let mut counts = [0; LONGEST + 1];
    lens.iter().for_each(|&len| counts[usize::from(len & 15)] += 1);
    counts[0] = 0;
    // The unit is the share of a code of the greatest length.
    let used: u32 = counts.iter().enumerate().map(|(len, &count)| u32::from(count) << (LONGEST - len)).sum();
    let is_one_bit = counts[1] <= 1 && counts[2..].iter().all(|&count| count == 0);
    if used == 1 << LONGEST || is_one_bit { Ok(counts) } else { Err(Damaged) }
}

/// Builds a table whose first level has an index of `bits` bits.
fn build(
    lens: &[u8],
    entry_of: impl Fn(usize, u32) -> u32,
    bits: u32,
    table: &mut [u32],
) -> Result<(), Damaged> {
    let mut counts = count(lens)?;
    // The symbols, ordered by the lengths of their codes and then by value.
    let mut next = [0; LONGEST + 1];
    for len in 1..LONGEST {
        next[len + 1] = next[len] + counts[len];
    }
    let mut sorted = [0; LITLENS];
    for (symbol, &len) in lens.iter().enumerate().filter(|&(_, &len)| len > 0) {
        sorted[usize::from(next[usize::from(len)])] = symbol as u16;
        next[usize::from(len)] += 1;
    }
    let mut sorted = sorted[..lens.len()].iter();

    // The code with its first bit lowest, as in the input.
    let mut code = 0;
    // Entries that no code fills are marked as no code.
    table[..2].fill(SPECIAL | 1);
    for len in 1..=bits {
        let half = 1 << (len - 1);
        if len > 1 {
            table.copy_within(..half, half);
        }
        for &symbol in sorted.by_ref().take(counts[len as usize].into()) {
            table[code as usize] = entry_of(symbol.into(), len);
            code = following(code, len);
        }
    }
    let mut begin = 1 << bits;
    let mut deep = (u32::MAX, 0, 0);
    for len in bits + 1..=LONGEST as u32 {
        while counts[len as usize] > 0 {
            let root = code & ((1 << bits) - 1);
            if root != deep.0 {
                // The number of bits that the longest code with this prefix has beyond the first level, at most.
                let mut deep_bits = len - bits;
                let mut room = 1 << deep_bits;
                while bits + deep_bits < LONGEST as u32 {
                    room -= i32::from(counts[(bits + deep_bits) as usize]);
                    if room <= 0 {
                        break;
                    }
                    deep_bits += 1;
                    room <<= 1;
                }
                table[root as usize] = SPECIAL | DEEPER | (begin as u32) << 16 | deep_bits << 8;
                deep = (root, begin, deep_bits);
                begin += 1 << deep_bits;
            }
            let &symbol = sorted.next().expect("as many were counted");
            let entry = entry_of(symbol.into(), len);
            let (_, from, deep_bits) = deep;
            let mut at = from + (code >> bits) as usize;
            while at < from + (1 << deep_bits) {
                table[at] = entry;
                at += 1 << (len - bits);
            }
            counts[len as usize] -= 1;
            code = following(code, len);
        }
    }
    Ok(())
}

/// Returns the code that follows another one of the same length. Both have their first bit lowest.
fn following(code: u32, len: u32) -> u32 {
    let zeros = !code & ((1 << len) - 1);
    if zeros == 0 {
        return 0;
    }
    let bit = 1 << zeros.ilog2();
    code & (bit - 1) | bit
}

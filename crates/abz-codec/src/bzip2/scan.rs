//! Finding the bits at which blocks may begin, by a magic number of 48 bits that is rare enough to search for at any
//! bit.

use std::fmt;
use std::mem;

use super::{BLOCK_MAGIC, END_MAGIC};

/// The size in bytes that no block exceeds: 900,000 symbols of 20 bits, and tables.
pub(super) const MAX_SEGMENT: usize = 2_500_000;

/// The number of bits of a magic number.
const MAGIC_BITS: u64 = 48;

/// A part of a file: from bits that look like the start of a block or the end of a stream up to the next such bits. In
/// an undamaged file these bits are what they look like, with one exception in some ten thousand years of reading. A
/// [`Decoder`](super::Decoder) and an [`Assembler`](super::Assembler) verify it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// The bytes of the segment. Its first bit lies in the first byte, and its last one in the last.
    pub(super) bytes: Vec<u8>,
    /// The first bit of the segment in the file, and the first behind it.
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Segment {
    /// Returns the offset in the file of the segment's first byte.
    pub fn offset(&self) -> u64 {
        self.start / 8
    }

    /// Returns its bytes, so that their allocation can be used again.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns the index of its first bit in `bytes`.
    pub(super) fn first_bit(&self) -> u64 {
        self.start % 8
    }

    /// Returns the rest of it, from bit `start` of the file on.
    pub(super) fn from(&self, start: u64) -> Segment {
        let skipped = (start / 8 - self.start / 8) as usize;
        Segment { bytes: self.bytes[skipped..].to_vec(), start, end: self.end }
    }

    /// Appends the segment that follows.
    pub(super) fn append(&mut self, next: &Segment) {
        debug_assert_eq!(self.end, next.start);
        if !self.end.is_multiple_of(8) {
            // Both segments have the byte in which one ends and the other begins.
            self.bytes.pop();
        }
        self.bytes.extend_from_slice(&next.bytes);
        self.end = next.end;
    }
}

/// A set of all pairs of whole bytes that occur in one of the two magic numbers, at its second to fifth byte. A magic
/// number at any bit has five whole bytes, so at least one of any four consecutive pairs is in this set.
static PAIRS: [u64; 1024] = {
    let mut pairs = [0; 1024];
    // The number of a magic number, a shift and a pair.
    let mut number = 0;
    while number < 2 * 8 * 4 {
        let (magic, shift, at) = ([BLOCK_MAGIC, END_MAGIC][number / 32], number / 4 % 8, 1 + number % 4);
        let bytes = (magic << (16 - shift)).to_be_bytes();
        let pair = u16::from_be_bytes([bytes[at], bytes[at + 1]]) as usize;
        pairs[pair / 64] |= 1 << (pair % 64);
        number += 1;
    }
    pairs
};

/// Returns the place in `bytes` of the next magic number at bit `least` or behind it, in bits, and the number. `next`
/// is the index of the next pair of bytes to look at, 1 at first. Between two calls `bytes` may only grow.
pub(super) fn find(bytes: &[u8], next: &mut usize, least: u64) -> Option<(u64, u64)> {
    let pairs = &PAIRS;
    // All seven bytes in which the magic number may lie must be there.
    while *next + 6 <= bytes.len() {
        let pair = usize::from(u16::from_be_bytes([bytes[*next], bytes[*next + 1]]));
        if pairs[pair / 64] >> (pair % 64) & 1 != 0
            && let Some(found) = look_closely(bytes, *next, least)
        {
            return Some(found);
        }
        *next += 4;
    }
    None
}

/// Returns the first magic number that has the pair at `next` among its second to fifth byte.
#[cold]
fn look_closely(bytes: &[u8], next: usize, least: u64) -> Option<(u64, u64)> {
    (next.saturating_sub(4)..next).find_map(|from| {
        let mut word = [0; 8];
        let there = bytes[from..].iter().take(7);
        word.iter_mut().zip(there).for_each(|(byte, &there)| *byte = there);
        let bits = u64::from_be_bytes(word);
        (0..8).find_map(|shift| {
            let magic = bits << shift >> (64 - MAGIC_BITS);
            let at = 8 * from as u64 + shift;
            (matches!(magic, BLOCK_MAGIC | END_MAGIC) && at >= least).then_some((at, magic))
        })
    })
}

/// A scanner, which cuts a file that is pushed to it into [`Segment`]s. It decodes nothing, so it is fast enough to
/// feed many decoders.
pub struct Scanner {
    /// The bytes of the current segment.
    held: Vec<u8>,
    /// The bit of the file at which the segment begins. It lies in the first byte that is held.
    start: u64,
    /// The index of the next pair of bytes to look at. No segment ends before it.
    next: usize,
}

impl Scanner {
    /// Creates a scanner at the start of a file.
    pub fn new() -> Self {
        Scanner { held: Vec::new(), start: 0, next: 1 }
    }

    /// Returns the next segment. `input` has the next bytes of the file, and the scanner removes those that it has
    /// processed from the front. Returns `None` if all input was taken and more is needed. Drops the contents of
    /// `spare` and uses its allocation.
    pub fn next(&mut self, input: &mut &[u8], spare: &mut Vec<u8>) -> Option<Segment> {
        loop {
            if let Some(end) = self.find() {
                return Some(self.cut(end, spare));
            }
            if self.held.len() >= MAX_SEGMENT {
                let end = self.start / 8 * 8 + 8 * self.held.len() as u64;
                return Some(self.cut(end, spare));
            }
            if input.is_empty() {
                return None;
            }
            let (taken, rest) = input.split_at(input.len().min(MAX_SEGMENT));
            self.held.extend_from_slice(taken);
            *input = rest;
        }
    }

    /// Ends the file. Returns its last segment, if any bytes are left.
    pub fn finish(&mut self) -> Option<Segment> {
        let bytes = mem::take(&mut self.held);
        let (start, end) = (self.start, self.start / 8 * 8 + 8 * bytes.len() as u64);
        self.start = end;
        (start < end).then_some(Segment { bytes, start, end })
    }

    /// Finds the bit of the file at which the next segment begins.
    fn find(&mut self) -> Option<u64> {
        let (base, after) = (self.start / 8 * 8, self.start % 8);
        find(&self.held, &mut self.next, after + 1).map(|(bit, _)| base + bit)
    }

    /// Ends the current segment at bit `end`, and begins the next.
    fn cut(&mut self, end: u64, spare: &mut Vec<u8>) -> Segment {
        let base = self.start / 8;
        let (whole, last) = ((end / 8 - base) as usize, (end.div_ceil(8) - base) as usize);
        let mut bytes = mem::replace(&mut self.held, mem::take(spare));
        self.held.clear();
        self.held.extend_from_slice(&bytes[whole..]);
        bytes.truncate(last);
        let start = mem::replace(&mut self.start, end);
        self.next = 1;
        Segment { bytes, start, end }
    }
}

impl Default for Scanner {
    fn default() -> Self {
        Scanner::new()
    }
}

impl fmt::Debug for Scanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scanner").field("start", &self.start).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bzip2::bits::BitWriter;

    #[test]
    fn magic_numbers_are_found_at_every_bit_and_in_any_pieces() {
        for magic in [BLOCK_MAGIC, END_MAGIC] {
            for before in 1..100 {
                let mut bits = BitWriter::default();
                (0..before).for_each(|n| bits.put(1, (n % 3) & 1));
                bits.put(24, (magic >> 24) as u32);
                bits.put(24, magic as u32 & 0xff_ffff);
                // A checksum follows the end of a stream, and more than that the start of a block.
                bits.put(32, 0);
                let (bytes, _) = bits.finish();
                for piece in [1, 3, 100] {
                    let (mut scanner, mut segments) = (Scanner::new(), Vec::new());
                    for mut piece in bytes.chunks(piece) {
                        while let Some(segment) = scanner.next(&mut piece, &mut Vec::new()) {
                            segments.push(segment);
                        }
                    }
                    segments.extend(scanner.finish());
                    let borders: Vec<u64> = segments.iter().map(|segment| segment.start).collect();
                    assert_eq!(borders, [0, before.into()], "{magic:x} in pieces of {piece}");
                    let mut whole = segments[0].clone();
                    whole.append(&segments[1]);
                    assert_eq!(whole.bytes, bytes);
                }
            }
        }
    }
}

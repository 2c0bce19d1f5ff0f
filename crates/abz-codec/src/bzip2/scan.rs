//! Where blocks may begin: 48 bits that are rare enough to be looked for at any bit.

use std::fmt;
use std::mem;
use std::sync::LazyLock;

use super::{BLOCK_MAGIC, END_MAGIC};

/// More bytes than any block takes: 900,000 symbols of 20 bits, and tables.
pub(super) const MAX_SEGMENT: usize = 2_500_000;

/// How many bits are looked for.
const MAGIC_BITS: u64 = 48;

/// A part of a file: from what looks like the start of a block or the end of a stream up to the next such place. In
/// a right file it is just that, but for once in some ten thousand years of reading; whether it is, a
/// [`Decoder`](super::Decoder) and an [`Assembler`](super::Assembler) find out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// The first bit lies in the first byte, the last one in the last.
    pub(super) bytes: Vec<u8>,
    /// Where in the file it begins and ends, in bits.
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Segment {
    /// The offset in the file of the byte in which it begins.
    pub fn offset(&self) -> u64 {
        self.start / 8
    }

    /// Its bytes, to use their allocation again.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Where in `bytes` its first bit is.
    pub(super) fn first_bit(&self) -> u64 {
        self.start % 8
    }

    /// The part of it from a bit of the file on, which is in it.
    pub(super) fn from(&self, start: u64) -> Segment {
        let skipped = (start / 8 - self.start / 8) as usize;
        Segment { bytes: self.bytes[skipped..].to_vec(), start, end: self.end }
    }

    /// Goes on with the segment that follows.
    pub(super) fn append(&mut self, next: &Segment) {
        debug_assert_eq!(self.end, next.start);
        if !self.end.is_multiple_of(8) {
            // Both have the byte in which the one ends and the other begins.
            self.bytes.pop();
        }
        self.bytes.extend_from_slice(&next.bytes);
        self.end = next.end;
    }
}

/// Which pairs of whole bytes can be in one of the two magic numbers, at their second to fifth byte: a number that does
/// not begin with a byte has five whole bytes, so that one of any four pairs in a row is among these.
static PAIRS: LazyLock<Box<[u64; 1024]>> = LazyLock::new(|| {
    let mut pairs = Box::new([0; 1024]);
    for magic in [BLOCK_MAGIC, END_MAGIC] {
        for shift in 0..8 {
            let bytes = (magic << (16 - shift)).to_be_bytes();
            for pair in bytes[1..6].windows(2) {
                let pair = usize::from(u16::from_be_bytes([pair[0], pair[1]]));
                pairs[pair / 64] |= 1 << (pair % 64);
            }
        }
    }
    pairs
});

/// Where in `bytes` the next magic number is, in bits and at `least` or behind it, and which it is. `next` is the pair of
/// bytes that is looked at next, at first 1: between two calls only more bytes may come.
pub(super) fn find(bytes: &[u8], next: &mut usize, least: u64) -> Option<(u64, u64)> {
    let pairs = &**PAIRS;
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

/// The first magic number of which the pair `next` is the second to fifth byte.
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

/// Cuts a file that is pushed to it, piece by piece, into [`Segment`]s. It decodes nothing, so it is fast enough to feed
/// many decoders.
pub struct Scanner {
    /// The bytes of the segment that has begun.
    held: Vec<u8>,
    /// Where in the file it begins, in bits; that is in its first byte.
    start: u64,
    /// The pair of bytes that is looked at next: before it no segment ends.
    next: usize,
}

impl Scanner {
    /// A scanner at the start of a file.
    pub fn new() -> Self {
        Scanner { held: Vec::new(), start: 0, next: 1 }
    }

    /// Goes on through `input`, the next bytes of the file, from whose front it takes what it has done with. `None`: it
    /// has taken all, and needs more to go on. What is in `spare` is dropped, and its allocation used.
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

    /// The file ends here: its last segment, if there is any of it.
    pub fn finish(&mut self) -> Option<Segment> {
        let bytes = mem::take(&mut self.held);
        let (start, end) = (self.start, self.start / 8 * 8 + 8 * bytes.len() as u64);
        self.start = end;
        (start < end).then_some(Segment { bytes, start, end })
    }

    /// Where the next segment begins, in bits of the file.
    fn find(&mut self) -> Option<u64> {
        let (base, after) = (self.start / 8 * 8, self.start % 8);
        find(&self.held, &mut self.next, after + 1).map(|(bit, _)| base + bit)
    }

    /// Ends the segment that has begun, and begins the next.
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
                // An end has a checksum behind it, and a block more than that.
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

//! Members of lzip with symbols of all kinds, including choices that no encoder would make, and with sync flush markers
//! as lzlib writes them (`LZ_compress_sync_flush`). *Lzip Compressed Format* describes them.

use std::collections::HashMap;

use super::Noise;

const SHORTEST: u32 = 2;
/// The lengths of the markers.
const END: u32 = 2;
pub const SYNC_FLUSH: u32 = 3;

/// A member that is being written.
pub struct Member {
    pub bytes: Vec<u8>,
    pub contents: Vec<u8>,
    dictionary: usize,
    low: u64,
    range: u32,
    cache: u8,
    /// The number of bytes that wait for a carry.
    pending: usize,
    /// The probabilities of zeros that differ from the initial one, by tree and node.
    probabilities: HashMap<(Tree, usize), u32>,
    state: usize,
    distances: [u32; 4],
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Tree {
    Literal(u8),
    IsMatch(usize, usize),
    IsRepetition(usize),
    IsOlder(usize),
    IsLong(usize, usize),
    IsThird(usize),
    IsFourth(usize),
    /// The trees of lengths, of matches or repetitions: whether they are above 8 symbols, whether they are above 16,
    /// and the symbols.
    IsAboveLow(bool),
    IsHigh(bool),
    Low(bool, usize),
    Middle(bool, usize),
    High(bool),
    Slot(u32),
    Distance(u32),
    Align,
}

impl Member {
    /// Creates a member with a dictionary of 2^`log` bytes.
    pub fn new(log: u8) -> Self {
        Member {
            bytes: [&b"LZIP\x01"[..], &[log]].concat(),
            contents: Vec::new(),
            dictionary: 1 << log,
            low: 0,
            range: u32::MAX,
            cache: 0,
            pending: 1,
            probabilities: HashMap::new(),
            state: 0,
            distances: [0; 4],
        }
    }

    fn position(&self) -> usize {
        self.contents.len() % 4
    }

    fn shift(&mut self) {
        if self.low < 0xff00_0000 || self.low > u64::from(u32::MAX) {
            let carry = (self.low >> 32) as u8;
            self.bytes.push(self.cache.wrapping_add(carry));
            self.bytes.extend(vec![0xff_u8.wrapping_add(carry); self.pending - 1]);
            (self.cache, self.pending) = ((self.low >> 24) as u8, 0);
        }
        self.pending += 1;
        self.low = (self.low & 0x00ff_ffff) << 8;
    }

    fn normalize(&mut self) {
        while self.range < 1 << 24 {
            self.range <<= 8;
            self.shift();
        }
    }

    fn bit(&mut self, tree: Tree, node: usize, bit: u32) {
        let probability = self.probabilities.entry((tree, node)).or_insert(1024);
        let bound = (self.range >> 11) * *probability;
        if bit == 0 {
            self.range = bound;
            *probability += (2048 - *probability) >> 5;
        } else {
            (self.low, self.range) = (self.low + u64::from(bound), self.range - bound);
            *probability -= *probability >> 5;
        }
        self.normalize();
    }

    fn tree(&mut self, tree: Tree, bits: u32, value: u32) {
        let mut node = 1;
        for bit in (0..bits).rev().map(|shift| value >> shift & 1) {
            self.bit(tree, node, bit);
            node = 2 * node + bit as usize;
        }
    }

    fn reversed(&mut self, tree: Tree, bits: u32, value: u32) {
        let mut node = 1;
        for bit in (0..bits).map(|shift| value >> shift & 1) {
            self.bit(tree, node, bit);
            node = 2 * node + bit as usize;
        }
    }

    fn behind(&self, distance: u32) -> u8 {
        let at = self.contents.len().checked_sub(1 + distance as usize);
        at.map_or(0, |at| self.contents[at])
    }

    pub fn literal(&mut self, byte: u8) {
        self.bit(Tree::IsMatch(self.state, self.position()), 0, 0);
        let tree = Tree::Literal(self.behind(0) >> 5);
        let (mut node, matched) = (1, self.behind(self.distances[0]));
        let mut is_same = self.state >= 7;
        for shift in (0..8).rev() {
            let (bit, expected) = (byte >> shift & 1, matched >> shift & 1);
            let half = if is_same { 0x100 * (1 + usize::from(expected)) } else { 0 };
            self.bit(tree, half + node, bit.into());
            is_same &= bit == expected;
            node = 2 * node + usize::from(bit);
        }
        self.contents.push(byte);
        self.state = match self.state {
            0..4 => 0,
            state @ 4..10 => state - 3,
            state => state - 6,
        };
    }

    fn len(&mut self, is_repetition: bool, len: u32) {
        let (len, position) = (len - SHORTEST, self.position());
        self.bit(Tree::IsAboveLow(is_repetition), 0, (len >= 8).into());
        if len < 8 {
            return self.tree(Tree::Low(is_repetition, position), 3, len);
        }
        self.bit(Tree::IsHigh(is_repetition), 0, (len >= 16).into());
        match len {
            ..16 => self.tree(Tree::Middle(is_repetition, position), 3, len - 8),
            _ => self.tree(Tree::High(is_repetition), 8, len - 16),
        }
    }

    fn distance(&mut self, len: u32, distance: u32) {
        let slot = match distance {
            0..4 => distance,
            _ => 2 * distance.ilog2() + (distance >> (distance.ilog2() - 1) & 1),
        };
        self.tree(Tree::Slot((len - SHORTEST).min(3)), 6, slot);
        if slot < 4 {
            return;
        }
        let bits = (slot >> 1) - 1;
        if slot < 14 {
            return self.reversed(Tree::Distance(slot), bits, distance);
        }
        for shift in (4..bits).rev() {
            self.range >>= 1;
            if distance >> shift & 1 == 1 {
                self.low += u64::from(self.range);
            }
            self.normalize();
        }
        self.reversed(Tree::Align, 4, distance);
    }

    fn copy(&mut self, len: u32) {
        (0..len).for_each(|_| self.contents.push(self.behind(self.distances[0])));
    }

    fn any_match(&mut self, len: u32, distance: u32) {
        self.bit(Tree::IsMatch(self.state, self.position()), 0, 1);
        self.bit(Tree::IsRepetition(self.state), 0, 0);
        self.len(false, len);
        self.distance(len, distance);
    }

    pub fn matched(&mut self, len: u32, distance: u32) {
        self.any_match(len, distance);
        self.distances = [distance, self.distances[0], self.distances[1], self.distances[2]];
        self.state = if self.state < 7 { 7 } else { 10 };
        self.copy(len);
    }

    /// Writes a match at the distance `which` of the last four. A single byte at the last distance has its own symbol.
    pub fn repetition(&mut self, len: u32, which: usize) {
        self.bit(Tree::IsMatch(self.state, self.position()), 0, 1);
        self.bit(Tree::IsRepetition(self.state), 0, 1);
        self.bit(Tree::IsOlder(self.state), 0, (which > 0).into());
        if which == 0 {
            self.bit(Tree::IsLong(self.state, self.position()), 0, (len > 1).into());
        } else {
            self.bit(Tree::IsThird(self.state), 0, (which > 1).into());
            if which > 1 {
                self.bit(Tree::IsFourth(self.state), 0, (which > 2).into());
            }
        }
        let after_match = if len > 1 { [8, 11] } else { [9, 11] };
        if len > 1 {
            self.len(true, len);
        }
        self.distances[..=which].rotate_right(1);
        self.state = after_match[usize::from(self.state >= 7)];
        self.copy(len);
    }

    /// Writes a marker, and all bytes that the range coder holds.
    pub fn marker(&mut self, len: u32) {
        self.any_match(len, u32::MAX);
        (0..5).for_each(|_| self.shift());
        (self.low, self.range, self.cache, self.pending) = (0, u32::MAX, 0, 1);
    }

    /// Writes symbols of all kinds.
    pub fn symbols(&mut self, noise: &mut Noise, number: usize) {
        for _ in 0..number {
            let there = self.contents.len().min(self.dictionary);
            let len = 2 + [noise.below(4), noise.below(16), noise.below(272)][noise.below(3)] as u32;
            let usable = self.distances.map(|distance| (distance as usize) < there);
            let which = noise.below(4);
            match noise.below(8) {
                0 | 1 if there > 0 => {
                    let most = [4, 128, there][noise.below(3)].min(there);
                    let distance = [noise.below(most), there - 1][usize::from(noise.below(20) == 0)];
                    self.matched(len, distance as u32);
                }
                2 if usable[which] => self.repetition(len, which),
                3 if usable[0] => self.repetition(1, 0),
                _ => self.literal(noise.pick(b"abcdefgh\0\xff")),
            }
        }
    }

    /// Ends the member. Returns it and its contents.
    pub fn finish(mut self) -> (Vec<u8>, Vec<u8>) {
        self.marker(END);
        let mut sum = flate2::Crc::new();
        sum.update(&self.contents);
        self.bytes.extend(sum.sum().to_le_bytes());
        self.bytes.extend((self.contents.len() as u64).to_le_bytes());
        self.bytes.extend((self.bytes.len() as u64 + 8).to_le_bytes());
        (self.bytes, self.contents)
    }
}

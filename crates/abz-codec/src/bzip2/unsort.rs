//! The inverse of the Burrows-Wheeler transform.
//!
//! Each row of the sorted rotations leads to the row of the rotation that begins a byte earlier or later, and so, byte
//! by byte, to the whole block. Each step waits for memory, because the rows of a block do not fit into a core's cache.
//! So each step goes two bytes, and two walks run at a time, from both ends of the block.

/// The number of rows that share an entry for their first byte, as a power of two.
const SHIFT: u32 = 6;

/// Finds a block from the last column of its sorted rotations. It keeps its memory: twelve bytes for each byte of the
/// largest block.
pub(super) struct Unsorter {
    /// For each byte, the first row that begins with it or with a larger one.
    starts: [u32; 257],
    /// For each row, the row of the rotation that begins a byte earlier.
    earlier: Vec<u32>,
    /// For each row, the row of the rotation that begins two bytes earlier, above the row's own last byte.
    backward: Vec<u32>,
    /// For each row, the row of the rotation that begins two bytes later, above the row's second byte.
    forward: Vec<u32>,
    /// For each group of rows, the byte with which its first row begins; see [`SHIFT`].
    begins: Vec<u8>,
}

impl Default for Unsorter {
    fn default() -> Self {
        let (earlier, backward, forward, begins) = Default::default();
        Unsorter { starts: [0; 257], earlier, backward, forward, begins }
    }
}

impl Unsorter {
    /// Puts the block into `block` whose sorted rotations have the last column `last`, and which is in row `row` of
    /// them. A column that belongs to no block gives arbitrary bytes.
    pub(super) fn unsort(&mut self, last: &[u8], row: usize, block: &mut Vec<u8>) {
        let len = last.len();
        self.prepare(last);
        let (forward, backward) = (&self.forward[..len], &self.backward[..len]);
        block.clear();
        block.resize(len, 0);
        let half = len / 4 * 2;
        let (front, rest) = block.split_at_mut(half);
        let (middle, back) = rest.split_at_mut(len - 2 * half);
        let (mut next, mut before) = (row, row);
        let pairs = front.as_chunks_mut::<2>().0.iter_mut().zip(back.as_chunks_mut::<2>().0.iter_mut().rev());
        for (front, back) in pairs {
            let (later, earlier) = (forward[next], backward[before]);
            *front = [self.begin(next), later as u8];
            next = (later >> 8) as usize;
            before = (earlier >> 8) as usize;
            *back = [self.begin(before), earlier as u8];
        }
        for byte in middle.iter_mut().rev() {
            *byte = last[before];
            before = self.earlier[before] as usize;
        }
    }

    /// Does the same as [`unsort`](Self::unsort), which must have been called before, but walks from the block's first
    /// byte to its last, as the reference implementation does. The result differs only for a column that belongs to no
    /// block: its rows form several cycles, of which only one is walked, again and again.
    pub(super) fn unsort_forward(&self, row: usize, block: &mut [u8]) {
        let mut next = row;
        for bytes in block.chunks_mut(2) {
            let later = self.forward[next];
            let pair = [self.begin(next), later as u8];
            bytes.copy_from_slice(&pair[..bytes.len()]);
            next = (later >> 8) as usize;
        }
    }

    /// Returns the byte with which a row begins.
    #[inline]
    fn begin(&self, row: usize) -> u8 {
        let mut byte = self.begins[row >> SHIFT];
        while self.starts[usize::from(byte) + 1] as usize <= row {
            byte += 1;
        }
        byte
    }

    /// Makes the tables for a block.
    fn prepare(&mut self, last: &[u8]) {
        let len = last.len();
        let mut starts = [0u32; 257];
        for &byte in last {
            starts[usize::from(byte) + 1] += 1;
        }
        for byte in 0..256 {
            starts[byte + 1] += starts[byte];
        }
        self.begins.clear();
        let mut byte = 0;
        for row in (0..len).step_by(1 << SHIFT) {
            while starts[byte + 1] as usize <= row {
                byte += 1;
            }
            self.begins.push(byte as u8);
        }
        for rows in [&mut self.earlier, &mut self.backward, &mut self.forward] {
            rows.resize(len, 0);
        }
        let mut next = starts;
        for (earlier, &byte) in self.earlier.iter_mut().zip(last) {
            let next = &mut next[usize::from(byte)];
            *earlier = *next;
            *next += 1;
        }
        let rows = self.earlier.iter().zip(last).zip(&mut self.backward).enumerate();
        for (row, ((&earlier, &byte), backward)) in rows {
            let earlier = self.earlier[earlier as usize];
            *backward = earlier << 8 | u32::from(byte);
            self.forward[earlier as usize] = (row as u32) << 8 | u32::from(byte);
        }
        self.starts = starts;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bzip2::sort::Sorter;

    #[test]
    fn what_was_sorted_is_found_again() {
        let (mut sorter, mut unsorter) = (Sorter::new(), Unsorter::default());
        let (mut last, mut back) = (Vec::new(), Vec::new());
        for len in (1..300).chain([5_000]) {
            for letters in [1, 2, 3, 256] {
                let block: Vec<u8> = (0..len)
                    .map(|n: u32| ((n * len).wrapping_mul(2_654_435_761) >> 13) % letters)
                    .map(|letter| (letter * (256 / letters)) as u8)
                    .collect();
                let row = sorter.sort(&block, &mut last).unwrap();
                unsorter.unsort(&last, row, &mut back);
                assert_eq!(back, block);
                unsorter.unsort_forward(row, &mut back);
                assert_eq!(back, block);
            }
        }
    }
}

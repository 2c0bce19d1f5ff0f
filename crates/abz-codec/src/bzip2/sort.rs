//! The second layer: the Burrows-Wheeler transform of a block.
//!
//! bzip2 sorts the rotations of a block. The fast libraries sort suffixes. Both give the same order for a word that is
//! the least of its rotations and no power of another word (a Lyndon word), because there the comparison of two
//! rotations never depends on the bytes behind the end of the word. All rotations of a block have the same rotations,
//! so the least one is sorted instead. If it is a power, its root is sorted, and each row stands for as many equal
//! ones.

use std::cmp::Ordering;

use libsais::context::Context;
use libsais::typestate::SingleThreaded;
use libsais::{LibsaisError, SuffixArrayConstruction};

use crate::memory::{NoMemory, grow, make_exact_room};

/// The number of rotations with the same start that are compared directly.
const FEW: usize = 16;

/// Sorts blocks. It keeps its memory: five bytes for each byte of the largest block.
pub(super) struct Sorter {
    /// Made for the first block.
    context: Option<Context<u8, i32, SingleThreaded>>,
    rows: Vec<i32>,
    turned: Vec<u8>,
}

impl Sorter {
    pub(super) fn new() -> Self {
        Sorter { context: None, rows: Vec::new(), turned: Vec::new() }
    }

    /// Puts the last bytes of the sorted rotations of `block`, which must not be empty, into `last`. Returns the row of
    /// the block itself.
    pub(super) fn sort(&mut self, block: &[u8], last: &mut Vec<u8>) -> Result<usize, NoMemory> {
        let (start, period) = least_rotation(block);
        let times = block.len() / period;
        make_exact_room(&mut self.turned, block.len())?;
        self.turned.extend_from_slice(&block[start..]);
        self.turned.extend_from_slice(&block[..start]);
        let root = &self.turned[..period];

        grow(&mut self.rows, period)?;
        // libsais needs less than 1 MiB of memory in addition to its input and its output.
        let no_memory = NoMemory { needed: 1 << 20 };
        let context = match &mut self.context {
            Some(context) => context,
            none => none.insert(Context::try_new_single_threaded().ok_or(no_memory)?),
        };
        SuffixArrayConstruction::for_text(root)
            .in_borrowed_buffer(&mut self.rows)
            .single_threaded()
            .with_context(context)
            .run()
            .map_err(|error| match error {
                LibsaisError::OutOfMemory => no_memory,
                error => panic!("a block is small enough for any array: {error}"),
            })?;

        // The block begins at this index of its least rotation.
        let begin = (period - start % period) % period;
        let mut own_row = 0;
        make_exact_room(last, block.len())?;
        for (row, &from) in self.rows.iter().enumerate() {
            let from = from as usize;
            if from == begin {
                own_row = row;
            }
            let before = root[if from == 0 { period - 1 } else { from - 1 }];
            match times {
                1 => last.push(before),
                _ => last.extend(std::iter::repeat_n(before, times)),
            }
        }
        Ok(own_row * times)
    }
}

/// Returns the index at which the least rotation of `bytes` begins, and the length of its root: the shortest word of
/// which it is a power.
fn least_rotation(bytes: &[u8]) -> (usize, usize) {
    match least_by_start(bytes) {
        Some(start) => (start, bytes.len()),
        None => least_by_duel(bytes),
    }
}

/// Returns the index of the least rotation, if the first eight bytes or a few comparisons distinguish it from all
/// others.
fn least_by_start(bytes: &[u8]) -> Option<usize> {
    let len = bytes.len();
    let starts = || {
        // The last rotations continue at the front.
        let around: [u8; 14] = std::array::from_fn(|at| bytes[(len + at - 7) % len]);
        let key =
            |window: &[u8]| u64::from_be_bytes(*window.first_chunk().expect("windows have eight bytes"));
        let inner = bytes.windows(8).map(key);
        let outer: Vec<u64> = around.windows(8).map(key).collect();
        inner.chain(outer)
    };
    if len < 8 {
        return None;
    }
    let least = starts().min()?;
    let mut candidates = starts().enumerate().filter(|&(_, key)| key == least).map(|(start, _)| start);
    let mut best = candidates.next()?;
    for (count, other) in candidates.enumerate() {
        if count == FEW {
            return None;
        }
        let rotation = |start: usize| [&bytes[start..], &bytes[..start]];
        match compare(rotation(best), rotation(other)) {
            Ordering::Less => {}
            Ordering::Greater => best = other,
            // The block is a power.
            Ordering::Equal => return None,
        }
    }
    Some(best)
}

/// Compares two words of the same length, each of which is given in two parts.
fn compare([one, one_end]: [&[u8]; 2], [other, other_end]: [&[u8]; 2]) -> Ordering {
    // The first part of `other` is at most as long as that of `one`.
    let (both, middle) = one.split_at(other.len());
    let (other_middle, both_end) = other_end.split_at(middle.len());
    both.cmp(other).then_with(|| middle.cmp(other_middle)).then_with(|| one_end.cmp(both_end))
}

/// As [`least_rotation`], in linear time: two candidates are compared, and the worse one skips the bytes that were
/// compared.
fn least_by_duel(bytes: &[u8]) -> (usize, usize) {
    let len = bytes.len();
    let at = |index: usize| bytes[if index < len { index } else { index - len }];
    let (mut one, mut other, mut same) = (0, 1, 0);
    while one < len && other < len && same < len {
        let (a, b) = (at(one + same), at(other + same));
        if a == b {
            same += 1;
            continue;
        }
        let worse = if a > b { &mut one } else { &mut other };
        *worse += same + 1;
        if one == other {
            other += 1;
        }
        same = 0;
    }
    let start = one.min(other);
    let period = if same == len { one.abs_diff(other) } else { len };
    (start, period)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rotations(block: &[u8]) -> Vec<Vec<u8>> {
        (0..block.len()).map(|from| [&block[from..], &block[..from]].concat()).collect()
    }

    #[test]
    fn the_rotations_of_small_blocks_are_sorted() {
        let mut sorter = Sorter::new();
        let mut last = Vec::new();
        let all = (1..=9).flat_map(|len| (0..3usize.pow(len)).map(move |word| (len, word)));
        for (len, word) in all {
            let block: Vec<u8> = (0..len).map(|digit| (word / 3usize.pow(digit) % 3) as u8).collect();
            let row = sorter.sort(&block, &mut last).unwrap();
            let mut sorted = rotations(&block);
            sorted.sort();
            assert!(sorted.iter().map(|row| row[row.len() - 1]).eq(last.iter().copied()), "{block:?}");
            assert_eq!(sorted[row], block);
        }
    }

    #[test]
    fn the_least_rotation_is_found_by_its_start_where_that_is_enough() {
        let noise = |seed: u32, len: u32, letters: u32| -> Vec<u8> {
            (0..len).map(|n| ((n + seed).wrapping_mul(2_654_435_761) >> 16) as u8 % letters as u8).collect()
        };
        for seed in 0..200 {
            for letters in [1, 2, 3, 200] {
                let block = noise(seed, 8 + seed / 3, letters);
                let (start, period) = least_by_duel(&block);
                if let Some(found) = least_by_start(&block) {
                    assert_eq!((found, block.len()), (start, period), "{block:?}");
                }
                assert_eq!(rotations(&block)[start], *rotations(&block).iter().min().unwrap());
            }
        }
        assert_eq!(least_by_start(b"banana, bananas"), Some(7));
        assert_eq!(least_by_start(&b"abcdefgh".repeat(2)), None);
    }
}

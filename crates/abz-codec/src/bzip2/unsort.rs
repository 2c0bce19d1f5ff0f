//! The inverse of the Burrows-Wheeler transform.
//!
//! Each row of the sorted rotations leads to the row of the rotation that begins a byte later, and so, byte by byte, to the
//! whole block. Each step waits for memory, because the rows of a block do not fit into a core's fastest cache. So the block
//! is entered at many places, and [`WALKS`] walks take turns, whose steps do not wait for each other. A walk ends where
//! another one began, and then begins at the next place. At the end the stretches that were walked are put into their order.
//!
//! A column that belongs to no block leads through several cycles. The reference implementation walks that of the first row,
//! again and again, and so does this. No row is walked twice, whatever the column is.

/// The number of walks that take turns: about as many as a core has loads under way.
const WALKS: usize = 16;

/// The number of rows between the places at which a block is entered.
const SPACING: usize = 512;

/// The number of steps that each walk takes before its bytes are stored.
const STEPS: usize = 64;

/// A row at which a walk begins, in its entry.
const ENTRANCE: u32 = 1 << 31;

/// Finds a block from the last column of its sorted rotations. It keeps its memory: five bytes for each byte of the
/// largest block.
#[derive(Default)]
pub(super) struct Unsorter {
    /// For each row, its first byte, above that the row of the rotation that begins a byte later, and perhaps
    /// [`ENTRANCE`]. Two rows follow: one leads to itself, where walks stay when no entrance is left, and the other is an
    /// entrance, from which all walks set out.
    rows: Vec<u32>,
    walks: [Walk; WALKS],
    /// A stretch for each multiple of [`SPACING`], and one for the first row of the block.
    stretches: Vec<Stretch>,
}

#[derive(Default)]
struct Walk {
    /// All bytes that were passed.
    bytes: Vec<u8>,
    /// The number of the stretch that has begun.
    stretch: Option<usize>,
}

/// The bytes from one entrance to the next one.
#[derive(Clone, Copy, Default)]
struct Stretch {
    walk: usize,
    from: usize,
    to: usize,
    /// The number of the stretch that follows.
    next: usize,
}

impl Unsorter {
    /// Puts the block into `block` whose sorted rotations have the last column `last`, and which is in row `row` of
    /// them. `counts` says how often each byte is in it.
    pub(super) fn unsort(&mut self, last: &[u8], counts: &[u32; 256], row: usize, block: &mut Vec<u8>) {
        let len = last.len();
        self.link(last, counts);
        let number = |at: usize| match at.is_multiple_of(SPACING) {
            true => at / SPACING,
            false => len.div_ceil(SPACING),
        };
        let regular = (0..len).step_by(SPACING);
        let mut entrances = regular.chain((!row.is_multiple_of(SPACING)).then_some(row));
        entrances.clone().for_each(|entrance| self.rows[entrance] |= ENTRANCE);
        self.stretches.clear();
        self.stretches.resize(len.div_ceil(SPACING) + 1, Stretch::default());
        for walk in &mut self.walks {
            walk.bytes.clear();
        }

        let mut at = [len + 1; WALKS];
        let mut passed = 0;
        while at != [len; WALKS] {
            let was_walking = at.map(|at| at != len);
            let mut bytes = [[0; STEPS]; WALKS];
            for step in 0..STEPS {
                for (walk, (at, bytes)) in at.iter_mut().zip(&mut bytes).enumerate() {
                    let mut entry = self.rows[*at];
                    if entry >= ENTRANCE {
                        let entrance = entrances.next();
                        self.turn(walk, passed + step, number(*at), entrance.map(number));
                        entry = self.rows[entrance.unwrap_or(len)] & !ENTRANCE;
                    }
                    bytes[step] = entry as u8;
                    *at = (entry >> 8) as usize;
                }
            }
            let walks = self.walks.iter_mut().zip(&bytes).zip(was_walking);
            walks.filter(|(_, was)| *was).for_each(|((walk, bytes), _)| walk.bytes.extend_from_slice(bytes));
            passed += STEPS;
        }
        self.join(number(row), len, block);
    }

    /// Ends the stretch of a walk, whose byte `passed` is the first one of stretch `next`, and begins the stretch `begun`.
    #[cold]
    fn turn(&mut self, walk: usize, passed: usize, next: usize, begun: Option<usize>) {
        if let Some(ended) = self.walks[walk].stretch {
            (self.stretches[ended].to, self.stretches[ended].next) = (passed, next);
        }
        self.walks[walk].stretch = begun;
        if let Some(begun) = begun {
            (self.stretches[begun].walk, self.stretches[begun].from) = (walk, passed);
        }
    }

    /// Puts the `len` bytes from stretch `first` on into `block`.
    fn join(&self, first: usize, len: usize, block: &mut Vec<u8>) {
        block.clear();
        block.reserve(len);
        let mut number = first;
        loop {
            let Stretch { walk, from, to, next } = self.stretches[number];
            block.extend_from_slice(&self.walks[walk].bytes[from..to]);
            number = next;
            if number == first {
                break;
            }
        }
        while block.len() < len {
            block.extend_from_within(..block.len().min(len - block.len()));
        }
    }

    /// Makes the entries of the rows.
    fn link(&mut self, last: &[u8], counts: &[u32; 256]) {
        self.rows.resize(last.len() + 2, 0);
        let mut sum = 0;
        let mut places = counts.map(|count| {
            sum += count;
            (sum - count) as usize
        });
        for (row, &byte) in last.iter().enumerate() {
            let place = &mut places[usize::from(byte)];
            self.rows[*place] = (row as u32) << 8 | u32::from(byte);
            *place += 1;
        }
        self.rows[last.len()..].copy_from_slice(&[(last.len() as u32) << 8, ENTRANCE]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bzip2::sort::Sorter;

    fn unsorted(unsorter: &mut Unsorter, last: &[u8], row: usize) -> Vec<u8> {
        let (mut counts, mut block) = ([0; 256], Vec::new());
        last.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
        unsorter.unsort(last, &counts, row, &mut block);
        block
    }

    /// Walks from row to row, as the reference implementation does.
    fn walked(last: &[u8], row: usize) -> Vec<u8> {
        let mut rows: Vec<usize> = (0..last.len()).collect();
        rows.sort_by_key(|&row| last[row]);
        let steps = std::iter::successors(Some(row), |&row| Some(rows[row]));
        steps.skip(1).take(last.len()).map(|row| last[row]).collect()
    }

    #[test]
    fn what_was_sorted_is_found_again() {
        let (mut sorter, mut unsorter) = (Sorter::new(), Unsorter::default());
        let mut last = Vec::new();
        for len in (1..300).chain([511, 512, 513, 5_000, 100_000]) {
            for letters in [1, 2, 3, 256] {
                let block: Vec<u8> = (0..len)
                    .map(|n: u32| (n.wrapping_mul(len).wrapping_mul(2_654_435_761) >> 13) % letters)
                    .map(|letter| (letter * (256 / letters)) as u8)
                    .collect();
                let row = sorter.sort(&block, &mut last).unwrap();
                assert_eq!(unsorted(&mut unsorter, &last, row), block);
            }
        }
    }

    proptest! {
        /// Most of these columns belong to no block, and lead through several cycles.
        #[test]
        fn any_column_gives_what_the_reference_implementation_finds(
            letters in prop_oneof![1..4u8, Just(u8::MAX)],
            len in prop_oneof![1..40usize, 1..20_000usize],
            is_sorted: bool,
            seed: u64,
        ) {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut last: Vec<u8> = (0..len).map(|_| random.u8(0..letters)).collect();
            // Then each row leads to itself.
            if is_sorted {
                last.sort_unstable();
            }
            let mut unsorter = Unsorter::default();
            for row in [0, len - 1, random.usize(0..len)] {
                prop_assert_eq!(unsorted(&mut unsorter, &last, row), walked(&last, row));
            }
        }
    }
}

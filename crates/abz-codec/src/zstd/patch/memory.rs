//! The memory that libzstd takes to make a patch, as `ZSTD_resetCCtx_internal` of zstd 1.5 allocates it.

use super::super::Encoding;
use super::reference::{Reference, window_log};

/// The settings of a level that determine the sizes of its tables, from `clevels.h` for files of more than 256 KiB.
/// Smaller files have other rows there, which take up to 1 MiB more or less.
struct Level {
    /// The logarithms to base 2 of the window without long distances, in bytes, and of the number of entries of both
    /// tables.
    window: u32,
    chain: u32,
    hash: u32,
    min_match: u32,
    /// The strategy, from 1 (`ZSTD_fast`) to 9 (`ZSTD_btultra2`).
    strategy: u32,
}

/// The settings of level 0 (base of the negative levels) to level 22: window, chain, hash, least match, strategy.
const LEVELS: [[u32; 5]; 23] = [
    [19, 12, 13, 6, 1],
    [19, 13, 14, 7, 1],
    [20, 15, 16, 6, 1],
    [21, 16, 17, 5, 2],
    [21, 18, 18, 5, 2],
    [21, 18, 19, 5, 3],
    [21, 18, 19, 5, 4],
    [21, 19, 20, 5, 4],
    [21, 19, 20, 5, 5],
    [22, 20, 21, 5, 5],
    [22, 21, 22, 5, 5],
    [22, 21, 22, 5, 5],
    [22, 22, 23, 5, 5],
    [22, 22, 22, 5, 6],
    [22, 22, 23, 5, 6],
    [22, 23, 23, 5, 6],
    [22, 22, 22, 5, 7],
    [23, 23, 22, 4, 7],
    [23, 23, 22, 3, 8],
    [23, 24, 22, 3, 9],
    [25, 25, 23, 3, 9],
    [26, 26, 24, 3, 9],
    [27, 27, 25, 3, 9],
];

/// The strategies that search rows of a hash table, that search trees, and that choose among all matches.
const ROWS: std::ops::RangeInclusive<u32> = 3..=5;
const TREES: u32 = 6;
const OPTIMAL: u32 = 7;

/// The largest block of zstd, in bytes.
const BLOCK: u64 = 128 << 10;
/// The size in bytes of the codes of a block and of the work space for them, which is the same at each level.
const CODES: u64 = 24 << 10;
/// The size in bytes of the prices of matches, which the strategies that choose among all matches need.
const PRICES: u64 = 150 << 10;

impl Level {
    /// Returns the settings of a level, with tables no larger than two files of these sizes can fill.
    fn of(level: i32, reference: u64, contents: u64) -> Self {
        // Level 0 is the default level.
        let row = if level == 0 { 3 } else { level.clamp(0, 22) as usize };
        let [window, chain, hash, min_match, strategy] = LEVELS[row];
        let mut level = Level { window, chain, hash, min_match, strategy };
        level.window = level.window.min(log(reference + contents));
        level.fit(level.window, reference, contents);
        level
    }

    /// Reduces the tables to the size that the window and the reference before it can fill.
    fn fit(&mut self, window: u32, reference: u64, contents: u64) {
        let in_reach = match reference {
            0 => window,
            _ if 1 << window >= reference + contents => window,
            _ => log(reference + (1 << window)).min(31),
        };
        let is_tree = u32::from(self.strategy >= TREES);
        self.hash = self.hash.min(in_reach + 1);
        self.chain = self.chain.min(in_reach + is_tree);
    }

    /// Returns the size of the tables in bytes.
    fn tables(&self, window: u32) -> u64 {
        let has_rows = ROWS.contains(&self.strategy) && window > 14;
        let chain = if self.strategy == 1 || has_rows { 0 } else { 4 << self.chain };
        // Each entry has a byte for its tag.
        let tags = if has_rows { 1 << self.hash } else { 0 };
        let threes = if self.min_match == 3 { 4 << window.min(17) } else { 0 };
        let prices = if self.strategy >= OPTIMAL { PRICES } else { 0 };
        chain + (4 << self.hash) + tags + threes + prices
    }

    /// Returns the size in bytes of the table that finds repetitions at long distances.
    fn long_table(&self, window: u32) -> u64 {
        let hash = window.saturating_sub(7 - self.strategy / 3).max(6);
        let bucket = self.strategy.clamp(4, 8);
        (8 << hash) + (1 << (hash - bucket.min(hash)))
    }
}

/// Returns approximately how much memory it takes to make a patch of `contents` bytes against a reference, in bytes:
/// the reference, once, the part of the contents that is in the window, and the tables of the level.
///
/// # Panics
///
/// If the window of `encoding` is out of its range.
pub fn patch_memory(level: i32, encoding: &Encoding, reference: &Reference, contents: u64) -> u64 {
    let window = window_of(encoding, contents).min(log(reference.len() + contents)).max(10);
    let mut level = Level::of(level, reference.len(), contents);
    level.fit(window, reference.len(), contents);
    let held = contents.clamp(1, 1 << window);
    let block = held.min(BLOCK);
    // The literals and sequences of a block, and its buffers for input and output.
    let sequences = block / if level.min_match == 3 { 3 } else { 4 } * 11;
    let buffers = held + 3 * block + sequences + CODES;
    reference.len() + buffers + level.tables(window) + level.long_table(window)
}

/// Returns the logarithm to base 2 of the window of a patch.
pub(super) fn window_of(encoding: &Encoding, contents: u64) -> u32 {
    window_log(contents).max(encoding.long.unwrap_or(0))
}

/// Returns the logarithm to base 2 of `bytes`, rounded up; at least 6.
fn log(bytes: u64) -> u32 {
    bytes.next_power_of_two().ilog2().max(6)
}

#[cfg(test)]
mod tests {
    use super::super::PatchWriter;
    use super::*;

    /// Returns the memory that is allocated when the first byte is written, with the reference, in bytes.
    fn taken(level: i32, encoding: &Encoding, reference: &Reference, contents: u64) -> u64 {
        let mut writer = PatchWriter::new(Vec::new(), level, encoding, reference, contents).unwrap();
        writer.write_all(b"x").unwrap();
        writer.context.sizeof() as u64 + reference.len()
    }

    #[test]
    fn what_a_patch_is_said_to_take_is_what_it_takes_within_a_fifth() {
        let noise =
            |len: u32| -> Vec<u8> { (0..len).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect() };
        let long = Encoding { long: Some(27), ..Encoding::default() };
        let usual = Encoding::default();
        let check = |level, encoding, reference: &Reference, contents| {
            let stated = patch_memory(level, encoding, reference, contents) as f64;
            let taken = taken(level, encoding, reference, contents) as f64;
            let what = format!("level {level}, {} and {contents} bytes", reference.len());
            assert!((0.8..1.2).contains(&(stated / taken)), "{what}: {stated} of {taken}");
        };
        let [small, large] = [1000, 700_000].map(|len| Reference::new(&noise(len)));
        for level in (-2..=22).chain([-131_072]) {
            check(level, &usual, &large, 300_000);
            check(level, &usual, &large, 7_000_000);
            if level < 20 {
                check(level, &usual, &small, 400_000);
                check(level, &usual, &small, 70_000_000);
                check(level, &long, &large, 5_000_000);
            }
        }
    }

    #[test]
    fn of_small_files_it_is_what_a_patch_takes_within_a_mebibyte() {
        for level in [-5, 1, 3, 6, 9, 13, 16, 19, 22] {
            for (reference, contents) in
                [(0, 1), (100, 1), (5000, 5000), (20_000, 70_000), (100_000, 100_000)]
            {
                let (reference, encoding) = (Reference::new(&vec![7; reference]), Encoding::default());
                let stated = patch_memory(level, &encoding, &reference, contents);
                let taken = taken(level, &encoding, &reference, contents);
                assert!(stated.abs_diff(taken) < 1 << 20, "{level}, {contents}: {stated} of {taken}");
            }
            // The command asks before it opens the file, so the sizes may be 0.
            assert!(patch_memory(level, &Encoding::default(), &Reference::new(b""), 0) < 1 << 20);
        }
    }
}

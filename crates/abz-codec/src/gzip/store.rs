//! Detection of blocks that are not worth compressing, because they are compressed already.

use crate::memory::NoMemory;
use crate::system::Compressor;

/// The number of bytes whose values are counted together, so that a photo between two texts hides neither them nor
/// itself.
const STRETCH: usize = 32 << 10;
/// The number of bytes at the start that are counted first. They suffice to decide about most blocks.
const HEAD: usize = 4 << 10;
/// The distance of the samples, in bytes.
const STRIDE: usize = 128 << 10;
/// The size of a sample, which is compressed as a trial, in bytes. Deflate refers back no farther.
const SAMPLE: usize = 32 << 10;
/// The size in bytes below which a block is compressed without a test, because that takes less time.
const LEAST: usize = 16 << 10;

/// Decides whether deflate would make a block smaller.
///
/// The answer depends only on the block's bytes and is computed in integers, so the same block is stored on every
/// machine. It costs about a fifth of compressing such a block.
pub(super) struct Judge {
    quick: Compressor,
}

impl Judge {
    pub(super) fn new() -> Result<Self, NoMemory> {
        Ok(Judge { quick: Compressor::new(1)? })
    }

    /// Returns whether compressing `data` would save less than about a percent. `scratch` is a buffer for trials.
    pub(super) fn is_incompressible(&mut self, data: &[u8], scratch: &mut [u8]) -> bool {
        data.len() >= LEAST && !has_favourite_bytes(data) && !self.has_repetitions(data, scratch)
    }

    /// Samples detect repetitions, which counting bytes does not: the same noise twice.
    fn has_repetitions(&mut self, data: &[u8], scratch: &mut [u8]) -> bool {
        data.chunks(STRIDE).any(|stride| {
            let sample = &stride[..stride.len().min(SAMPLE)];
            let most = sample.len() - sample.len() / 64;
            self.quick.compress(sample, scratch).is_some_and(|len| len < most)
        })
    }
}

/// Returns whether some bytes are so frequent that a Huffman code alone would save a percent.
///
/// For counts c of n bytes the saving is about the sum of (c - n/256)^2 over 11 n^2 / 256 (the second term of the
/// entropy's series, in bytes). It is the same as (256 sum c^2 - n^2) / 11 n^2.
fn has_favourite_bytes(data: &[u8]) -> bool {
    let most = data.len() as u64 * 11 / 100;
    let mut excess = 0;
    let (head, rest) = data.split_at(data.len().min(HEAD));
    std::iter::once(head).chain(rest.chunks(STRETCH)).any(|stretch| {
        let n = stretch.len() as u64;
        let squares: u64 = counts(stretch).iter().map(|&count| u64::from(count).pow(2)).sum();
        // The smallest possible sum is n^2 / 256; noise alone exceeds it by n.
        excess += (256 * squares - n * n).saturating_sub(255 * n) / n;
        excess > most
    })
}

/// Counts each byte. It uses four tables, so that equal neighbours do not wait for each other.
fn counts(data: &[u8]) -> [u32; 256] {
    let mut tables = [[0u32; 256]; 4];
    let (fours, rest) = data.as_chunks::<4>();
    for four in fours {
        for (table, &byte) in tables.iter_mut().zip(four) {
            table[usize::from(byte)] += 1;
        }
    }
    for &byte in rest {
        tables[0][usize::from(byte)] += 1;
    }
    std::array::from_fn(|byte| tables.iter().map(|table| table[byte]).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(len: usize, seed: u64) -> Vec<u8> {
        let mut bytes = vec![0; len];
        fastrand::Rng::with_seed(seed).fill(&mut bytes);
        bytes
    }

    fn is_incompressible(data: &[u8]) -> bool {
        Judge::new().unwrap().is_incompressible(data, &mut vec![0; data.len() + 1000])
    }

    #[test]
    fn noise_is_incompressible_and_nothing_else_is() {
        for len in [LEAST, 100_000, 1 << 20, (1 << 20) + 77] {
            assert!(is_incompressible(&noise(len, 7)), "{len}");
        }
        let text: Vec<u8> = b"a branch of a river ".iter().copied().cycle().take(1 << 20).collect();
        assert!(!is_incompressible(&text));
        assert!(!is_incompressible(&vec![0; 1 << 20]));
        assert!(!is_incompressible(&noise(LEAST - 1, 7)), "it is small");
        let seven_bits: Vec<u8> = noise(1 << 20, 7).iter().map(|byte| byte & 0x7f).collect();
        assert!(!is_incompressible(&seven_bits));
    }

    #[test]
    fn noise_that_repeats_itself_is_compressed() {
        let repeated = noise(10_000, 3).repeat(100);
        assert!(!is_incompressible(&repeated));
    }

    #[test]
    fn a_text_between_noise_is_found() {
        let mut data = noise(1 << 20, 9);
        data[500_000..532_000].fill(b'x');
        assert!(!is_incompressible(&data));
    }

    #[test]
    fn bytes_are_counted() {
        let data = [1, 1, 2, 3, 1, 255, 255];
        let counts = counts(&data);
        assert_eq!((counts[1], counts[2], counts[3], counts[255], counts[0]), (3, 1, 1, 2, 0));
    }
}

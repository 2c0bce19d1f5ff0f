//! The first layer of bzip2: runs. Four equal bytes are followed by a byte with the number of further ones: up to 251
//! from this encoder, up to 255 in any file.

use crc::{CRC_32_BZIP2, Crc, Table};

/// The checksum of bzip2. It is that of blocks before this layer.
static CRC: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_BZIP2);

/// The number of equal bytes that make a run.
pub(super) const RUN: usize = 4;

/// The longest run that the encoder writes, its first four bytes included.
pub(super) const LONGEST: usize = 255;

/// The number of windows at which [`find_run`] looks together.
const STRIDE: usize = 64;

/// A word with 1 in each byte.
const EACH: u64 = u64::MAX / 255;

/// Returns the index at which the first run begins.
pub(super) fn find_run(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(block) = bytes[from..].first_chunk::<{ STRIDE + RUN - 1 }>() {
        let mut any = false;
        for at in 0..STRIDE {
            any |= (block[at] == block[at + 1])
                & (block[at + 1] == block[at + 2])
                & (block[at + 2] == block[at + 3]);
        }
        if any {
            break;
        }
        from += STRIDE;
    }
    // Eight windows at once, each in a byte of a word, which is 0 if the four bytes are equal.
    while let Some(block) = bytes[from..].first_chunk::<{ 8 + RUN - 1 }>() {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| block[at + byte]));
        let [first, second, third, fourth] = std::array::from_fn(word);
        let unequal = (first ^ second) | (second ^ third) | (third ^ fourth);
        let zeros = unequal.wrapping_sub(EACH) & !unequal & (EACH << 7);
        if zeros != 0 {
            return Some(from + zeros.trailing_zeros() as usize / 8);
        }
        from += 8;
    }
    let is_run = |window: &[u8]| window.iter().all(|&byte| byte == window[0]);
    bytes[from..].windows(RUN).position(is_run).map(|at| from + at)
}

/// A series of plain bytes, or a byte and the number of times it is repeated.
pub(super) enum Stretch<'a> {
    Plain(&'a [u8]),
    Repeated(u8, usize),
}

/// Returns the stretches of packed bytes in order; `None` if a run at the end has no count.
pub(super) fn stretches(mut packed: &[u8]) -> impl Iterator<Item = Option<Stretch<'_>>> {
    let mut count = None;
    std::iter::from_fn(move || {
        if let Some((byte, times)) = count.take() {
            return Some(Some(Stretch::Repeated(byte, times)));
        }
        if packed.is_empty() {
            return None;
        }
        let Some(run) = find_run(packed) else {
            return Some(Some(Stretch::Plain(std::mem::take(&mut packed))));
        };
        let (plain, rest) = packed.split_at(run + RUN);
        let Some((&times, rest)) = rest.split_first() else {
            packed = rest;
            return Some(None);
        };
        packed = rest;
        count = (times > 0).then(|| (plain[run], usize::from(times)));
        Some(Some(Stretch::Plain(plain)))
    })
}

/// Returns the checksum of a block's contents.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    CRC.checksum(bytes)
}

/// Returns the checksum and the size in bytes of the contents of packed bytes; `None` if a run at the end has no count.
pub(super) fn sums(packed: &[u8]) -> Option<(u32, usize)> {
    let mut digest = CRC.digest();
    let mut len = 0;
    for stretch in stretches(packed) {
        match stretch? {
            Stretch::Plain(bytes) => {
                digest.update(bytes);
                len += bytes.len();
            }
            Stretch::Repeated(byte, times) => {
                digest.update(&[byte; 255][..times]);
                len += times;
            }
        }
    }
    Some((digest.finalize(), len))
}

/// Returns the checksum of a stream after one more block.
pub(super) fn combine(stream: u32, block: u32) -> u32 {
    stream.rotate_left(1) ^ block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_run_is_found_wherever_it_is() {
        for len in [4, 5, 66, 67, 68, 200] {
            let plain: Vec<u8> = (0..len).map(|n| (n / 3) as u8).collect();
            assert_eq!(find_run(&plain), None, "{len}");
            for at in 0..=len - RUN {
                let mut bytes = plain.clone();
                bytes[at..at + RUN].fill(0xff);
                assert_eq!(find_run(&bytes), Some(at), "{at} of {len}");
            }
        }
    }
}

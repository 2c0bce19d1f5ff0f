//! Cutting an input into blocks of equal size.

use std::fmt;
use std::io::{self, Read};

/// The block size that suits most inputs, in bytes (1.25 MiB): the least at which text and source code come out within
/// 0.3 % of what `pigz -6` makes of them. Larger blocks gain little more, smaller ones make larger files (gzip: 0.3 %
/// at 512 KiB, 2 % at 128 KiB).
pub const DEFAULT_BLOCK_SIZE: usize = 1_280 << 10;

/// A piece of the input, to be compressed by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The place of this block in its input: 0, 1, 2 and so on.
    pub number: u64,
    /// The bytes: as many as the block size, fewer only in the last block of an input.
    pub data: Vec<u8>,
    /// True if this block is known to be its whole input (it is the first one, and short).
    pub whole: bool,
}

/// Cuts what a reader gives into [`Block`]s of a fixed size, however the bytes arrive.
///
/// There is always a first block: an empty input gives one empty block. An input whose length is a multiple of
/// the block size has no short block at its end. After an error the iterator has ended.
///
/// ```
/// use abz_codec::Blocks;
///
/// let blocks: Vec<_> = Blocks::new(&b"abcdefgh"[..], 3).collect::<Result<_, _>>()?;
/// let data: Vec<_> = blocks.iter().map(|block| &block.data[..]).collect();
/// assert_eq!(data, [&b"abc"[..], b"def", b"gh"]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Blocks<R> {
    reader: R,
    size: usize,
    number: u64,
    ended: bool,
}

impl<R: Read> Blocks<R> {
    /// Blocks of `size` bytes from `reader`.
    ///
    /// # Panics
    ///
    /// If `size` is 0.
    pub fn new(reader: R, size: usize) -> Self {
        assert!(size > 0, "a block has at least one byte");
        Blocks { reader, size, number: 0, ended: false }
    }

    /// The next block, read into `buffer`, whose contents are dropped and whose allocation is used again;
    /// `None` at the end of the input.
    ///
    /// # Errors
    ///
    /// What the reader gave, except interruptions, after which it is asked again.
    pub fn read_into(&mut self, mut buffer: Vec<u8>) -> io::Result<Option<Block>> {
        if self.ended {
            return Ok(None);
        }
        buffer.clear();
        buffer.reserve_exact(self.size);
        let read = self.reader.by_ref().take(self.size as u64).read_to_end(&mut buffer);
        self.ended = read.is_err() || buffer.len() < self.size;
        read?;
        if buffer.is_empty() && self.number > 0 {
            return Ok(None);
        }
        let number = self.number;
        self.number += 1;
        Ok(Some(Block { number, data: buffer, whole: number == 0 && self.ended }))
    }
}

impl<R: Read> Iterator for Blocks<R> {
    type Item = io::Result<Block>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read_into(Vec::new()).transpose()
    }
}

impl<R> fmt::Debug for Blocks<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocks")
            .field("size", &self.size)
            .field("number", &self.number)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(input: &[u8], size: usize) -> Vec<(u64, usize, bool)> {
        Blocks::new(input, size).map(|b| b.unwrap()).map(|b| (b.number, b.data.len(), b.whole)).collect()
    }

    #[test]
    fn an_empty_input_is_one_empty_whole_block() {
        assert_eq!(lengths(b"", 4), [(0, 0, true)]);
    }

    #[test]
    fn a_short_input_is_one_whole_block_and_a_full_one_is_not_known_to_be() {
        assert_eq!(lengths(b"abc", 4), [(0, 3, true)]);
        assert_eq!(lengths(b"abcd", 4), [(0, 4, false)]);
        assert_eq!(lengths(b"abcde", 4), [(0, 4, false), (1, 1, false)]);
    }

    #[test]
    fn bytes_that_trickle_in_give_the_same_blocks() {
        struct Trickle<'a>(&'a [u8], bool);
        impl Read for Trickle<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.1 = !self.1;
                if self.1 {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                let n = buffer.len().min(self.0.len()).min(1);
                self.0.read(&mut buffer[..n])
            }
        }
        let trickled: Vec<_> = Blocks::new(Trickle(b"abcdefg", false), 3).map(|b| b.unwrap()).collect();
        let whole: Vec<_> = Blocks::new(&b"abcdefg"[..], 3).map(|b| b.unwrap()).collect();
        assert_eq!(trickled, whole);
    }

    #[test]
    fn a_failed_read_ends_the_blocks() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("no"))
            }
        }
        let mut blocks = Blocks::new(Failing, 3);
        assert!(blocks.next().unwrap().is_err());
        assert!(blocks.next().is_none());
    }
}

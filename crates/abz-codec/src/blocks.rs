//! Cutting of an input into blocks, of equal size or by its contents.

use std::fmt;
use std::io::{self, Read};

use crate::memory::make_exact_room;

/// The default block size in bytes (1.25 MiB). It is the smallest at which text and source code compress within 0.3 %
/// of `pigz -6`. Larger blocks gain little more; smaller ones make larger files (gzip: 0.3 % at 512 KiB, 2 % at 128
/// KiB).
pub const DEFAULT_BLOCK_SIZE: usize = 1_280 << 10;

/// A piece of the input that is compressed by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The number of this block in its input, counted from 0.
    pub number: u64,
    /// The bytes. Their number is the block size; only the last block, and blocks that are cut by contents, may have
    /// fewer.
    pub data: Vec<u8>,
    /// Whether this block is its whole input.
    pub whole: bool,
}

/// An iterator that cuts an input into [`Block`]s of a fixed size, or [by content](Blocks::by_content). The blocks do
/// not depend on how the bytes arrive.
///
/// There is always a first block: an empty input gives one empty block. An input whose length is a multiple of the
/// block size has no short block at its end. The iterator ends after an error.
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
    /// The byte, or the error, that was read behind the first block to find out whether the input continues.
    ahead: Option<io::Result<u8>>,
    /// `None` if only the size determines where to cut.
    content: Option<ByContent>,
}

/// The number of bytes that are read at once if contents determine where to cut.
const LOOK: usize = 64 << 10;

/// Cuts where a hash of the last 64 bytes has enough zeros, so that a cut depends only on these bytes.
struct ByContent {
    /// The bits of the hash that must be zero. They make the mean distance of cuts.
    mask: u64,
    /// The smallest size of a block in bytes, except for the last one.
    least: usize,
    /// The bytes that were read and belong to the next block.
    rest: Vec<u8>,
}

impl ByContent {
    fn new(size: usize) -> Self {
        let mean = (size.next_power_of_two() / 16).max(1);
        let bits = mean.trailing_zeros();
        // The highest bits depend on the most bytes.
        let mask = !(u64::MAX >> bits);
        ByContent { mask, least: mean / 4, rest: Vec::new() }
    }

    /// Returns the index at which the first block of `data` ends, if it does. It does not end before `from`.
    fn end(&self, data: &[u8], from: usize) -> Option<usize> {
        let from = from.max(self.least).min(data.len());
        let before = &data[from.saturating_sub(64)..from];
        let mut hash = before.iter().fold(0u64, |hash, &byte| roll(hash, byte));
        let ends = |byte: &u8| {
            hash = roll(hash, *byte);
            hash & self.mask == 0
        };
        data[from..].iter().position(ends).map(|at| from + at + 1)
    }
}

/// Adds the next byte to the hash. The byte 64 places before drops out of it.
fn roll(hash: u64, byte: u8) -> u64 {
    (hash << 1).wrapping_add(NOISE[usize::from(byte)])
}

/// A random number for each byte, from the generator splitmix64.
static NOISE: [u64; 256] = {
    let mut noise = [0; 256];
    let mut state = 0u64;
    let mut byte = 0;
    while byte < noise.len() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        noise[byte] = mixed ^ (mixed >> 31);
        byte += 1;
    }
    noise
};

impl<R: Read> Blocks<R> {
    /// Creates an iterator over blocks of `size` bytes from `reader`.
    ///
    /// # Panics
    ///
    /// If `size` is 0.
    pub fn new(reader: R, size: usize) -> Self {
        assert!(size > 0, "a block has at least one byte");
        Blocks { reader, size, number: 0, ended: false, ahead: None, content: None }
    }

    /// Creates an iterator over blocks of at most `size` bytes from `reader` that end where the bytes before determine:
    /// on average after a sixteenth of `size`, rounded up to a power of two. If bytes are changed, inserted or removed,
    /// only the blocks around that place change. So `rsync` needs to send, and a deduplicating archive needs to store,
    /// only the new parts.
    ///
    /// ```
    /// use abz_codec::Blocks;
    ///
    /// let text: Vec<u8> = (0..200_000u32).flat_map(|n| n.wrapping_mul(n).to_le_bytes()).collect();
    /// let blocks = |text: &[u8]| Blocks::by_content(text, 64 << 10).map(|b| b.unwrap().data).collect::<Vec<_>>();
    /// let changed = blocks(&[b"a new beginning", &text[..]].concat());
    /// let same = blocks(&text).iter().filter(|block| changed.contains(block)).count();
    /// assert_eq!(same, blocks(&text).len() - 1);
    /// ```
    ///
    /// # Panics
    ///
    /// If `size` is 0.
    pub fn by_content(reader: R, size: usize) -> Self {
        Blocks { content: Some(ByContent::new(size)), ..Blocks::new(reader, size) }
    }

    /// Returns the underlying reader, for example to give it more input.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Reads on where the input ended before. Blocks are numbered on.
    pub fn go_on(&mut self) {
        self.ended = false;
    }

    /// Reads the next block, `None` at the end of the input. Drops the contents of `buffer` and uses its allocation.
    ///
    /// # Errors
    ///
    /// The error of the reader; an interrupted read is repeated. [`NoMemory`](crate::NoMemory) if there is no memory
    /// for a block.
    pub fn read_into(&mut self, mut buffer: Vec<u8>) -> io::Result<Option<Block>> {
        let ahead = self.ahead.take().transpose()?;
        if self.ended {
            return Ok(None);
        }
        make_exact_room(&mut buffer, self.size)?;
        buffer.extend(ahead);
        match self.content.take() {
            None => self.read_to(&mut buffer, self.size)?,
            Some(mut content) => {
                self.read_by_content(&mut content, &mut buffer)?;
                self.content = Some(content);
            }
        }
        if buffer.is_empty() && self.number > 0 {
            return Ok(None);
        }
        let number = self.number;
        self.number += 1;
        let has_rest = self.content.as_ref().is_some_and(|content| !content.rest.is_empty());
        if number == 0 && !self.ended && !has_rest {
            let mut ahead = Vec::new();
            let read = self.read_to(&mut ahead, 1);
            self.ahead = read.map(|()| ahead.first().copied()).transpose();
        }
        let whole = number == 0 && self.ended && self.ahead.is_none();
        Ok(Some(Block { number, data: buffer, whole }))
    }

    /// Reads until `buffer` has `len` bytes, or sets `ended` if there are no more.
    fn read_to(&mut self, buffer: &mut Vec<u8>, len: usize) -> io::Result<()> {
        let missing = len - buffer.len();
        let read = self.reader.by_ref().take(missing as u64).read_to_end(buffer);
        self.ended = read.is_err() || buffer.len() < len;
        read.map(drop)
    }

    fn read_by_content(&mut self, content: &mut ByContent, buffer: &mut Vec<u8>) -> io::Result<()> {
        buffer.append(&mut content.rest);
        let mut looked = 0;
        loop {
            if let Some(end) = content.end(buffer, looked) {
                content.rest.extend(buffer.drain(end..));
                // The remaining bytes are another block, even if nothing more is read.
                self.ended &= content.rest.is_empty();
                return Ok(());
            }
            if self.ended || buffer.len() == self.size {
                return Ok(());
            }
            looked = buffer.len();
            self.read_to(buffer, self.size.min(looked + LOOK))?;
        }
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
    fn an_input_that_fits_is_one_whole_block() {
        assert_eq!(lengths(b"abc", 4), [(0, 3, true)]);
        assert_eq!(lengths(b"abcd", 4), [(0, 4, true)]);
        assert_eq!(lengths(b"abcde", 4), [(0, 4, false), (1, 1, false)]);
        assert_eq!(lengths(b"abcdefgh", 4), [(0, 4, false), (1, 4, false)]);
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
    fn blocks_by_content_are_the_input_cut_in_pieces() {
        let text: Vec<u8> = (0..100_000u32).flat_map(|n| n.wrapping_mul(n ^ 7).to_le_bytes()).collect();
        for size in [1, 100, 4096, 100_000, 1 << 20] {
            for len in [0, 1, 99, 65_536, text.len()] {
                if size < 100 && len > 100 {
                    continue;
                }
                let blocks: Vec<_> =
                    Blocks::by_content(&text[..len], size).map(|block| block.unwrap()).collect();
                assert!(blocks.iter().all(|block| block.data.len() <= size));
                let joined: Vec<u8> = blocks.iter().flat_map(|block| block.data.clone()).collect();
                assert!(joined == text[..len], "size {size}, {len} bytes");
                let numbers: Vec<_> = blocks.iter().map(|block| block.number).collect();
                assert_eq!(numbers, (0..blocks.len() as u64).collect::<Vec<_>>());
                assert!(blocks[1..].iter().all(|block| !block.whole && !block.data.is_empty()));
                assert!(!blocks[0].whole || blocks.len() == 1, "size {size}, {len} bytes");
            }
        }
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
        // The byte that was read before the error comes first.
        let mut blocks = Blocks::new(b"abc".chain(Failing), 3);
        let first = blocks.next().unwrap().unwrap();
        assert!(first.data == b"abc" && !first.whole);
        assert!(blocks.next().unwrap().is_err());
        assert!(blocks.next().is_none());
    }
}

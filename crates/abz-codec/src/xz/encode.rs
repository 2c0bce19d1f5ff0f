//! Encoding of blocks.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read};
use std::mem;

use liblzma::stream::{Filters, LzmaOptions, PRESET_EXTREME};

use super::check::{Check, Sum};
use super::header::BlockHeader;
use crate::lzma::{self, Encoding, PORTION};
use crate::memory::{NoMemory, make_room};

/// The settings of an encoder: how hard it searches for repetitions, and the kind of check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// The level, 0 to 9, as in xz.
    pub level: u32,
    /// Whether to take more time to make files of this level a little smaller.
    pub extreme: bool,
    /// The dictionary size in bytes, 4 KiB to 1.5 GiB; `None` for that of the level.
    pub dictionary_size: Option<u32>,
    /// The check of each block.
    pub check: Check,
}

impl Settings {
    /// Returns the dictionary size in bytes.
    ///
    /// # Panics
    ///
    /// If `level` is above 9.
    pub fn dictionary(&self) -> u32 {
        // liblzma has these numbers, but does not export them.
        const KIB: [u32; 10] =
            [256, 1 << 10, 2 << 10, 4 << 10, 4 << 10, 8 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10];
        let kib = KIB.get(self.level as usize).expect("the levels of xz are 0 to 9");
        self.dictionary_size.unwrap_or(kib << 10)
    }

    /// Returns a suitable size of a block's contents in bytes: three times the dictionary, at least 1 MiB, as in xz
    /// with threads.
    pub fn block_size(&self) -> usize {
        (3 * self.dictionary() as usize).max(1 << 20)
    }

    /// Returns the options of liblzma with a dictionary of `dictionary` bytes.
    pub(super) fn options(&self, dictionary: u32) -> LzmaOptions {
        let preset = self.level | if self.extreme { PRESET_EXTREME } else { 0 };
        let mut options = LzmaOptions::new_preset(preset).expect("the level was checked");
        options.dict_size(dictionary);
        options
    }

    /// Returns the memory that an encoder takes, in bytes, without input and output.
    pub fn memory(&self) -> u64 {
        lzma::encoder_memory(self.dictionary())
    }
}

/// An encoded block. [`StreamWriter::write`](super::StreamWriter::write) writes it into a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodedBlock {
    pub(super) header: Vec<u8>,
    /// All bytes behind the header.
    pub(super) bytes: Vec<u8>,
    /// The size of the block in bytes without padding.
    pub(super) unpadded: u64,
    pub(super) uncompressed: u64,
}

impl EncodedBlock {
    /// Returns the size of the block in bytes.
    pub fn len(&self) -> usize {
        self.header.len() + self.bytes.len()
    }

    /// Returns whether the block is the default value: an encoded block has bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes behind its header, so that their allocation can be used again.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// An encoder of blocks, each from its own data.
pub struct Encoder {
    settings: Settings,
}

impl Encoder {
    /// Creates an encoder.
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub fn new(settings: Settings) -> Self {
        assert!((4 << 10..=3 << 29).contains(&settings.dictionary()), "a dictionary has 4 KiB to 1.5 GiB");
        Encoder { settings }
    }

    /// Encodes `data` as a block. Drops the contents of `bytes` and uses its allocation.
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    pub fn encode_into(&mut self, data: &[u8], bytes: Vec<u8>) -> Result<EncodedBlock, NoMemory> {
        self.encode_watched(data, bytes, &mut |_| {})
    }

    /// As [`encode_into`](Self::encode_into), but calls `watch` repeatedly with the number of bytes of `data` that were
    /// encoded since the last call. The sum is the length of `data`.
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    pub fn encode_watched(
        &mut self,
        data: &[u8],
        mut bytes: Vec<u8>,
        watch: &mut dyn FnMut(usize),
    ) -> Result<EncodedBlock, NoMemory> {
        let dictionary = self.dictionary(data.len());
        bytes.clear();
        lzma::encode((&self.filters(dictionary), dictionary), data, &mut bytes, watch)?;
        Ok(self.block(dictionary, bytes, data.len() as u64, &self.settings.check.of(data)))
    }

    /// Encodes at most `most` bytes from `input` as a block, the same as [`encode_watched`](Self::encode_watched) would
    /// make of them. Returns `None` if `input` is at its end. In addition to the encoder it holds at most as many bytes
    /// of contents as the dictionary has, and only until the encoder takes them.
    ///
    /// # Errors
    ///
    /// If `input` cannot be read, or there is not enough memory (a [`NoMemory`] inside the error).
    pub fn encode_from(
        &mut self,
        input: &mut dyn Read,
        most: usize,
        mut bytes: Vec<u8>,
        watch: &mut dyn FnMut(usize),
    ) -> io::Result<Option<EncodedBlock>> {
        let mut input = input.take(most as u64);
        let mut next = |mut chunk: Vec<u8>| {
            chunk.clear();
            make_room(&mut chunk, PORTION)?;
            input.by_ref().take(PORTION as u64).read_to_end(&mut chunk)?;
            io::Result::Ok(Some(chunk).filter(|chunk| !chunk.is_empty()))
        };
        // A block with fewer contents than the dictionary gets a smaller dictionary.
        let (mut held, mut len) = (VecDeque::new(), 0);
        while len < self.settings.dictionary() as usize
            && let Some(chunk) = next(Vec::new())?
        {
            len += chunk.len();
            held.push_back(chunk);
        }
        if held.is_empty() {
            return Ok(None);
        }
        let dictionary = self.dictionary(len);
        let (mut encoding, mut sum) =
            (Encoding::new(&self.filters(dictionary), dictionary)?, Sum::new(self.settings.check));
        bytes.clear();
        let (mut contents, mut spare) = (0, Vec::new());
        while let Some(chunk) =
            held.pop_front().map_or_else(|| next(mem::take(&mut spare)), |held| Ok(Some(held)))?
        {
            sum.add(&chunk);
            encoding.push(&chunk, &mut bytes)?;
            watch(chunk.len());
            contents += chunk.len() as u64;
            if held.is_empty() {
                spare = chunk;
            }
        }
        encoding.finish(&mut bytes)?;
        Ok(Some(self.block(dictionary, bytes, contents, &sum.finish())))
    }

    /// Returns the dictionary size for `len` bytes of contents.
    fn dictionary(&self, len: usize) -> u32 {
        (self.settings.dictionary() as usize).min(len.max(4 << 10)) as u32
    }

    fn filters(&self, dictionary: u32) -> Filters {
        let mut filters = Filters::new();
        filters.lzma2(&self.settings.options(dictionary));
        filters
    }

    /// Makes a block of encoded LZMA2 data, from the size and the check of its contents.
    fn block(&self, dictionary: u32, mut bytes: Vec<u8>, uncompressed: u64, check: &[u8]) -> EncodedBlock {
        let compressed = bytes.len() as u64;
        let header = BlockHeader::lzma2(dictionary, compressed, uncompressed);
        let unpadded = (header.len() + check.len()) as u64 + compressed;
        // The size of the header is a multiple of four.
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend_from_slice(check);
        EncodedBlock { header, bytes, unpadded, uncompressed }
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").field("settings", &self.settings).finish_non_exhaustive()
    }
}

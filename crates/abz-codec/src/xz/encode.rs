//! Data into blocks.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read};
use std::mem;

use liblzma::stream::{Filters, LzmaOptions, PRESET_EXTREME};

use super::check::{Check, Sum};
use super::header::BlockHeader;
use crate::lzma::{self, Encoding, PORTION};
use crate::memory::{NoMemory, make_room};

/// How hard to look for what repeats, and what to say of the contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// 0 to 9, as xz has them.
    pub level: u32,
    /// Take more time to make the same level's files a little smaller.
    pub extreme: bool,
    /// How far back to look, in bytes, 4 KiB to 1.5 GiB, if it is not to be what the level says.
    pub dictionary_size: Option<u32>,
    /// The check of each block.
    pub check: Check,
}

impl Settings {
    /// How far back is looked, in bytes.
    ///
    /// # Panics
    ///
    /// If there is no such level.
    pub fn dictionary(&self) -> u32 {
        // liblzma knows, and does not tell.
        const KIB: [u32; 10] =
            [256, 1 << 10, 2 << 10, 4 << 10, 4 << 10, 8 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10];
        let kib = KIB.get(self.level as usize).expect("the levels of xz are 0 to 9");
        self.dictionary_size.unwrap_or(kib << 10)
    }

    /// The size of a block's contents that suits the dictionary, as xz has it with threads: three times as much, at
    /// least 1 MiB.
    pub fn block_size(&self) -> usize {
        (3 * self.dictionary() as usize).max(1 << 20)
    }

    /// Those of liblzma, with a dictionary of so many bytes.
    pub(super) fn options(&self, dictionary: u32) -> LzmaOptions {
        let preset = self.level | if self.extreme { PRESET_EXTREME } else { 0 };
        let mut options = LzmaOptions::new_preset(preset).expect("the level was checked");
        options.dict_size(dictionary);
        options
    }

    /// What an encoder takes, in bytes, beside the data and what comes of it.
    pub fn memory(&self) -> u64 {
        lzma::encoder_memory(self.dictionary())
    }
}

/// A block as it stands in a stream. [`StreamWriter::write`](super::StreamWriter::write) puts it there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodedBlock {
    pub(super) header: Vec<u8>,
    /// All that is behind the header.
    pub(super) bytes: Vec<u8>,
    /// Without the padding.
    pub(super) unpadded: u64,
    pub(super) uncompressed: u64,
}

impl EncodedBlock {
    /// How many bytes it has.
    pub fn len(&self) -> usize {
        self.header.len() + self.bytes.len()
    }

    /// True of what was not encoded: a block has bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes behind its header, to use their allocation again.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Encodes blocks. It keeps nothing from one to the next.
pub struct Encoder {
    settings: Settings,
}

impl Encoder {
    /// An encoder.
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub fn new(settings: Settings) -> Self {
        assert!((4 << 10..=3 << 29).contains(&settings.dictionary()), "a dictionary has 4 KiB to 1.5 GiB");
        Encoder { settings }
    }

    /// Encodes a block whose contents are `data`, into the allocation of `bytes`, whose contents are dropped.
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    pub fn encode_into(&mut self, data: &[u8], bytes: Vec<u8>) -> Result<EncodedBlock, NoMemory> {
        self.encode_watched(data, bytes, &mut |_| {})
    }

    /// As [`encode_into`](Self::encode_into), and tells `watch` again and again how many more bytes of `data` are encoded: in
    /// the end, all.
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

    /// Encodes a block of what `input` gives, as it comes, but of at most `most` bytes: what
    /// [`encode_watched`](Self::encode_watched) makes of these. Of the contents no more are in memory beside the encoder than fit
    /// into its dictionary, and those only until it has taken them. `None` if `input` gives nothing more.
    ///
    /// # Errors
    ///
    /// If `input` cannot be read, or there is not enough memory: then there is a [`NoMemory`] in the error.
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
        // A block with fewer contents has a smaller dictionary.
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

    /// The dictionary for so many bytes of contents.
    fn dictionary(&self, len: usize) -> u32 {
        (self.settings.dictionary() as usize).min(len.max(4 << 10)) as u32
    }

    fn filters(&self, dictionary: u32) -> Filters {
        let mut filters = Filters::new();
        filters.lzma2(&self.settings.options(dictionary));
        filters
    }

    /// A block of these bytes of LZMA2, for contents of which these are the size and the check.
    fn block(&self, dictionary: u32, mut bytes: Vec<u8>, uncompressed: u64, check: &[u8]) -> EncodedBlock {
        let compressed = bytes.len() as u64;
        let header = BlockHeader::lzma2(dictionary, compressed, uncompressed);
        let unpadded = (header.len() + check.len()) as u64 + compressed;
        // The header is a multiple of four.
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

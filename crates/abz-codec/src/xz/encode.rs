//! Encoding of blocks.

use std::fmt;
use std::mem;

use liblzma::stream::{Filters, LzmaOptions, MatchFinder, Mode, PRESET_EXTREME};

use super::check::{Check, Sum};
use super::header::BlockHeader;
use crate::lzma::{self, Encoding};
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
    /// The settings that replace those of the level.
    pub tuning: Tuning,
}

/// Settings of LZMA that replace those of a level, as the option `--lzma2` of xz has them. `None` leaves the level's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tuning {
    /// The number of the highest bits of the byte before that a byte is predicted from, 0 to 4.
    pub literal_context_bits: Option<u32>,
    /// The number of the lowest bits of the position that a byte is predicted from, 0 to 4; with the context bits at most
    /// 4.
    pub literal_position_bits: Option<u32>,
    /// The number of the lowest bits of the position that all else is predicted from, 0 to 4.
    pub position_bits: Option<u32>,
    /// Whether the search is the fast one, which takes the first long match.
    pub is_fast: Option<bool>,
    /// The length in bytes of a match at which the search ends, 2 to 273, and at least the number of bytes that the
    /// search hashes.
    pub nice: Option<u32>,
    /// How matches are found.
    pub finder: Option<Finder>,
    /// The most candidates for a match that are tried, 0 for a number that suits the other settings.
    pub depth: Option<u32>,
}

/// How matches are found: by chains or by trees, from hashes of two, three or four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Finder {
    /// Chains, from hashes of two and three bytes.
    Hc3,
    /// Chains, from hashes of two, three and four bytes.
    Hc4,
    /// Trees, from hashes of two bytes.
    Bt2,
    /// Trees, from hashes of two and three bytes.
    Bt3,
    /// Trees, from hashes of two, three and four bytes.
    Bt4,
}

impl Finder {
    /// All ways to find matches, with the names that xz gives them.
    pub const ALL: [(&'static str, Finder); 5] = [
        ("hc3", Finder::Hc3),
        ("hc4", Finder::Hc4),
        ("bt2", Finder::Bt2),
        ("bt3", Finder::Bt3),
        ("bt4", Finder::Bt4),
    ];

    /// Returns the number of bytes that are hashed at most, which is the least length of a match that ends the search.
    pub fn hashed_bytes(self) -> u32 {
        match self {
            Finder::Bt2 => 2,
            Finder::Hc3 | Finder::Bt3 => 3,
            Finder::Hc4 | Finder::Bt4 => 4,
        }
    }
}

impl Tuning {
    /// Returns the settings, or a description of what is wrong with them.
    ///
    /// # Errors
    ///
    /// If a setting is out of its range.
    pub fn checked(self) -> Result<Self, &'static str> {
        let [context, position] =
            [self.literal_context_bits.unwrap_or(3), self.literal_position_bits.unwrap_or(0)];
        let least = self.finder.map_or(2, Finder::hashed_bytes);
        match () {
            () if context > 4 || position > 4 => Err("lc and lp are 0 to 4"),
            () if context + position > 4 => Err("lc and lp are at most 4 together"),
            () if self.position_bits.is_some_and(|bits| bits > 4) => Err("pb is 0 to 4"),
            () if self.nice.is_some_and(|nice| !(least..=273).contains(&nice)) => {
                Err("nice is 2 to 273, and at least the number in the name of the match finder")
            }
            () => Ok(self),
        }
    }

    fn apply(self, options: &mut LzmaOptions) {
        let finder = |finder| match finder {
            Finder::Hc3 => MatchFinder::HashChain3,
            Finder::Hc4 => MatchFinder::HashChain4,
            Finder::Bt2 => MatchFinder::BinaryTree2,
            Finder::Bt3 => MatchFinder::BinaryTree3,
            Finder::Bt4 => MatchFinder::BinaryTree4,
        };
        self.literal_context_bits.map(|bits| options.literal_context_bits(bits));
        self.literal_position_bits.map(|bits| options.literal_position_bits(bits));
        self.position_bits.map(|bits| options.position_bits(bits));
        self.is_fast.map(|is_fast| options.mode(if is_fast { Mode::Fast } else { Mode::Normal }));
        self.nice.map(|nice| options.nice_len(nice));
        self.finder.map(|chosen| options.match_finder(finder(chosen)));
        self.depth.map(|depth| options.depth(depth));
    }
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

    /// Returns the dictionary size for `len` bytes of contents.
    fn dictionary_for(&self, len: usize) -> u32 {
        (self.dictionary() as usize).min(len.max(4 << 10)) as u32
    }

    fn filters(&self, dictionary: u32) -> Filters {
        let mut filters = Filters::new();
        filters.lzma2(&self.options(dictionary));
        filters
    }

    /// Returns the options of liblzma with a dictionary of `dictionary` bytes.
    pub(super) fn options(&self, dictionary: u32) -> LzmaOptions {
        let preset = self.level | if self.extreme { PRESET_EXTREME } else { 0 };
        let mut options = LzmaOptions::new_preset(preset).expect("the level was checked");
        options.dict_size(dictionary);
        self.tuning.apply(&mut options);
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
    /// Makes a block of encoded LZMA2 data, from the size and the check of its contents.
    fn new(dictionary: u32, mut bytes: Vec<u8>, uncompressed: u64, check: &[u8]) -> Self {
        let compressed = bytes.len() as u64;
        let header = BlockHeader::lzma2(dictionary, compressed, uncompressed);
        let unpadded = (header.len() + check.len()) as u64 + compressed;
        // The size of the header is a multiple of four.
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend_from_slice(check);
        EncodedBlock { header, bytes, unpadded, uncompressed }
    }

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
        let dictionary = self.settings.dictionary_for(data.len());
        bytes.clear();
        lzma::encode((&self.settings.filters(dictionary), dictionary), data, &mut bytes, watch)?;
        Ok(EncodedBlock::new(dictionary, bytes, data.len() as u64, &self.settings.check.of(data)))
    }
}

/// An encoder of blocks whose contents are given in portions. A block is the same as the one that an [`Encoder`] makes. It
/// takes less memory: beside the encoder, it holds at most as many bytes of contents as the dictionary has.
///
/// ```
/// use abz_codec::xz::{Check, Encoder, PortionEncoder, Settings};
///
/// let settings = Settings { level: 6, extreme: false, dictionary_size: None, check: Check::Crc64, tuning: Default::default() };
/// let mut encoder = PortionEncoder::new(settings);
/// encoder.push(b"a branch ")?;
/// encoder.push(b"of a river")?;
/// let block = encoder.finish()?;
/// assert_eq!(block, Encoder::new(settings).encode_into(b"a branch of a river", Vec::new())?);
/// # Ok::<(), abz_codec::NoMemory>(())
/// ```
pub struct PortionEncoder {
    settings: Settings,
    /// The first bytes of the block. A block with fewer contents than the dictionary gets a smaller dictionary, so
    /// encoding begins when there are so many.
    held: Vec<u8>,
    begun: Option<Begun>,
    /// The number of bytes of the block.
    contents: u64,
}

/// A block whose dictionary is known.
struct Begun {
    dictionary: u32,
    encoding: Encoding,
    sum: Sum,
    bytes: Vec<u8>,
}

impl Begun {
    fn push(&mut self, portion: &[u8]) -> Result<(), NoMemory> {
        self.sum.add(portion);
        self.encoding.push(portion, &mut self.bytes)
    }
}

impl PortionEncoder {
    /// Creates an encoder at the start of a block.
    pub fn new(settings: Settings) -> Self {
        PortionEncoder { settings, held: Vec::new(), begun: None, contents: 0 }
    }

    /// Returns the number of bytes of the block so far.
    pub fn contents(&self) -> u64 {
        self.contents
    }

    /// Encodes more contents of the block.
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub fn push(&mut self, portion: &[u8]) -> Result<(), NoMemory> {
        self.contents += portion.len() as u64;
        if let Some(begun) = &mut self.begun {
            return begun.push(portion);
        }
        make_room(&mut self.held, portion.len())?;
        self.held.extend_from_slice(portion);
        if self.contents >= self.settings.dictionary().into() {
            self.begun = Some(self.begin()?);
        }
        Ok(())
    }

    /// Ends the block. The next portion begins another one.
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push).
    ///
    /// # Panics
    ///
    /// As [`push`](Self::push).
    pub fn finish(&mut self) -> Result<EncodedBlock, NoMemory> {
        let begun = self.begun.take().map_or_else(|| self.begin(), Ok)?;
        let Begun { dictionary, encoding, sum, mut bytes } = begun;
        encoding.finish(&mut bytes)?;
        Ok(EncodedBlock::new(dictionary, bytes, mem::take(&mut self.contents), &sum.finish()))
    }

    /// Begins to encode the block with the bytes that are held.
    fn begin(&mut self) -> Result<Begun, NoMemory> {
        let dictionary = self.settings.dictionary_for(self.held.len());
        let encoding = Encoding::new(&self.settings.filters(dictionary), dictionary)?;
        let mut begun = Begun { dictionary, encoding, sum: Sum::new(self.settings.check), bytes: Vec::new() };
        begun.push(&mem::take(&mut self.held))?;
        Ok(begun)
    }
}

impl fmt::Debug for PortionEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PortionEncoder").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").field("settings", &self.settings).finish_non_exhaustive()
    }
}

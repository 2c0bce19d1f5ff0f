//! Encoding of members.

use std::fmt;

use crc32fast::hash as crc32;
use liblzma::stream::{Filters, LzmaOptions, MatchFinder, Mode};

use super::header::{DICTIONARIES, Trailer, header};
use super::{HEADER_LEN, TRAILER_LEN};
use crate::lzma;
use crate::memory::{NoMemory, make_room};

/// The settings of an encoder, which determine how hard it searches for repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// The size of the dictionary in bytes, 4 KiB to 512 MiB: the greatest distance of a match.
    pub dictionary_size: u32,
    /// The length in bytes at which a match is long enough to end the search, 5 to 273.
    pub match_length: u32,
    /// The kind of search.
    pub search: Search,
}

/// The kind of search for repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Search {
    /// Searches hash chains, and takes the first good match.
    Quick,
    /// Searches binary trees, and compares the costs of the matches found.
    Thorough,
}

/// The settings of the levels: the dictionary in KiB, as in lzip 1.23 (its manual, *Invoking lzip*), and a search that
/// makes files no larger than those of lzip. From level 3 on it uses lzip's match lengths (at 6 one more, or files of
/// source code become 0.014 % larger), and below it hash chains, which find more in the same time.
const LEVELS: [(u32, u32, Search); 10] = [
    (64, 16, Search::Quick),
    (1 << 10, 48, Search::Quick),
    (3 << 9, 64, Search::Quick),
    (2 << 10, 8, Search::Thorough),
    (3 << 10, 12, Search::Thorough),
    (4 << 10, 20, Search::Thorough),
    (8 << 10, 37, Search::Thorough),
    (16 << 10, 68, Search::Thorough),
    (24 << 10, 132, Search::Thorough),
    (32 << 10, 273, Search::Thorough),
];

impl Settings {
    /// Returns the settings of a level, 0 to 9.
    ///
    /// # Panics
    ///
    /// If `level` is above 9.
    pub fn of_level(level: u32) -> Settings {
        let level = LEVELS.get(level as usize).expect("the levels of lzip are 0 to 9");
        let &(dictionary, match_length, search) = level;
        Settings { dictionary_size: dictionary << 10, match_length, search }
    }

    /// Returns a suitable size of a member's contents in bytes: twice the dictionary, at least 1 MiB, as in plzip.
    pub fn block_size(&self) -> usize {
        (2 * self.dictionary_size as usize).max(1 << 20)
    }

    /// Returns the memory that an encoder takes, in bytes, without input and output.
    pub fn memory(&self) -> u64 {
        lzma::encoder_memory(self.dictionary_size)
    }
}

/// An encoder of members, each from one block of data.
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
        assert!(DICTIONARIES.contains(&settings.dictionary_size), "a dictionary has 4 KiB to 512 MiB");
        assert!((5..=273).contains(&settings.match_length), "a match is 5 to 273 bytes long");
        Encoder { settings }
    }

    /// Encodes `data` as a member.
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    pub fn encode(&mut self, data: &[u8]) -> Result<Vec<u8>, NoMemory> {
        self.encode_into(data, Vec::new())
    }

    /// As [`encode`](Self::encode), but drops the contents of `bytes` and uses its allocation.
    ///
    /// # Errors
    ///
    /// As [`encode`](Self::encode).
    pub fn encode_into(&mut self, data: &[u8], bytes: Vec<u8>) -> Result<Vec<u8>, NoMemory> {
        self.encode_watched(data, bytes, &mut |_| {})
    }

    /// As [`encode_into`](Self::encode_into), but calls `watch` repeatedly with the number of bytes of `data` that were
    /// encoded since the last call. The sum is the length of `data`.
    ///
    /// # Errors
    ///
    /// As [`encode`](Self::encode).
    pub fn encode_watched(
        &mut self,
        data: &[u8],
        mut bytes: Vec<u8>,
        watch: &mut dyn FnMut(usize),
    ) -> Result<Vec<u8>, NoMemory> {
        let least = *DICTIONARIES.start() as usize;
        let dictionary = (self.settings.dictionary_size as usize).min(data.len().max(least)) as u32;
        bytes.clear();
        make_room(&mut bytes, HEADER_LEN + data.len() / 2 + TRAILER_LEN)?;
        bytes.extend_from_slice(&header(dictionary));
        lzma::encode((&self.filters(dictionary), dictionary), data, &mut bytes, watch)?;
        let member_size = (bytes.len() + TRAILER_LEN) as u64;
        Trailer { checksum: crc32(data), data_size: data.len() as u64, member_size }.write(&mut bytes);
        Ok(bytes)
    }

    fn filters(&self, dictionary: u32) -> Filters {
        let (mode, finder) = match self.settings.search {
            Search::Quick => (Mode::Fast, MatchFinder::HashChain4),
            Search::Thorough => (Mode::Normal, MatchFinder::BinaryTree4),
        };
        let mut options = LzmaOptions::new();
        options.literal_context_bits(3).literal_position_bits(0).position_bits(2);
        options.dict_size(dictionary).nice_len(self.settings.match_length).mode(mode).match_finder(finder);
        let mut filters = Filters::new();
        filters.lzma1(&options);
        filters
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").field("settings", &self.settings).finish()
    }
}

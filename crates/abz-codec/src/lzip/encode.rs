//! Data into members.

use std::fmt;

use libdeflater::crc32;
use liblzma::stream::{Filters, LzmaOptions, MatchFinder, Mode};

use super::header::{DICTIONARIES, Trailer, header};
use super::{HEADER_LEN, TRAILER_LEN};
use crate::lzma;
use crate::memory::{NoMemory, make_room};

/// How hard to look for what repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// How far back, in bytes, 4 KiB to 512 MiB.
    pub dictionary_size: u32,
    /// How long a match is long enough, in bytes, 5 to 273.
    pub match_length: u32,
    /// How.
    pub search: Search,
}

/// How to look for what repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Search {
    /// Follow chains, and take the first good match.
    Quick,
    /// Follow trees, and weigh what is found.
    Thorough,
}

/// What the levels stand for: a dictionary in KiB, that of lzip 1.23 (its manual, *Invoking lzip*), and a search that
/// makes files no larger than those of lzip: with its match lengths from level 3 on (at 6 one more, or files of source
/// code come out 0.014 % larger), with chains below, which find more in the same time.
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
    /// The settings of a level, 0 to 9.
    ///
    /// # Panics
    ///
    /// If there is no such level.
    pub fn of_level(level: u32) -> Settings {
        let level = LEVELS.get(level as usize).expect("the levels of lzip are 0 to 9");
        let &(dictionary, match_length, search) = level;
        Settings { dictionary_size: dictionary << 10, match_length, search }
    }

    /// The size of a member's contents that suits the dictionary, as plzip has it: twice as much, at least 1 MiB.
    pub fn block_size(&self) -> usize {
        (2 * self.dictionary_size as usize).max(1 << 20)
    }

    /// What an encoder takes, in bytes, beside the data and what comes of it.
    pub fn memory(&self) -> u64 {
        lzma::encoder_memory(self.dictionary_size)
    }
}

/// Encodes members. It keeps nothing from one to the next.
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
        assert!(DICTIONARIES.contains(&settings.dictionary_size), "a dictionary has 4 KiB to 512 MiB");
        assert!((5..=273).contains(&settings.match_length), "a match is 5 to 273 bytes long");
        Encoder { settings }
    }

    /// The member whose contents are `data`.
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    pub fn encode(&mut self, data: &[u8]) -> Result<Vec<u8>, NoMemory> {
        self.encode_into(data, Vec::new())
    }

    /// As [`encode`](Self::encode), into the allocation of `bytes`, whose contents are dropped.
    ///
    /// # Errors
    ///
    /// As [`encode`](Self::encode).
    pub fn encode_into(&mut self, data: &[u8], bytes: Vec<u8>) -> Result<Vec<u8>, NoMemory> {
        self.encode_watched(data, bytes, &mut |_| {})
    }

    /// As [`encode_into`](Self::encode_into), and tells `watch` again and again how many more bytes of `data` are encoded: in
    /// the end, all.
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

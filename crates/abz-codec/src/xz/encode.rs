//! Data into blocks.

use std::fmt;

use liblzma::stream::{Filters, LzmaOptions, PRESET_EXTREME};

use super::check::Check;
use super::header::BlockHeader;
use crate::lzma;

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

    /// What an encoder takes, in bytes, beside the data and what comes of it.
    pub fn memory(&self) -> u64 {
        lzma::encoder_memory(self.dictionary())
    }
}

/// A block as it stands in a stream. [`StreamWriter::write`](super::StreamWriter::write) puts it there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodedBlock {
    pub(super) bytes: Vec<u8>,
    /// Without the padding.
    pub(super) unpadded: u64,
    pub(super) uncompressed: u64,
}

impl EncodedBlock {
    /// Its bytes, to use their allocation again.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Encodes blocks. It keeps nothing from one to the next but an allocation.
pub struct Encoder {
    settings: Settings,
    data: Vec<u8>,
}

impl Encoder {
    /// An encoder.
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub fn new(settings: Settings) -> Self {
        assert!((4 << 10..=3 << 29).contains(&settings.dictionary()), "a dictionary has 4 KiB to 1.5 GiB");
        Encoder { settings, data: Vec::new() }
    }

    /// Encodes a block whose contents are `data`, into the allocation of `bytes`, whose contents are dropped.
    pub fn encode_into(&mut self, data: &[u8], bytes: Vec<u8>) -> EncodedBlock {
        self.encode_watched(data, bytes, &mut |_| {})
    }

    /// As [`encode_into`](Self::encode_into), and tells `watch` again and again how many more bytes of `data` are encoded: in
    /// the end, all.
    pub fn encode_watched(
        &mut self,
        data: &[u8],
        mut bytes: Vec<u8>,
        watch: &mut dyn FnMut(usize),
    ) -> EncodedBlock {
        let Settings { level, extreme, check, .. } = self.settings;
        let dictionary = (self.settings.dictionary() as usize).min(data.len().max(4 << 10)) as u32;
        let preset = level | if extreme { PRESET_EXTREME } else { 0 };
        let mut options = LzmaOptions::new_preset(preset).expect("the level was checked");
        options.dict_size(dictionary);
        let mut filters = Filters::new();
        filters.lzma2(&options);
        self.data.clear();
        lzma::encode(&filters, data, &mut self.data, watch);

        let (compressed, uncompressed) = (self.data.len() as u64, data.len() as u64);
        bytes.clear();
        bytes.extend_from_slice(&BlockHeader::lzma2(dictionary, compressed, uncompressed));
        let unpadded = (bytes.len() + check.len()) as u64 + compressed;
        bytes.reserve(self.data.len() + 4 + check.len());
        bytes.extend_from_slice(&self.data);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend_from_slice(&check.of(data));
        EncodedBlock { bytes, unpadded, uncompressed }
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").field("settings", &self.settings).finish_non_exhaustive()
    }
}

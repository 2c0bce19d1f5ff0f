//! The older format of LZMA, `.lzma`. The code for xz reads it. One thread writes it as one stream, for programs that
//! read no other format.

use std::ops::RangeInclusive;

use abz_codec::xz::{self, AloneEncoder};
use anabranch::{Recycled, Recycler};

use super::reads::{Names, Reads};
use super::writes::Writes;
use super::xz::{Xz, settings};
use crate::compression::Compression;
use crate::decompression::Decompression;
use crate::error::Error;
use crate::format::{Format, Setting};
use crate::pipes::cut::Portions;
use crate::pipes::decode;
use crate::pipes::encode::{self, Join};
use crate::run_options::{Advance, Equipment};

/// The number of bytes read at once.
const PORTION: usize = 256 << 10;

pub(super) struct Lzma;

impl Reads for Lzma {
    fn names(&self) -> &'static Names {
        &Names { name: "lzma", suffix: ".lzma", suffixes: &[(".lzma", "")] }
    }

    fn magic(&self) -> &'static [u8] {
        // The usual properties, and a dictionary of a multiple of 64 KiB.
        b"\x5d\0\0"
    }

    fn begins(&self, start: &[u8]) -> bool {
        xz::is_lzma(start)
    }

    fn may_begin(&self, start: &[u8]) -> bool {
        // The rest of the header is not always the same.
        start.len() < Format::MAGIC_LEN
            && (self.magic().starts_with(start) || start.starts_with(self.magic()))
    }

    fn asks_for_memory(&self) -> bool {
        true
    }

    fn window(&self, workers: usize) -> usize {
        Xz.window(workers)
    }

    fn decode_steps<'a>(
        &self,
        how: &Decompression,
        start: &[u8],
        equipment: Equipment<'a>,
    ) -> decode::Steps<'a> {
        Xz.decode_steps(how, start, equipment)
    }
}

impl Writes for Lzma {
    fn levels(&self) -> RangeInclusive<u32> {
        Xz.levels()
    }

    fn default_level(&self) -> u32 {
        Xz.default_level()
    }

    fn has(&self, setting: Setting) -> bool {
        matches!(setting, Setting::DictionarySize | Setting::Extreme)
    }

    fn block_len(&self, _: &Compression) -> usize {
        PORTION
    }

    fn dictionary(&self, how: &Compression) -> Option<u32> {
        Xz.dictionary(how)
    }

    fn memory(&self, how: &Compression) -> u64 {
        settings(how).memory()
    }

    fn encoders(&self, _: &Compression) -> usize {
        1
    }

    fn most_blocks(&self, _: &Compression) -> usize {
        1
    }

    fn encode_steps<'a>(&self, how: Compression, equipment: Equipment<'a>) -> encode::Steps<'a> {
        let (settings, advance) = (settings(&how), equipment.advance);
        encode::Steps::portioned(Portions::new(PORTION, Recycler::new(1, Vec::new)), move || {
            let encoder = AloneEncoder::new(&settings).map_err(Error::Memory)?;
            Ok(Alone { encoder, bytes: Vec::new(), advance })
        })
    }
}

/// A file that is being encoded.
struct Alone<'a> {
    encoder: AloneEncoder,
    bytes: Vec<u8>,
    advance: Advance<'a>,
}

impl Join<Recycled<Vec<u8>>> for Alone<'_> {
    fn add(&mut self, portion: Recycled<Vec<u8>>) -> Result<(), Error> {
        self.encoder.push(&portion, &mut self.bytes).map_err(Error::Memory)?;
        self.advance.by(portion.len());
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<u8>, Error> {
        self.encoder.finish(&mut self.bytes).map_err(Error::Memory)?;
        Ok(self.bytes)
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }
}

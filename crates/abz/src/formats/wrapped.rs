//! zlib and zip files: deflate data, written by the code for gzip with a different header and trailer, and read as one
//! stream.

use std::ops::RangeInclusive;

use abz_codec::gzip::Layout;
use abz_codec::legacy::{zip, zlib};
use abz_codec::parts;

use super::gzip::Gzip;
use super::reads::{Names, Reads};
use super::serial::Serial;
use super::writes::Writes;
use crate::compression::{Compressed, Compression};
use crate::decompression::Decompression;
use crate::error::Error;
use crate::format::Setting;
use crate::pipes::{decode, encode};
use crate::positional::{Reading, Writing};
use crate::run_options::{Equipment, RunOptions};

/// A format with the decoder `S`, whose files have `layout`.
pub(super) struct Wrapped<S> {
    layout: Layout,
    read: Serial<S>,
    /// Names with the format's suffix denote a compressed tar archive.
    holds_archives: bool,
}

/// zlib (RFC 1950).
pub(super) const ZLIB: Wrapped<zlib::Decoder> =
    Wrapped { layout: Layout::Zlib, read: Serial::NEW, holds_archives: true };

/// zip, with one file. A name that ends with `.zip` does not denote a compressed tar archive.
pub(super) const ZIP: Wrapped<zip::Decoder> =
    Wrapped { layout: Layout::Zip, read: Serial::NEW, holds_archives: false };

impl<S> Wrapped<S> {
    /// The same compression as one of gzip with this layout.
    fn as_gzip(&self, how: &Compression) -> Compression {
        Compression { layout: self.layout, ..how.clone() }
    }
}

impl<S: parts::Serial + Default + Send + 'static> Reads for Wrapped<S> {
    fn names(&self) -> &'static Names {
        self.read.names()
    }

    fn magic(&self) -> &'static [u8] {
        self.read.magic()
    }

    fn begins(&self, start: &[u8]) -> bool {
        self.read.begins(start)
    }

    fn decode_steps<'a>(
        &self,
        how: &Decompression,
        start: &[u8],
        equipment: Equipment<'a>,
    ) -> decode::Steps<'a> {
        self.read.decode_steps(how, start, equipment)
    }
}

impl<S: parts::Serial + Default + Send + 'static> Writes for Wrapped<S> {
    fn levels(&self) -> RangeInclusive<u32> {
        Gzip.levels()
    }

    fn default_level(&self) -> u32 {
        Gzip.default_level()
    }

    fn has(&self, setting: Setting) -> bool {
        setting != Setting::Layout && Gzip.has(setting)
    }

    fn block_len(&self, how: &Compression) -> usize {
        Gzip.block_len(&self.as_gzip(how))
    }

    fn largest_block(&self) -> Option<usize> {
        Gzip.largest_block()
    }

    fn memory(&self, how: &Compression) -> u64 {
        Gzip.memory(&self.as_gzip(how))
    }

    fn is_written_at(&self) -> bool {
        Gzip.is_written_at()
    }

    fn blocks_are_read_at(&self) -> bool {
        Gzip.blocks_are_read_at()
    }

    fn tells_origin(&self) -> bool {
        self.layout == Layout::Zip
    }

    fn holds_archives(&self) -> bool {
        self.holds_archives
    }

    fn has_data_of_its_own(&self) -> bool {
        false
    }

    fn encode_steps<'a>(&self, how: Compression, equipment: Equipment<'a>) -> encode::Steps<'a> {
        Gzip.encode_steps(self.as_gzip(&how), equipment)
    }

    fn compress<'a>(
        &self,
        how: &'a Compression,
        options: &RunOptions<'a>,
        input: Reading<'a>,
        output: Writing<'_>,
    ) -> Result<Compressed, Error> {
        Gzip.compress(&self.as_gzip(how), options, input.shortened(), output)
    }
}

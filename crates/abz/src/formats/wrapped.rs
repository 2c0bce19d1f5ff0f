//! zlib and zip files: deflate data, written by the code for gzip with a different header and trailer, and read as one
//! stream.

use std::ops::RangeInclusive;

use abz_codec::gzip::Layout;
use abz_codec::legacy::{zip, zlib};
use abz_codec::parts;
use anabranch::Plan;

use super::gzip::Gzip;
use super::reads::{Names, Reads};
use super::serial::Serial;
use super::writes::{Setting, Writes};
use crate::decompress::Decompression;
use crate::error::Error;
use crate::formats::writes::{Compressed, Compression};
use crate::positional::{Reading, Writing};
use crate::reader::line::Decode;
use crate::run::Run;
use crate::run_options::RunOptions;
use crate::threads::Threads;
use crate::writer::line::Encode;

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

    fn begins(&self, start: &[u8]) -> bool {
        self.read.begins(start)
    }

    fn decompress(&self, run: Run<'_>) -> Result<(), Error> {
        self.read.decompress(run)
    }

    fn read(&self, how: &Decompression, start: &[u8], threads: Option<Threads>) -> Box<dyn Decode> {
        self.read.read(how, start, threads)
    }

    fn plan_to_read(&self, how: &Decompression) -> Plan {
        self.read.plan_to_read(how)
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

    fn compress(
        &self,
        how: &Compression,
        options: RunOptions<'_>,
        input: Reading<'_>,
        output: Writing<'_>,
    ) -> Result<Compressed, Error> {
        Gzip.compress(&self.as_gzip(how), options, input, output)
    }

    fn encode(&self, how: &Compression, threads: Option<Threads>) -> Result<Box<dyn Encode>, Error> {
        Gzip.encode(&self.as_gzip(how), threads)
    }

    fn plan_to_write(&self, how: &Compression) -> Plan {
        Gzip.plan_to_write(&self.as_gzip(how))
    }
}

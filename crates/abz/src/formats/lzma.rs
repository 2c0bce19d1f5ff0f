//! The older format of LZMA, `.lzma`. The code for xz reads it. One thread writes it as one stream, for programs that
//! read no other format.

use std::ops::RangeInclusive;

use abz_codec::xz::{self, AloneEncoder};
use anabranch::{Plan, Pool, Recycled, Recycler};

use super::reads::{Names, Reads};
use super::writes::{Compressed, Compression, Setting, Writes};
use super::xz::{Xz, settings};
use crate::decompress::Decompression;
use crate::error::Error;
use crate::pipes;
use crate::pipes::encode::{self, Join, Portioned};
use crate::positional::{Reading, Writing};
use crate::reader::line::Decode;
use crate::run::Run;
use crate::run_options::{Advance, RunOptions};
use crate::threads::Threads;
use crate::writer::line::{Encode, EncodeLine};

/// The number of bytes read at once.
const PORTION: usize = 256 << 10;

pub(super) struct Lzma;

impl Reads for Lzma {
    fn names(&self) -> &'static Names {
        &Names { name: "lzma", suffix: ".lzma", suffixes: &[(".lzma", "")] }
    }

    fn begins(&self, start: &[u8]) -> bool {
        xz::is_lzma(start)
    }

    fn asks_for_memory(&self) -> bool {
        true
    }

    fn window(&self, workers: usize) -> usize {
        Xz.window(workers)
    }

    fn decompress(&self, run: Run<'_>) -> Result<(), Error> {
        Xz.decompress(run)
    }

    fn read(&self, how: &Decompression, start: &[u8], threads: Option<Threads>) -> Box<dyn Decode> {
        Xz.read(how, start, threads)
    }

    fn plan_to_read(&self, how: &Decompression) -> Plan {
        Xz.plan_to_read(how)
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

    fn compress(
        &self,
        how: &Compression,
        options: RunOptions<'_>,
        input: Reading<'_>,
        output: Writing<'_>,
    ) -> Result<Compressed, Error> {
        encode::run(steps(how, options.advance()), threads(options.pool), &options, input, output)
    }

    fn encode(&self, how: &Compression, _: Option<Threads>) -> Result<Box<dyn Encode>, Error> {
        EncodeLine::begin(steps(how, Advance::default()), 1, None)
    }

    fn plan_to_write(&self, how: &Compression) -> Plan {
        encode::plan(steps(how, Advance::default()), threads(None))
    }
}

/// One thread encodes.
fn threads(pool: Option<&Pool>) -> pipes::Threads<'_> {
    pipes::Threads { workers: 1, window: 1, pool }
}

/// Returns the steps of a file that is made.
fn steps<'a>(
    how: &Compression,
    advance: Advance<'a>,
) -> Portioned<impl Fn() -> Result<Alone<'a>, Error> + use<'a>> {
    let settings = settings(how);
    let join = move || {
        let encoder = AloneEncoder::new(&settings).map_err(Error::Memory)?;
        Ok(Alone { encoder, bytes: Vec::new(), advance })
    };
    Portioned { most: PORTION, buffers: Recycler::new(1, Vec::new), join }
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

    fn finish(mut self) -> Result<Vec<u8>, Error> {
        self.encoder.finish(&mut self.bytes).map_err(Error::Memory)?;
        Ok(self.bytes)
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }
}

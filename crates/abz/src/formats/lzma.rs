//! The older format of LZMA, `.lzma`. The code for xz reads it. One thread writes it as one stream, for programs that
//! read no other format.

use std::io::{self, Read, Write};
use std::iter;
use std::ops::RangeInclusive;
use std::sync::Arc;

use abz_codec::xz::{self, AloneEncoder};
use anabranch::{Plan, TryStream};

use super::reads::{Names, Reads};
use super::writes::{Compressed, Compression, Setting, Writes};
use super::xz::{Xz, settings};
use crate::count::Counted;
use crate::decompress::Decompression;
use crate::error::Error;
use crate::pipes::{begin, carry_out};
use crate::positional::{Reading, Writing};
use crate::reader::line::Decode;
use crate::run::Run;
use crate::run_options::RunOptions;
use crate::threads::Threads;
use crate::writer::coding::{Coding, Encode, Join};
use crate::writer::cut::Portions;

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
        let (mut input, output) = (input.in_order(), output.in_order(self.names().name));
        let (mut input, mut output) = (Counted::new(&mut *input), Counted::new(output));
        let write = |piece: Vec<u8>| output.write_all(&piece).map_err(Error::Write);
        carry_out(compress(how, &mut input, options), &options, write)?;
        output.flush().map_err(Error::Write)?;
        Ok(Compressed { read: input.bytes, written: output.bytes })
    }

    fn encode(&self, how: &Compression, _: Option<Threads>) -> Box<dyn Encode> {
        let coding = Coding {
            cut: Box::new(Portions(PORTION)),
            encoders: Arc::new(|| Box::new(Ok)),
            join: Box::new(Alone { settings: settings(how), encoder: None, bytes: Vec::new() }),
            window: 1,
        };
        coding.begin(None)
    }

    fn plan_to_write(&self, how: &Compression) -> Plan {
        compress(how, io::empty(), RunOptions::default()).plan()
    }
}

/// Encodes portions as they come.
struct Alone {
    settings: xz::Settings,
    encoder: Option<AloneEncoder>,
    bytes: Vec<u8>,
}

impl Alone {
    /// Returns the encoder, which begins the file when it is first needed.
    fn encoder(&mut self) -> Result<AloneEncoder, Error> {
        match self.encoder.take() {
            Some(encoder) => Ok(encoder),
            None => AloneEncoder::new(&self.settings).map_err(Error::Memory),
        }
    }
}

impl Join<Vec<u8>> for Alone {
    fn add(&mut self, portion: Vec<u8>) -> Result<(), Error> {
        let mut encoder = self.encoder()?;
        encoder.push(&portion, &mut self.bytes).map_err(Error::Memory)?;
        self.encoder = Some(encoder);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.encoder()?.finish(&mut self.bytes).map_err(Error::Memory)
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }
}

/// Compresses `input`.
fn compress<'a, R: Read + Send + 'a>(
    how: &Compression,
    input: R,
    options: RunOptions<'a>,
) -> TryStream<'a, Vec<u8>, Error> {
    let advance = options.advance();
    let pieces = pieces(how, input, move |len| advance.by(len));
    begin(pieces, "abz compress", 1, 1, options.pool).name("read and encode")
}

/// The compressed file, piece by piece. `watch` receives the number of further bytes encoded.
fn pieces<R: Read, W: Fn(usize)>(
    how: &Compression,
    mut input: R,
    watch: W,
) -> impl Iterator<Item = Result<Vec<u8>, Error>> + use<R, W> {
    let settings = settings(how);
    let (mut state, mut portion) = (Some(None::<AloneEncoder>), Vec::new());
    let mut next = move || {
        let Some(encoder) = &mut state else { return Ok(None) };
        let encoder = match encoder {
            Some(encoder) => encoder,
            None => encoder.insert(AloneEncoder::new(&settings).map_err(Error::Memory)?),
        };
        let mut piece = Vec::new();
        while piece.is_empty() {
            portion.clear();
            input.by_ref().take(PORTION as u64).read_to_end(&mut portion).map_err(Error::of_input)?;
            if portion.is_empty() {
                let last = state.take().flatten();
                last.map_or(Ok(()), |encoder| encoder.finish(&mut piece)).map_err(Error::Memory)?;
                break;
            }
            encoder.push(&portion, &mut piece).map_err(Error::Memory)?;
            watch(portion.len());
        }
        Ok(Some(piece))
    };
    iter::from_fn(move || next().transpose())
}

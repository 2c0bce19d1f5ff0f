//! xz: blocks compressed to one stream, and streams decompressed.

use std::io::{self, Read, Write};
use std::iter;
use std::ops::RangeInclusive;

use abz_codec::Block;
use abz_codec::access::{Kind, Part};
use abz_codec::xz::{self, EncodedBlock, Encoder, Scanner, Settings, StreamWriter, Survey};
use anabranch::{Plan, Recycler, TryStream};

use super::reads::{Behind, Names, ReadSeek, Reads};
use super::writes::{Setting, Writes};
use crate::count::Counted;
use crate::decompress::Decompression;
use crate::error::Error;
use crate::formats::writes::{Compressed, Compression};
use crate::pipes::{LentBlock, begin, carry_out, parts};
use crate::positional::Along;
use crate::positional::{Reading, Writing};
use crate::reader::line::Decode;
use crate::run::Run;
use crate::run_options::{RunOptions, at_work};
use crate::threads::Threads;
use crate::writer::coding::{self, Coding, Encode, File, Joined};
use crate::writer::cut;

pub(super) struct Xz;

impl Reads for Xz {
    fn names(&self) -> &'static Names {
        &Names { name: "xz", suffix: ".xz", suffixes: &[(".xz", ""), (".txz", ".tar")] }
    }

    fn begins(&self, start: &[u8]) -> bool {
        start.starts_with(&xz::MAGIC)
    }

    fn asks_for_memory(&self) -> bool {
        true
    }

    fn window(&self, workers: usize) -> usize {
        parts::window(workers)
    }

    fn decompress(&self, run: Run<'_>) -> Result<(), Error> {
        parts::run(scanner(run.how, run.how.workers), self.window(run.how.workers), run)
    }

    fn read(&self, how: &Decompression, _: &[u8], threads: Option<Threads>) -> Box<dyn Decode> {
        parts::read(scanner(how, how.workers), self.window(how.workers), threads)
    }

    fn plan_to_read(&self, how: &Decompression) -> Plan {
        parts::plan(scanner(how, how.workers), how.workers, self.window(how.workers))
    }

    fn contents(&self, file: &mut dyn ReadSeek) -> io::Result<Option<u64>> {
        Ok(Survey::of(&mut { file })?.map(|survey| survey.uncompressed))
    }

    fn parts(&self, file: &mut Along<'_>) -> io::Result<Option<Vec<Part>>> {
        xz::parts(file)
    }

    fn decompress_from(&self, kind: Kind, from: Behind, run: Run<'_>) -> Result<bool, Error> {
        let Kind::XzBlock { check, stream } = kind else { return Ok(false) };
        let scanner = scanner(run.how, run.how.workers).at(check, stream, from.parts, from.bytes);
        parts::run(scanner, self.window(run.how.workers), run).map(|()| true)
    }
}

impl Writes for Xz {
    fn levels(&self) -> RangeInclusive<u32> {
        0..=9
    }

    fn default_level(&self) -> u32 {
        6
    }

    fn has(&self, setting: Setting) -> bool {
        use Setting::{BlockSize, Check, DictionarySize, Extreme, Rsyncable};
        matches!(setting, BlockSize | Check | DictionarySize | Extreme | Rsyncable)
    }

    fn block_len(&self, how: &Compression) -> usize {
        how.block_size.unwrap_or_else(|| settings(how).block_size())
    }

    fn dictionary(&self, how: &Compression) -> Option<u32> {
        Some(settings(how).dictionary())
    }

    fn memory(&self, how: &Compression) -> u64 {
        // A block that is cut by its contents is held before it is encoded, even with one worker.
        let block = if how.rsyncable && how.workers == 1 { self.block_len(how) as u64 } else { 0 };
        settings(how).memory() + block
    }

    /// One worker holds only the encoded block.
    fn most_blocks(&self, how: &Compression) -> usize {
        if how.workers == 1 { 1 } else { self.window(how.workers) }
    }

    fn compress(
        &self,
        how: &Compression,
        options: RunOptions<'_>,
        input: Reading<'_>,
        output: Writing<'_>,
    ) -> Result<Compressed, Error> {
        let (mut input, output) = (input.in_order(), output.in_order(self.names().name));
        let mut input = Counted::new(&mut *input);
        let mut file = StreamWriter::new(Counted::new(output), how.lzma.check);
        let write = |block: EncodedBlock| file.write(&block).map_err(Error::Write);
        match is_encoded_as_it_comes(how) {
            true => carry_out(compress_as_it_comes(how, &mut input, options), &options, write)?,
            false => carry_out(compress(how, &mut input, options), &options, write)?,
        }
        let mut output = file.finish().map_err(Error::Write)?;
        output.flush().map_err(Error::Write)?;
        Ok(Compressed { read: input.bytes, written: output.bytes })
    }

    fn encode(&self, how: &Compression, threads: Option<Threads>) -> Box<dyn Encode> {
        let settings = settings(how);
        let encoders = Recycler::new(at_work(how.workers), move || Encoder::new(settings));
        let coding = Coding {
            cut: cut::blocks(how, how.window()),
            encoders: coding::kept(encoders, |encoder, block: LentBlock| {
                encoder.encode_into(&block.data, Vec::new()).map_err(Error::Memory)
            }),
            join: Box::new(Joined::new(StreamWriter::new(Vec::new(), how.lzma.check))),
            window: how.window(),
        };
        coding.begin(threads)
    }

    fn plan_to_write(&self, how: &Compression) -> Plan {
        match is_encoded_as_it_comes(how) {
            true => compress_as_it_comes(how, io::empty(), RunOptions::default()).plan(),
            false => compress(how, io::empty(), RunOptions::default()).plan(),
        }
    }
}

impl File for StreamWriter<Vec<u8>> {
    type Block = EncodedBlock;

    fn add(&mut self, block: EncodedBlock) -> io::Result<()> {
        self.write(&block)
    }

    fn finish(self) -> io::Result<Vec<u8>> {
        self.finish()
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        self.get_mut()
    }
}

/// A scanner with the memory for `workers` workers.
fn scanner(how: &Decompression, workers: usize) -> Scanner {
    Scanner::new().within(parts::room(how, workers)).giving(how.giving).lenient(how.xz)
}

/// The encoder settings of a compression.
pub(super) fn settings(how: &Compression) -> Settings {
    let lzma = &how.lzma;
    Settings {
        level: how.level,
        extreme: lzma.extreme,
        dictionary_size: lzma.dictionary_size,
        check: lzma.check,
    }
}

/// Compresses `input`.
fn compress<'a, R: Read + Send + 'a>(
    how: &'a Compression,
    input: R,
    options: RunOptions<'a>,
) -> TryStream<'a, EncodedBlock, Error> {
    let (workers, settings) = (how.workers, settings(how));
    let blocks = how.blocks(input).map(|block| block.map_err(Error::of_input));
    let advance = options.advance();
    begin(blocks, "abz compress", workers, parts::window(workers), options.pool)
        .try_map_with(
            move || Encoder::new(settings),
            move |encoder, block: Block| {
                let encoded = encoder.encode_watched(&block.data, Vec::new(), &mut |len| advance.by(len));
                encoded.map_err(Error::Memory)
            },
        )
        .name("encode")
}

/// Returns true if a single worker encodes a block while it reads it. That takes less memory, and gives the same
/// output.
fn is_encoded_as_it_comes(how: &Compression) -> bool {
    how.workers == 1 && !how.rsyncable
}

/// As [`compress`], by one worker that encodes while it reads.
fn compress_as_it_comes<'a, R: Read + Send + 'a>(
    how: &'a Compression,
    mut input: R,
    options: RunOptions<'a>,
) -> TryStream<'a, EncodedBlock, Error> {
    let (mut encoder, advance, most) = (Encoder::new(settings(how)), options.advance(), Xz.block_len(how));
    let blocks = iter::from_fn(move || {
        let block = encoder.encode_from(&mut input, most, Vec::new(), &mut |len| advance.by(len));
        block.map_err(Error::of_input).transpose()
    });
    begin(blocks, "abz compress", 1, 1, options.pool).name("read and encode")
}

//! bzip2: blocks compressed to one stream, and streams decompressed.

use std::io::{Read, Write};
use std::mem;
use std::ops::{Range, RangeInclusive};

use abz_codec::access::{Kind, Part};
use abz_codec::bzip2::{
    Assembler, Decoded, Decoder, EncodedBlock, Encoder, Level, Packed, Salvager, Scanner, Segment,
    StreamWriter,
};
use anabranch::Plan;

use super::reads::{Names, Reads};
use super::writes::{Setting, Writes};
use crate::decompress::Decompression;
use crate::error::Error;
use crate::formats::writes::{Compressed, Compression};
use crate::index_builder::{IndexBuilder, Indexed};
use crate::pipes::cut::Runs;
use crate::pipes::decode::{self, Contents, DecodeSteps, Join};
use crate::pipes::encode::{self, EncodeSteps};
use crate::pipes::inputs::{self, Input, Inputs, Telling};
use crate::pipes::{Threads, window};
use crate::positional::Along;
use crate::positional::{ReadAt, Reading, Writing};
use crate::reader::line::{Decode, DecodeLine};
use crate::recovery::{self, Recover};
use crate::run::Run;
use crate::run_options::{Advance, RunOptions};
use crate::tools::{Lender, Tool};
use crate::writer::line::{Encode, EncodeLine};

pub(super) struct Bzip2;

impl Reads for Bzip2 {
    fn names(&self) -> &'static Names {
        &Names {
            name: "bzip2",
            suffix: ".bz2",
            suffixes: &[(".bz2", ""), (".bz", ""), (".tbz2", ".tar"), (".tbz", ".tar")],
        }
    }

    fn begins(&self, start: &[u8]) -> bool {
        start.starts_with(b"BZh")
    }

    fn decompress(&self, run: Run<'_>) -> Result<(), Error> {
        let Run { how, options, input, output, .. } = run;
        assemble(how, options, input, |_, contents| contents.write_to(&mut *output))
    }

    fn read(
        &self,
        how: &Decompression,
        _: &[u8],
        threads: Option<crate::threads::Threads>,
    ) -> Box<dyn Decode> {
        let window = window(how.workers);
        let steps = Blocks { scanner: Scanner::default(), lender: Lender::of_tools() };
        DecodeLine::new(steps, inputs::buffers(window), window, threads)
    }

    fn plan_to_read(&self, how: &Decompression) -> Plan {
        let threads = Threads { workers: how.workers, window: window(how.workers), pool: None };
        decode::plan(Blocks { scanner: Scanner::default(), lender: Lender::default() }, threads)
    }

    /// The parts are the blocks, whose sizes are known once they are decoded.
    fn index(
        &self,
        how: &Decompression,
        options: RunOptions<'_>,
        input: &dyn ReadAt,
        _spacing: u64,
        output: &mut (dyn Write + Send),
    ) -> Result<Indexed, Error> {
        let mut builder = IndexBuilder::new(Vec::new(), output);
        let done = assemble(how, &options, Along::new(input), |join, contents| {
            let start = builder.position();
            contents.write_to(&mut builder)?;
            builder.end_part(join.part(start..builder.position()).expect("each block is a part"));
            Ok(())
        });
        let garbage_at = match done {
            Ok(()) => None,
            Err(error) => Some(error.is_garbage_at(how).ok_or(error)?),
        };
        Ok(Indexed { garbage_at, ..builder.finish() })
    }

    fn recover(&self) -> Option<Recover> {
        Some(recovery::carry::<Salvager>)
    }
}

impl Writes for Bzip2 {
    fn levels(&self) -> RangeInclusive<u32> {
        1..=9
    }

    fn default_level(&self) -> u32 {
        9
    }

    fn has(&self, _: Setting) -> bool {
        false
    }

    fn block_len(&self, how: &Compression) -> usize {
        level(how).block_size()
    }

    fn memory(&self, how: &Compression) -> u64 {
        10 * level(how).block_size() as u64
    }

    fn is_written_at(&self) -> bool {
        true
    }

    fn compress(
        &self,
        how: &Compression,
        options: RunOptions<'_>,
        input: Reading<'_>,
        output: Writing<'_>,
    ) -> Result<Compressed, Error> {
        let steps = Packs { level: level(how), advance: options.advance() };
        encode::run(steps, how.threads(options.pool), &options, input, output)
    }

    fn encode(
        &self,
        how: &Compression,
        threads: Option<crate::threads::Threads>,
    ) -> Result<Box<dyn Encode>, Error> {
        EncodeLine::begin(Packs { level: level(how), advance: Advance::default() }, how.window(), threads)
    }

    fn plan_to_write(&self, how: &Compression) -> Plan {
        encode::plan(Packs { level: level(how), advance: Advance::default() }, how.threads(None))
    }
}

/// The steps of a file that is made: blocks are packed while they are cut, because that determines where they end.
struct Packs<'a> {
    level: Level,
    advance: Advance<'a>,
}

impl<'a> EncodeSteps for Packs<'a> {
    type Block = Packed;
    /// It cannot move to another thread.
    type Encoder = Encoder;
    type Encoded = EncodedBlock;
    type Cut = Runs<'a>;
    type Join = Streams;

    fn cut(&self) -> Runs<'a> {
        Runs::new(self.level, self.advance)
    }

    fn encoders(&self) -> impl Fn() -> Encoder + Send + Sync + use<'a> {
        Encoder::new
    }

    fn encode(encoder: &mut Encoder, block: Packed) -> Result<EncodedBlock, Error> {
        encoder.encode_into(&block, Vec::new()).map_err(Error::Memory)
    }

    fn join(&self) -> Result<Streams, Error> {
        Ok(Streams { level: self.level, stream: None, number: 0, bytes: Vec::new() })
    }
}

/// Joins blocks to one stream, or to several: a stream ends where the file is flushed, because its last bits are not known
/// before its end.
struct Streams {
    level: Level,
    /// The stream that has begun and not ended.
    stream: Option<StreamWriter<Vec<u8>>>,
    /// The number of streams that have begun.
    number: u64,
    /// The bytes of the streams that have ended.
    bytes: Vec<u8>,
}

impl Streams {
    fn stream(&mut self) -> &mut StreamWriter<Vec<u8>> {
        self.stream.get_or_insert_with(|| {
            self.number += 1;
            StreamWriter::new(mem::take(&mut self.bytes), self.level)
        })
    }
}

impl encode::Join<EncodedBlock> for Streams {
    fn add(&mut self, encoded: EncodedBlock) -> Result<(), Error> {
        self.stream().write(&encoded).map_err(Error::Write)
    }

    fn flush(&mut self) -> Result<(), Error> {
        if let Some(stream) = self.stream.take() {
            self.bytes = stream.finish().map_err(Error::Write)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<u8>, Error> {
        // An empty file is an empty stream.
        if self.number == 0 {
            self.stream();
        }
        self.flush()?;
        Ok(self.bytes)
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        self.stream.as_mut().map_or(&mut self.bytes, StreamWriter::get_mut)
    }
}

/// The level of a compression, which sets the size of its blocks.
///
/// # Panics
///
/// If the level is not 1 to 9.
fn level(how: &Compression) -> Level {
    Level::new(how.level).expect("the levels of bzip2 are 1 to 9")
}

/// Decompresses `input`, and passes the contents of each block to `write`.
fn assemble(
    how: &Decompression,
    options: &RunOptions<'_>,
    input: impl Read + Send,
    mut write: impl FnMut(&Assembly, Contents) -> Result<(), Error> + Send,
) -> Result<(), Error> {
    let (workers, lender) = (how.workers_within(), options.lender());
    let inputs = Inputs::new(Telling::new(input, options.advance()), lender.inputs(window(workers)));
    let threads = Threads { workers, window: window(workers), pool: options.pool };
    let steps = Blocks { scanner: Scanner::default(), lender };
    decode::run(steps, inputs, threads, options, &mut write)
}

/// The steps of a file: find blocks, decode them, and put them together.
struct Blocks {
    scanner: Scanner,
    lender: Lender,
}

impl DecodeSteps for Blocks {
    const SPLIT: &'static str = "find blocks";
    type Piece = Segment;
    type Decoder = Tool<Decoder>;
    type Decoded = Decoded;
    type Join = Assembly;

    fn split(&mut self, input: &mut Input) -> Result<Option<Segment>, Error> {
        Ok(match input.is_end() {
            true => self.scanner.finish(),
            false => input.scan(|bytes| self.scanner.next(bytes, &mut Vec::new())),
        })
    }

    fn decoders(&self) -> impl Fn() -> Tool<Decoder> + Send + Sync + use<> {
        let lender = self.lender.clone();
        move || lender.tool(|_| true, Decoder::new)
    }

    fn decode(decoder: &mut Tool<Decoder>, segment: Segment) -> Result<Decoded, Error> {
        Ok(decoder.decode_into(segment, Vec::new()))
    }

    fn join() -> Assembly {
        Assembly(Assembler::new())
    }
}

/// Puts blocks together.
struct Assembly(Assembler);

impl Join<Decoded> for Assembly {
    const FINDS_PARTS: bool = true;

    fn next(&mut self, decoded: Decoded) -> Result<Option<Contents>, Error> {
        Ok(self.0.next(decoded)?.map(Contents::Block))
    }

    fn finish(&mut self) -> Result<Option<Contents>, Error> {
        Ok(self.0.finish()?.map(Contents::Block))
    }

    fn part(&self, contents: Range<u64>) -> Option<Part> {
        let ((stream, number), bits) = self.0.last();
        Some(Part { kind: Kind::Bzip2Block { stream }, number, bits, contents, known: None })
    }
}

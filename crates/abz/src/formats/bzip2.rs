//! bzip2: blocks compressed to one stream, and streams decompressed.

use std::io::{self, Read, Write};
use std::mem;
use std::ops::{Range, RangeInclusive};

use abz_codec::access::{Kind, Part};
use abz_codec::bzip2::{
    Assembler, Contents as Block, Cutter, Decoded, Decoder, EncodedBlock, Encoder, Level, Packed, Salvager,
    Scanner, Segment, StreamWriter,
};

use super::reads::{Names, Reads};
use super::writes::Writes;
use crate::compression::Compression;
use crate::decompression::Decompression;
use crate::error::Error;
use crate::format::Setting;
use crate::index_builder::{IndexBuilder, Indexed};
use crate::pipes::cut::Cut;
use crate::pipes::decode::{self, Contents, Fold, Join, Sizes};
use crate::pipes::inputs::{Input, Telling};
use crate::pipes::{encode, window};
use crate::positional::Along;
use crate::positional::ReadAt;
use crate::recovery::{self, Recover};
use crate::run_options::{Advance, Equipment, RunOptions};
use crate::tools::Tool;

pub(super) struct Bzip2;

impl Reads for Bzip2 {
    fn names(&self) -> &'static Names {
        &Names {
            name: "bzip2",
            suffix: ".bz2",
            suffixes: &[(".bz2", ""), (".bz", ""), (".tbz2", ".tar"), (".tbz", ".tar")],
        }
    }

    fn magic(&self) -> &'static [u8] {
        b"BZh"
    }

    fn decode_steps<'a>(&self, how: &Decompression, _: &[u8], equipment: Equipment<'a>) -> decode::Steps<'a> {
        let (lender, workers) = (equipment.lender, how.workers_within());
        let (inputs, window) = (lender.inputs(window(workers)), window(workers));
        let mut scanner = Scanner::default();
        let find = move |input: &mut Input| {
            Ok(match input.is_end() {
                true => scanner.finish(),
                false => input.scan(|bytes| scanner.next(bytes, &mut Vec::new())),
            })
        };
        let make = move || lender.tool(|_| true, Decoder::new);
        let decode =
            |decoder: &mut Tool<Decoder>, segment: Segment| Ok(decoder.decode_into(segment, Vec::new()));
        let sizes = Sizes { inputs, workers, window };
        decode::Steps::new(("find blocks", find), make, decode, Assembly(Assembler::new()), sizes)
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
        let mut file = Along::new(input);
        let steps = self.decode_steps(how, &[], options.equipment());
        let done = steps.run(&options, &mut file, &mut |join, contents| {
            let start = builder.position();
            contents.write_to(&mut builder)?;
            builder.end_part(join.part(start..builder.position()).expect("each block is a part"));
            Ok(())
        });
        let garbage_at = match done {
            Ok(()) => None,
            Err(error) => Some(error.is_garbage_at(how.loose_trailing).ok_or(error)?),
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

    fn encode_steps<'a>(&self, how: Compression, equipment: Equipment<'a>) -> encode::Steps<'a> {
        let level = level(&how);
        let encode = |encoder: &mut Encoder, block: Packed| {
            encoder.encode_into(&block, Vec::new()).map_err(Error::Memory)
        };
        encode::Steps::new(Runs::new(level, equipment.advance), Encoder::new, encode, move || {
            Ok(Streams { level, stream: None, number: 0, bytes: Vec::new() })
        })
    }
}

/// Cuts blocks of bzip2, and reports the bytes that it reads as progress.
struct Runs<'a> {
    cutter: Cutter,
    advance: Advance<'a>,
}

impl<'a> Runs<'a> {
    fn new(level: Level, advance: Advance<'a>) -> Self {
        Runs { cutter: Cutter::new(level), advance }
    }
}

impl Cut<Packed> for Runs<'_> {
    fn next(&mut self, input: &mut dyn Read) -> Result<Option<Packed>, Error> {
        self.cutter.next(&mut Telling::new(input, self.advance)).map_err(Error::of_input)
    }

    fn rest(&mut self, _: bool) -> Result<Option<Packed>, Error> {
        Ok(self.cutter.rest())
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

    fn finish(mut self: Box<Self>) -> Result<Vec<u8>, Error> {
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

/// Puts blocks together.
struct Assembly(Assembler);

impl Join<Decoded> for Assembly {
    fn next(&mut self, decoded: Decoded) -> Result<Option<Contents>, Error> {
        Ok(self.0.next(decoded)?.map(folded))
    }

    fn finish(&mut self) -> Result<Option<Contents>, Error> {
        Ok(self.0.finish()?.map(folded))
    }

    fn finds_parts(&self) -> bool {
        true
    }

    fn part(&self, contents: Range<u64>) -> Option<Part> {
        let ((stream, number), bits) = self.0.last();
        Some(Part { kind: Kind::Bzip2Block { stream }, number, bits, contents, known: None })
    }
}

/// The contents of a block, whose repetitions are not yet expanded.
fn folded(block: Block) -> Contents {
    Contents::Folded(Box::new(block))
}

impl Fold for Block {
    fn unfold_to(self: Box<Self>, output: &mut dyn Write) -> io::Result<()> {
        self.write_to(output).map(drop)
    }
}

//! lzip: blocks compressed to members, and members decompressed.

use std::io::{self, Read, Write};
use std::ops::RangeInclusive;

use abz_codec::Block;
use abz_codec::access::{Kind, Part};
use abz_codec::lzip::{self, Encoder, Salvager, Scanner, Settings, Survey};
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
use crate::recovery::{self, Recover};
use crate::run::Run;
use crate::run_options::{RunOptions, at_work};
use crate::threads::Threads;
use crate::writer::coding::{self, Coding, Encode, File, Joined};
use crate::writer::cut;

pub(super) struct Lzip;

impl Reads for Lzip {
    fn names(&self) -> &'static Names {
        &Names { name: "lzip", suffix: ".lz", suffixes: &[(".lz", ""), (".tlz", ".tar")] }
    }

    fn begins(&self, start: &[u8]) -> bool {
        start.starts_with(&lzip::MAGIC)
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
        lzip::parts(file)
    }

    fn decompress_from(&self, kind: Kind, from: Behind, run: Run<'_>) -> Result<bool, Error> {
        let Kind::LzipMember = kind else { return Ok(false) };
        let scanner = scanner(run.how, run.how.workers).at(from.parts, from.bytes);
        parts::run(scanner, self.window(run.how.workers), run).map(|()| true)
    }

    fn recover(&self) -> Option<Recover> {
        Some(recovery::carry::<Salvager>)
    }
}

impl Writes for Lzip {
    fn levels(&self) -> RangeInclusive<u32> {
        0..=9
    }

    fn default_level(&self) -> u32 {
        6
    }

    fn has(&self, setting: Setting) -> bool {
        use Setting::{BlockSize, DictionarySize, MatchLength, Rsyncable};
        matches!(setting, BlockSize | DictionarySize | MatchLength | Rsyncable)
    }

    fn block_len(&self, how: &Compression) -> usize {
        how.block_size.unwrap_or_else(|| settings(how).block_size())
    }

    fn dictionary(&self, how: &Compression) -> Option<u32> {
        Some(settings(how).dictionary_size)
    }

    fn memory(&self, how: &Compression) -> u64 {
        settings(how).memory()
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
        let write = |member: Vec<u8>| output.write_all(&member).map_err(Error::Write);
        carry_out(compress(how, &mut input, options), &options, write)?;
        output.flush().map_err(Error::Write)?;
        Ok(Compressed { read: input.bytes, written: output.bytes })
    }

    fn encode(&self, how: &Compression, threads: Option<Threads>) -> Box<dyn Encode> {
        let settings = settings(how);
        let encoders = Recycler::new(at_work(how.workers), move || Encoder::new(settings));
        let coding = Coding {
            cut: cut::blocks(how, how.window()),
            encoders: coding::kept(encoders, |encoder, block: LentBlock| {
                encoder.encode(&block.data).map_err(Error::Memory)
            }),
            join: Box::new(Joined::new(Vec::new())),
            window: how.window(),
        };
        coding.begin(threads)
    }

    fn plan_to_write(&self, how: &Compression) -> Plan {
        compress(how, io::empty(), RunOptions::default()).plan()
    }
}

/// Members, one after another.
impl File for Vec<u8> {
    type Block = Vec<u8>;

    fn add(&mut self, member: Vec<u8>) -> io::Result<()> {
        match self.is_empty() {
            true => *self = member,
            false => self.extend_from_slice(&member),
        }
        Ok(())
    }

    fn finish(self) -> io::Result<Vec<u8>> {
        Ok(self)
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        self
    }
}

/// A scanner with the memory for `workers` workers.
fn scanner(how: &Decompression, workers: usize) -> Scanner {
    Scanner::new(how.lzip).within(parts::room(how, workers)).giving(how.giving)
}

/// The encoder settings of a compression.
///
/// # Panics
///
/// If the level is not 0 to 9.
fn settings(how: &Compression) -> Settings {
    let mut settings = Settings::of_level(how.level);
    settings.dictionary_size = how.lzma.dictionary_size.unwrap_or(settings.dictionary_size);
    settings.match_length = how.lzma.match_length.unwrap_or(settings.match_length);
    settings
}

/// Compresses `input`.
fn compress<'a, R: Read + Send + 'a>(
    how: &'a Compression,
    input: R,
    options: RunOptions<'a>,
) -> TryStream<'a, Vec<u8>, Error> {
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

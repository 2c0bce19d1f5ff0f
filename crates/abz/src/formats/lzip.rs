//! lzip: blocks compressed to members, and members decompressed.

use std::io;
use std::ops::RangeInclusive;

use abz_codec::access::{Kind, Part};
use abz_codec::lzip::{self, Encoder, Salvager, Scanner, Settings, Survey};
use anabranch::{Plan, Recycler};

use super::reads::{Behind, Names, ReadSeek, Reads};
use super::writes::{Setting, Writes};
use crate::decompress::Decompression;
use crate::error::Error;
use crate::formats::writes::{Compressed, Compression};
use crate::pipes::cut::{Cuts, LentBlock};
use crate::pipes::encode::{self, EncodeSteps, Join};
use crate::pipes::parts;
use crate::positional::Along;
use crate::positional::{Reading, Writing};
use crate::reader::line::Decode;
use crate::recovery::{self, Recover};
use crate::run::Run;
use crate::run_options::{Advance, RunOptions};
use crate::threads::Threads;
use crate::writer::line::{Encode, EncodeLine};

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
        let steps = Members { how: how.clone(), advance: options.advance() };
        encode::run(steps, how.threads(options.pool), &options, input, output)
    }

    fn encode(&self, how: &Compression, threads: Option<Threads>) -> Result<Box<dyn Encode>, Error> {
        EncodeLine::begin(Members { how: how.clone(), advance: Advance::default() }, how.window(), threads)
    }

    fn plan_to_write(&self, how: &Compression) -> Plan {
        encode::plan(Members { how: how.clone(), advance: Advance::default() }, how.threads(None))
    }
}

/// The steps of a file: a member is encoded from each block.
struct Members<'a> {
    how: Compression,
    advance: Advance<'a>,
}

impl<'a> EncodeSteps for Members<'a> {
    type Block = LentBlock;
    type Encoder = (Encoder, Advance<'a>);
    type Encoded = Vec<u8>;
    type Cut = Cuts;
    type Join = Vec<u8>;

    fn cut(&self) -> Cuts {
        Cuts::new(&self.how, Recycler::new(self.how.window(), Vec::new))
    }

    fn encoders(&self) -> impl Fn() -> Self::Encoder + Send + Sync + use<'a> {
        let (settings, advance) = (settings(&self.how), self.advance);
        move || (Encoder::new(settings), advance)
    }

    fn encode((encoder, advance): &mut Self::Encoder, block: LentBlock) -> Result<Vec<u8>, Error> {
        let encoded = encoder.encode_watched(&block.data, Vec::new(), &mut |len| advance.by(len));
        encoded.map_err(Error::Memory)
    }

    fn join(&self) -> Result<Self::Join, Error> {
        Ok(Vec::new())
    }
}

/// Members, one after another.
impl Join<Vec<u8>> for Vec<u8> {
    fn add(&mut self, member: Vec<u8>) -> Result<(), Error> {
        match self.is_empty() {
            true => *self = member,
            false => self.extend_from_slice(&member),
        }
        Ok(())
    }

    fn finish(self) -> Result<Vec<u8>, Error> {
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

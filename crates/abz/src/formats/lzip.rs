//! lzip: blocks compressed to members, and members decompressed.

use std::io;
use std::ops::RangeInclusive;

use abz_codec::access::{Kind, Part};
use abz_codec::lzip::{self, Encoder, Salvager, Scanner, Settings, Survey};
use anabranch::Recycler;

use super::reads::{Behind, Names, ReadSeek, Reads};
use super::writes::Writes;
use crate::compression::Compression;
use crate::decompression::Decompression;
use crate::error::Error;
use crate::format::Setting;
use crate::pipes::cut::{Cuts, LentBlock};
use crate::pipes::encode::{self, Join};
use crate::pipes::{decode, parts};
use crate::positional::Along;
use crate::recovery::{self, Recover};
use crate::run::Run;
use crate::run_options::Equipment;

pub(super) struct Lzip;

impl Reads for Lzip {
    fn names(&self) -> &'static Names {
        &Names { name: "lzip", suffix: ".lz", suffixes: &[(".lz", ""), (".tlz", ".tar")] }
    }

    fn magic(&self) -> &'static [u8] {
        &lzip::MAGIC
    }

    fn asks_for_memory(&self) -> bool {
        true
    }

    fn window(&self, workers: usize) -> usize {
        parts::window(workers)
    }

    fn decode_steps<'a>(&self, how: &Decompression, _: &[u8], equipment: Equipment<'a>) -> decode::Steps<'a> {
        let (workers, scanner) = (how.workers, scanner(how, how.workers));
        parts::steps(scanner, (workers, self.window(workers)), equipment)
    }

    fn contents(&self, file: &mut dyn ReadSeek) -> io::Result<Option<u64>> {
        Ok(Survey::of(&mut { file })?.map(|survey| survey.uncompressed))
    }

    fn parts(&self, file: &mut Along<'_>) -> io::Result<Option<Vec<Part>>> {
        lzip::parts(file)
    }

    fn decompress_from(&self, kind: Kind, from: Behind, run: Run<'_>) -> Result<bool, Error> {
        let Kind::LzipMember = kind else { return Ok(false) };
        let Run { how, options, input, output, .. } = run;
        let (workers, scanner) = (how.workers, scanner(how, how.workers).at(from.parts, from.bytes));
        let steps = parts::steps(scanner, (workers, self.window(workers)), options.equipment());
        steps.run(options, input, &mut |_, contents| contents.write_to(&mut *output)).map(|()| true)
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

    fn encode_steps<'a>(&self, how: Compression, equipment: Equipment<'a>) -> encode::Steps<'a> {
        let (settings, advance) = (settings(&how), equipment.advance);
        let cut = Cuts::new(&how, Recycler::new(how.window(), Vec::new));
        let encode = move |encoder: &mut Encoder, block: LentBlock| {
            let encoded = encoder.encode_watched(&block.data, Vec::new(), &mut |len| advance.by(len));
            encoded.map_err(Error::Memory)
        };
        encode::Steps::new(cut, move || Encoder::new(settings), encode, || Ok(Vec::new()))
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

    fn finish(self: Box<Self>) -> Result<Vec<u8>, Error> {
        Ok(*self)
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

//! zstd: blocks compressed to frames or to pieces of one frame, and frames decompressed.

mod compress;
mod patch;

use std::io::{self, Write};
use std::ops::RangeInclusive;

use abz_codec::access::{Kind, Part};
use abz_codec::zstd::{self, DEFAULT_LEVEL, Decoding, LEVELS, Scanner, Survey, frames, patch_memory};
use anabranch::{Plan, Recycled};

use super::reads::{self, Behind, Names, ReadSeek, Reads, index_of_parts};
use super::writes::Writes;
use crate::compression::{Compressed, Compression};
use crate::decompression::Decompression;
use crate::error::Error;
use crate::format::Setting;
use crate::index_builder::{IndexBuilder, Indexed};
use crate::pipes::{access, decode, encode, parts, window};
use crate::positional::Along;
use crate::positional::{ReadAt, Reading, Writing};
use crate::run::Run;
use crate::run_options::{Equipment, RunOptions};

/// The maximum contents of frames in memory at once, in bytes.
const FRAMES: usize = 1 << 30;

pub(super) struct Zstd;

impl Reads for Zstd {
    fn names(&self) -> &'static Names {
        &Names { name: "zstd", suffix: ".zst", suffixes: &[(".zst", ""), (".tzst", ".tar")] }
    }

    fn magic(&self) -> &'static [u8] {
        &zstd::MAGIC
    }

    fn begins(&self, start: &[u8]) -> bool {
        zstd::is_zstd(start)
    }

    fn asks_for_memory(&self) -> bool {
        true
    }

    fn decode_steps<'a>(&self, how: &Decompression, _: &[u8], equipment: Equipment<'a>) -> decode::Steps<'a> {
        parts::steps(scanner(how, Behind::START), (how.workers, window(how.workers)), equipment)
    }

    fn contents(&self, file: &mut dyn ReadSeek) -> io::Result<Option<u64>> {
        Ok(Survey::of(&mut { file })?.and_then(|survey| survey.uncompressed))
    }

    fn parts(&self, file: &mut Along<'_>) -> io::Result<Option<Vec<Part>>> {
        zstd::parts(file)
    }

    fn decompress_from(&self, kind: Kind, from: Behind, run: Run<'_>) -> Result<bool, Error> {
        let Kind::ZstdFrame = kind else { return Ok(false) };
        let Run { how, options, input, output, .. } = run;
        let sizes = (how.workers, window(how.workers));
        let steps = parts::steps(scanner(how, from), sizes, options.equipment());
        steps.run(options, input, &mut |_, contents| contents.write_to(&mut *output)).map(|()| true)
    }

    fn index(
        &self,
        how: &Decompression,
        options: RunOptions<'_>,
        input: &dyn ReadAt,
        _spacing: u64,
        output: &mut (dyn Write + Send),
    ) -> Result<Indexed, Error> {
        match zstd::parts(&mut Along::new(input)).map_err(Error::Read)? {
            Some(parts) => index_of_parts(self, parts, how, options, input, output),
            None => index_of_frames(how, options, input, output),
        }
    }
}

impl Writes for Zstd {
    fn levels(&self) -> RangeInclusive<u32> {
        1..=LEVELS.end().unsigned_abs()
    }

    fn default_level(&self) -> u32 {
        DEFAULT_LEVEL.unsigned_abs()
    }

    fn has(&self, setting: Setting) -> bool {
        matches!(setting, Setting::BlockSize | Setting::Rsyncable | Setting::Fast | Setting::Zstd)
    }

    fn block_len(&self, how: &Compression) -> usize {
        match how.zstd.patch_from {
            Some(_) => patch::PORTION,
            None => how.block_size.unwrap_or_else(|| how.zstd.frame_size(level(how))),
        }
    }

    /// An encoder's tables take up to three times the size of a frame. A patch of an input of unknown size is assumed
    /// to have as many contents as its reference.
    fn memory(&self, how: &Compression) -> u64 {
        if let Some(reference) = &how.zstd.patch_from {
            let contents = how.contents.unwrap_or(reference.len());
            return (4 << 20) + patch_memory(level(how), &how.zstd, reference, contents);
        }
        (4 << 20) + 4 * self.block_len(how) as u64
    }

    /// One worker makes a patch.
    fn encoders(&self, how: &Compression) -> usize {
        if how.zstd.patch_from.is_some() { 1 } else { how.workers }
    }

    fn encode_steps<'a>(&self, how: Compression, equipment: Equipment<'a>) -> encode::Steps<'a> {
        compress::steps(how, equipment)
    }

    fn compress<'a>(
        &self,
        how: &'a Compression,
        options: &RunOptions<'a>,
        input: Reading<'a>,
        output: Writing<'_>,
    ) -> Result<Compressed, Error> {
        let (threads, equipment) = (how.threads(options.pool), options.equipment());
        match how.zstd.patch_from {
            Some(_) => patch::steps(how, equipment.advance).run(threads, options, input, output),
            None => self.encode_steps(how.clone(), equipment).run(threads, options, input, output),
        }
    }

    fn plan_to_write(&self, how: &Compression) -> Plan {
        let (threads, equipment) = (how.threads(None), Equipment::default());
        match how.zstd.patch_from {
            Some(_) => patch::steps(how, equipment.advance).plan(threads),
            None => self.encode_steps(how.clone(), equipment).plan(threads),
        }
    }
}

/// A scanner of a file from the frame at `from` on. With more than 16 workers, it decodes only smaller frames as a
/// whole.
fn scanner(how: &Decompression, from: Behind) -> Scanner {
    let max_whole = how.zstd.max_whole.min(FRAMES / window(how.workers));
    let decoding = Decoding { max_whole, ..how.zstd.clone() };
    Scanner::at(&decoding, from.parts, from.bytes).giving(how.giving)
}

/// Indexes a file whose frames do not record the size of their contents. Each frame becomes a part, unless there is
/// only one.
fn index_of_frames(
    how: &Decompression,
    options: RunOptions<'_>,
    input: &dyn ReadAt,
    output: &mut (dyn Write + Send),
) -> Result<Indexed, Error> {
    let mut builder = IndexBuilder::new(Vec::new(), output);
    let frames = frames(&mut Along::new(input)).map_err(Error::Read)?.filter(|frames| frames.len() > 1);
    let Some((frames, threads)) = frames.and_then(|frames| {
        let threads = access::threads(how, &frames, options.pool)?;
        Some((frames, threads))
    }) else {
        let done = reads::decode(&Zstd, how, &options, &mut Along::new(input), &mut builder)?;
        return Ok(Indexed { garbage_at: done.garbage_at, ..builder.finish() });
    };
    let stream = access::decode(threads, how, input, (&frames, false));
    let mut ahead = frames.iter();
    stream.carry_out(&options, |data: Recycled<Vec<u8>>| {
        let start = builder.position();
        builder.write_all(&data).map_err(Error::Write)?;
        let frame = ahead.next().expect("there is one for each");
        builder.end_part(Part { contents: start..builder.position(), ..frame.clone() });
        Ok(())
    })?;
    Ok(builder.finish())
}

/// The level as a number of zstd, negative for fast ones.
fn level(how: &Compression) -> i32 {
    let (level, sign) = how.fast.map_or((how.level, 1), |fast| (fast, -1));
    sign * i32::try_from(level).expect("the levels of zstd are -131072 to 22")
}

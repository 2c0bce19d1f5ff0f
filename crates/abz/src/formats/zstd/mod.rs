//! zstd: blocks compressed to frames or to pieces of one frame, and frames decompressed.

mod compress;
mod patch;

use std::io::{self, Write};
use std::ops::RangeInclusive;

use abz_codec::access::{Kind, Part};
use abz_codec::zstd::{self, DEFAULT_LEVEL, Decoding, LEVELS, Scanner, Survey, frames, patch_memory};
use anabranch::{Plan, Recycled};

use self::compress::Frames;
use super::reads::{Behind, Names, ReadSeek, Reads, decode, index_of_parts};
use super::writes::{Setting, Writes};
use crate::decompress::Decompression;
use crate::error::Error;
use crate::formats::writes::{Compressed, Compression};
use crate::index_builder::{IndexBuilder, Indexed};
use crate::pipes::{access, carry_out, encode, parts, window};
use crate::positional::Along;
use crate::positional::{ReadAt, Reading, Writing};
use crate::reader::line::Decode;
use crate::run::Run;
use crate::run_options::{Advance, RunOptions};
use crate::threads::Threads;
use crate::tools::Lender;
use crate::writer::line::{Encode, EncodeLine};

/// The maximum contents of frames in memory at once, in bytes.
const FRAMES: usize = 1 << 30;

pub(super) struct Zstd;

impl Reads for Zstd {
    fn names(&self) -> &'static Names {
        &Names { name: "zstd", suffix: ".zst", suffixes: &[(".zst", ""), (".tzst", ".tar")] }
    }

    fn begins(&self, start: &[u8]) -> bool {
        zstd::is_zstd(start)
    }

    fn asks_for_memory(&self) -> bool {
        true
    }

    fn decompress(&self, run: Run<'_>) -> Result<(), Error> {
        parts::run(scanner(run.how, Behind::START), window(run.how.workers), run)
    }

    fn read(&self, how: &Decompression, _: &[u8], threads: Option<Threads>) -> Box<dyn Decode> {
        parts::read(scanner(how, Behind::START), window(how.workers), threads)
    }

    fn plan_to_read(&self, how: &Decompression) -> Plan {
        parts::plan(scanner(how, Behind::START), how.workers, window(how.workers))
    }

    fn contents(&self, file: &mut dyn ReadSeek) -> io::Result<Option<u64>> {
        Ok(Survey::of(&mut { file })?.and_then(|survey| survey.uncompressed))
    }

    fn parts(&self, file: &mut Along<'_>) -> io::Result<Option<Vec<Part>>> {
        zstd::parts(file)
    }

    fn decompress_from(&self, kind: Kind, from: Behind, run: Run<'_>) -> Result<bool, Error> {
        let Kind::ZstdFrame = kind else { return Ok(false) };
        parts::run(scanner(run.how, from), window(run.how.workers), run).map(|()| true)
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

    fn compress(
        &self,
        how: &Compression,
        options: RunOptions<'_>,
        input: Reading<'_>,
        output: Writing<'_>,
    ) -> Result<Compressed, Error> {
        let (threads, advance) = (how.threads(options.pool), options.advance());
        if how.zstd.patch_from.is_some() {
            return encode::run(patch::steps(how, advance), threads, &options, input, output);
        }
        let steps = Frames { how: how.clone(), lender: options.lender(), advance };
        encode::run(steps, threads, &options, input, output)
    }

    fn encode(&self, how: &Compression, threads: Option<Threads>) -> Result<Box<dyn Encode>, Error> {
        let (lender, advance) = (Lender::of_tools(), Advance::default());
        EncodeLine::begin(Frames { how: how.clone(), lender, advance }, how.window(), threads)
    }

    fn plan_to_write(&self, how: &Compression) -> Plan {
        let (lender, advance) = (Lender::default(), Advance::default());
        match how.zstd.patch_from {
            Some(_) => encode::plan(patch::steps(how, advance), how.threads(None)),
            None => encode::plan(Frames { how: how.clone(), lender, advance }, how.threads(None)),
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
    let Some((frames, (workers, window))) = frames.and_then(|frames| {
        let counts = access::workers_and_window(how, &frames)?;
        Some((frames, counts))
    }) else {
        let done = decode(&Zstd, how, &options, &mut Along::new(input), &mut builder)?;
        return Ok(Indexed { garbage_at: done.garbage_at, ..builder.finish() });
    };
    let stream = access::decode(workers, window, &how.zstd, input, (&frames, false), options.pool);
    let mut ahead = frames.iter();
    carry_out(stream, &options, |data: Recycled<Vec<u8>>| {
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

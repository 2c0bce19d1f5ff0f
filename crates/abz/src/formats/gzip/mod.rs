//! gzip: blocks compressed to members, and members decompressed.

mod compress;
mod decompress;
mod indexed;

use std::io::{self, Read, Write};
use std::ops::{Range, RangeInclusive};

use abz_codec::access::Part;
use abz_codec::gzip::{self, BGZF_BLOCK, Decoder, Entry, Finder, Index, Layout, MAX_BLOCK, Salvager, Survey};
use abz_codec::{DEFAULT_BLOCK_SIZE, gzip::MAGIC};
use anabranch::Plan;

use super::reads::{ByIndex, Names, ReadSeek, Reads, index_of_parts};
use super::writes::Writes;
use crate::compression::{Compressed, Compression};
use crate::decompression::{Decompressed, Decompression};
use crate::error::Error;
use crate::format::Setting;
use crate::index_builder::Indexed;
use crate::pipes::{decode, encode};
use crate::positional::Along;
use crate::positional::{ReadAt, Reading, WriteAt, Writing};
use crate::reader::line::Decode;
use crate::recovery::{self, Recover};
use crate::run::Run;
use crate::run_options::{Equipment, RunOptions};

pub(super) struct Gzip;

impl Reads for Gzip {
    fn names(&self) -> &'static Names {
        &Names { name: "gzip", suffix: ".gz", suffixes: &[(".gz", ""), (".tgz", ".tar"), ("-gz", "")] }
    }

    fn magic(&self) -> &'static [u8] {
        &MAGIC
    }

    fn decompress(&self, run: Run<'_>) -> Result<(), Error> {
        let Run { how, options, input, output, mistaken } = run;
        let lender = options.lender();
        let buffers = lender.buffers(2);
        let mut start = buffers.take();
        start.clear();
        // A report needs the pipeline to run.
        if options.report.is_none() && is_small(how, input, &mut start) {
            let mut data = buffers.take();
            if lender.tool(|_| true, Decoder::new).decode_alone(&start, &mut data) {
                options.advance().by(start.len());
                return output.write_all(&data).map_err(Error::Write);
            }
        }
        let (tells_parts, mut input) = tells_parts(start.chain(input)).map_err(Error::Read)?;
        let steps = decompress::steps(how, tells_parts, options.equipment(), Some(mistaken));
        steps.run(options, &mut input, &mut |_, contents| contents.write_to(&mut *output))
    }

    fn decode_steps<'a>(
        &self,
        how: &Decompression,
        start: &[u8],
        equipment: Equipment<'a>,
    ) -> decode::Steps<'a> {
        decompress::steps(how, gzip::tells_parts(start).unwrap_or(false), equipment, None)
    }

    fn read_finding(&self, spacing: u64) -> Option<Box<dyn Decode>> {
        Some(Box::new(indexed::Finding(Finder::new(spacing))))
    }

    fn is_read_at(&self) -> bool {
        true
    }

    fn decompress_at(
        &self,
        how: &Decompression,
        options: &RunOptions<'_>,
        input: &dyn ReadAt,
        output: &dyn WriteAt,
    ) -> Result<Option<Decompressed>, Error> {
        let mut file = Along::new(input);
        let index = match Index::read(&mut file) {
            Ok(None) => Index::of_marks(&mut file).map_err(Error::Read)?,
            index => index.ok().flatten(),
        };
        let Some(index) = index else { return Ok(None) };
        // The sizes in a file are not trusted.
        let is_ours = |entry: &Entry| {
            entry.uncompressed as usize <= MAX_BLOCK && entry.compressed as usize <= MAX_BLOCK + (1 << 20)
        };
        if !index.entries().iter().all(is_ours) {
            return Ok(None);
        }
        let io = (input, output);
        let stream = decompress::decompress_at(how.workers, io, index.entries(), options.pool);
        match stream.carry_out(options, Ok) {
            Ok(()) => Ok(Some(Decompressed {
                read: input.size(),
                written: index.uncompressed(),
                garbage_at: None,
                padding_at: None,
                mistaken: None,
            })),
            Err(Error::Damaged(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn contents(&self, file: &mut dyn ReadSeek) -> io::Result<Option<u64>> {
        Ok(Survey::of(&mut { file })?.map(|survey| survey.uncompressed))
    }

    fn parts(&self, file: &mut Along<'_>) -> io::Result<Option<Vec<Part>>> {
        gzip::parts(file)
    }

    fn parts_around(&self, file: &mut Along<'_>, bytes: &Range<u64>) -> io::Result<Option<(Vec<Part>, u64)>> {
        gzip::parts_around(file, bytes)
    }

    fn index(
        &self,
        how: &Decompression,
        options: RunOptions<'_>,
        input: &dyn ReadAt,
        spacing: u64,
        output: &mut (dyn Write + Send),
    ) -> Result<Indexed, Error> {
        match gzip::parts(&mut Along::new(input)).map_err(Error::Read)? {
            Some(parts) => index_of_parts(self, parts, how, options, input, output),
            None => indexed::find(how, options, input, spacing, output),
        }
    }

    fn decompress_indexed(
        &self,
        how: &Decompression,
        options: &RunOptions<'_>,
        input: &dyn ReadAt,
        parts: &[Part],
        output: &mut (dyn Write + Send),
    ) -> Result<ByIndex, Error> {
        indexed::decompress(how, options, input, parts, output)
    }

    fn plan_to_read_indexed(&self, how: &Decompression, parts: &[Part]) -> Option<Plan> {
        indexed::plan(how, parts)
    }

    fn recover(&self) -> Option<Recover> {
        Some(recovery::carry::<Salvager>)
    }
}

impl Writes for Gzip {
    fn levels(&self) -> RangeInclusive<u32> {
        1..=12
    }

    fn default_level(&self) -> u32 {
        6
    }

    fn has(&self, setting: Setting) -> bool {
        matches!(setting, Setting::BlockSize | Setting::Rsyncable | Setting::Layout)
    }

    fn block_len(&self, how: &Compression) -> usize {
        match how.layout {
            Layout::Bgzf => BGZF_BLOCK,
            _ => how.block_size.unwrap_or(DEFAULT_BLOCK_SIZE),
        }
    }

    fn largest_block(&self) -> Option<usize> {
        Some(MAX_BLOCK)
    }

    fn tells_origin(&self) -> bool {
        true
    }

    fn memory(&self, how: &Compression) -> u64 {
        (10 << 20) + self.block_len(how) as u64
    }

    fn is_written_at(&self) -> bool {
        true
    }

    fn blocks_are_read_at(&self) -> bool {
        true
    }

    fn encode_steps<'a>(&self, how: Compression, equipment: Equipment<'a>) -> encode::Steps<'a> {
        compress::steps(how, equipment)
    }

    /// Workers read their blocks at their offsets, if these are known.
    fn compress<'a>(
        &self,
        how: &'a Compression,
        options: &RunOptions<'a>,
        input: Reading<'a>,
        output: Writing<'_>,
    ) -> Result<Compressed, Error> {
        let (threads, equipment) = (how.threads(options.pool), options.equipment());
        match input {
            Reading::Positional(input) if !how.rsyncable => {
                let steps = compress::steps_at(how.clone(), equipment.lender, input);
                let done = steps.run(threads, options, Reading::Stream(&mut io::empty()), output)?;
                Ok(Compressed { read: input.size(), ..done })
            }
            input => self.encode_steps(how.clone(), equipment).run(threads, options, input, output),
        }
    }
}

/// The exclusive upper limit of the size of a file that is first tried as one member, in bytes: an eighth more than a
/// block has by default.
const SMALL: u64 = (DEFAULT_BLOCK_SIZE + DEFAULT_BLOCK_SIZE / 8) as u64;

/// Reads the start of a file. Returns true if that is the whole file. Reads nothing from an input that may pause, to
/// avoid waiting for its end.
fn is_small(how: &Decompression, input: &mut dyn Read, start: &mut Vec<u8>) -> bool {
    // A read error occurs again when the rest is read.
    !how.giving.prompt && input.take(SMALL).read_to_end(start).is_ok() && (start.len() as u64) < SMALL
}

/// Returns whether a gzip file begins like one that records where its parts lie, and a reader of the whole file. Reads
/// no more than is needed to decide that.
fn tells_parts<R: Read>(mut input: R) -> io::Result<(bool, impl Read + use<R>)> {
    let (mut start, mut glance) = (Vec::new(), [0; 512]);
    let tells_parts = loop {
        if let Some(known) = gzip::tells_parts(&start) {
            break known;
        }
        match input.read(&mut glance) {
            Ok(0) => break false,
            Ok(len) => start.extend_from_slice(&glance[..len]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    };
    Ok((tells_parts, io::Cursor::new(start).chain(input)))
}

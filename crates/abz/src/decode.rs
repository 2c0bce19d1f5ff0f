//! Decompression: a compressed file in, plain data out.

use std::io::{Read, Write};

use anabranch::Plan;

use crate::count::Counted;
use crate::decompress::{Decompressed, Decompression};
use crate::error::Error;
use crate::formats::Format;
use crate::formats::reads::decode;
use crate::places::{ReadAt, WriteAt};
use crate::run_options::RunOptions;

impl Decompression {
    /// Writes the contents of the compressed file `input` to `output`. The format is detected from its first bytes.
    ///
    /// All workers decode the parts of a file in parallel where the format allows it:
    ///
    /// - gzip: blocks with marks, as this crate writes them, and members whose headers record their size, as in BGZF.
    ///   Other members are decoded one after another, each by one worker or in pieces by all: see
    ///   [`Speculation`](crate::Speculation).
    /// - bzip2: all blocks, whichever program wrote them.
    /// - lzip: members of at most 8 MiB, or twice their dictionary if that is more, but never above 64 MiB.
    /// - xz: blocks whose headers record their sizes, of at most 8 MiB, or three times their dictionary if that is
    ///   more, but never above 192 MiB.
    /// - zstd: pieces of frames, as this crate writes them, and frames that pzstd wrote or whose headers record their
    ///   size, each of at most 32 MiB of contents.
    ///
    /// One worker decodes anything else, while others read, verify and write.
    ///
    /// # Errors
    ///
    /// If the input cannot be read, is damaged or of no known format, or the output cannot be written. The contents
    /// before the fault have been written then, and are right, except those of a damaged gzip member that does not
    /// record where its parts lie: these may be wrong.
    ///
    /// # Panics
    ///
    /// If there are no workers.
    pub fn run(&self, input: impl Read + Send, output: impl Write + Send) -> Result<Decompressed, Error> {
        self.run_with(RunOptions::default(), input, output)
    }

    /// As [`run`](Decompression::run), with the threads, progress and report that `options` sets.
    ///
    /// # Errors
    ///
    /// As [`run`](Decompression::run).
    ///
    /// # Panics
    ///
    /// As [`run`](Decompression::run).
    pub fn run_with(
        &self,
        options: RunOptions<'_>,
        mut input: impl Read + Send,
        mut output: impl Write + Send,
    ) -> Result<Decompressed, Error> {
        self.carry(options, &mut input, &mut output)
    }

    /// As [`run_with`](Self::run_with), for trait objects, so that the pipelines are compiled once.
    pub(crate) fn carry(
        &self,
        options: RunOptions<'_>,
        input: &mut (dyn Read + Send),
        output: &mut (dyn Write + Send),
    ) -> Result<Decompressed, Error> {
        if options.tools.is_some() && self.workers > 1 {
            return Decompression { workers: 1, ..self.clone() }.carry(options, input, output);
        }
        let mut input = Counted::new(input);
        let (format, mut whole) = Format::sniff(&mut input).map_err(Error::Read)?;
        // The default format, gzip, reports the error of a file in no known format.
        let done = decode(format.unwrap_or_default().reads(), self, &options, &mut whole, output)?;
        drop(whole);
        Ok(Decompressed { read: input.bytes, ..done })
    }

    /// Decompresses a gzip file that records where each block or member is, as every file of several blocks by this
    /// crate does. Each worker reads members at their offsets, decodes them, and writes the contents at theirs.
    /// Returns `None` if the file records no such offsets or is damaged: `output` then holds wrong bytes, and
    /// [`run_with`](Decompression::run_with) has to decode the file again to write the correct contents and report the
    /// damage.
    ///
    /// # Errors
    ///
    /// If the input cannot be read or the output cannot be written.
    ///
    /// # Panics
    ///
    /// If there are no workers.
    pub fn run_at(
        &self,
        options: RunOptions<'_>,
        input: &dyn ReadAt,
        output: &dyn WriteAt,
    ) -> Result<Option<Decompressed>, Error> {
        let format = Format::at(input).map_err(Error::Read)?;
        format.unwrap_or_default().reads().decompress_at(self, &options, input, output)
    }

    /// The maximum number of pieces (members, blocks, or chunks of 256 KiB) in memory at once: two for each worker that
    /// is [at work](crate::at_work); for lzip and xz, one for each and one more. There are as many input buffers of 128
    /// KiB.
    pub fn window(&self, format: Format) -> usize {
        format.reads().window(self.workers)
    }

    /// The plan of [`run`](Decompression::run) for a file of a format, without running it.
    pub fn plan(&self, format: Format) -> Plan {
        format.reads().plan_to_read(self)
    }
}

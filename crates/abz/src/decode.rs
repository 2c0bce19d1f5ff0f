//! The methods of [`Decompression`].

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
    /// Decompresses `input` to `output`. The format is detected from the first bytes of `input`.
    ///
    /// All workers decode:
    ///
    /// - gzip blocks with marks, as this crate writes them, and gzip members that record their size, as in BGZF;
    ///
    /// - the blocks of any bzip2 file;
    ///
    /// - the members of any lzip file, unless larger than 64 MiB, or than 8 MiB and twice their dictionary;
    ///
    /// - the blocks of xz whose headers record their sizes, up to 8 MiB, or three times their dictionary up to 192
    ///   MiB;
    ///
    /// - frames of zstd that record a size of at most 32 MiB, as this crate and pzstd write them.
    ///
    /// Other gzip members are decoded one after another, each either in pieces by all workers or by one worker while
    /// others read, verify and write: see [`Speculation`](crate::Speculation). One worker decodes everything else:
    /// other parts of lzip, xz and zstd, and the files of `compress`, `pack`, `compress -H`, zip and zlib.
    ///
    /// # Errors
    ///
    /// If the input cannot be read, is damaged or of no known format, or the output cannot be written. The bytes
    /// written by then are the correct contents before that place, except for a damaged gzip member that does not
    /// record where its blocks are.
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

    /// Returns the largest number of pieces (members, blocks, or chunks of 256 KiB) in memory at once: two for each
    /// worker; for lzip and xz one for each worker and one more. There are as many input buffers of 128 KiB.
    pub fn window(&self, format: Format) -> usize {
        format.reads().window(self.workers)
    }

    /// Returns the plan that [`run`](Decompression::run) would execute for a file of this format.
    pub fn plan(&self, format: Format) -> Plan {
        format.reads().plan_to_read(self)
    }
}

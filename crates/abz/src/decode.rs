//! A compressed file in, plain data out.

use std::io::{Read, Write};

use anabranch::Plan;

use crate::conduct::Conduct;
use crate::count::Counted;
use crate::decompress::{Decompressed, Decompression};
use crate::error::Error;
use crate::formats::Format;
use crate::formats::reads::decode;
use crate::places::{ReadAt, WriteAt};

impl Decompression {
    /// Writes the contents of the compressed file `input` to `output`. What its format is, it tells itself.
    ///
    /// Of gzip, blocks with marks, as this crate makes them, and members that say how long they are, as those of BGZF, are
    /// decoded by all workers. Other members are decoded one after another, in pieces by all workers or by one, while other workers read,
    /// verify and write: see [`Speculation`](crate::Speculation). The blocks of
    /// bzip2 and the members of lzip are decoded by all workers, whoever wrote them; a member of lzip that is larger than
    /// 64 MiB, or than 8 MiB and twice its dictionary, by one, and so is what `compress`, `pack`, `compress -H` and `zip` wrote. So it is with the blocks of
    /// xz, of up to 8 MiB, or three times their dictionary up to 192 MiB, if their headers say their sizes.
    /// Frames of zstd that say that they have at most 32 MiB, those that this crate and pzstd make, are decoded by all
    /// workers, and others as those members of gzip.
    ///
    /// # Errors
    ///
    /// If the input cannot be read, is damaged or of no known format, or the output cannot be written. What was
    /// written by then is the contents before that place, and right, except of a damaged member of gzip that does not
    /// say where its parts are.
    ///
    /// # Panics
    ///
    /// If there are no workers.
    pub fn run(&self, input: impl Read + Send, output: impl Write + Send) -> Result<Decompressed, Error> {
        self.conduct(Conduct::default(), input, output)
    }

    /// As [`run`](Decompression::run), carried out and watched as `conduct` says.
    ///
    /// # Errors
    ///
    /// As [`run`](Decompression::run).
    ///
    /// # Panics
    ///
    /// As [`run`](Decompression::run).
    pub fn conduct(
        &self,
        conduct: Conduct<'_>,
        mut input: impl Read + Send,
        mut output: impl Write + Send,
    ) -> Result<Decompressed, Error> {
        self.carry(conduct, &mut input, &mut output)
    }

    /// The same for whatever reads and writes: the pipelines are compiled once.
    pub(crate) fn carry(
        &self,
        conduct: Conduct<'_>,
        input: &mut (dyn Read + Send),
        output: &mut (dyn Write + Send),
    ) -> Result<Decompressed, Error> {
        let mut input = Counted::new(input);
        let (format, mut whole) = Format::sniff(&mut input).map_err(Error::Read)?;
        // What is wrong with a file of no known format, too, is for the default one to tell.
        let done = decode(format.unwrap_or_default().reads(), self, &conduct, &mut whole, output)?;
        drop(whole);
        Ok(Decompressed { read: input.bytes, ..done })
    }

    /// Decompresses a file of gzip that tells where each block or member lies, as each file of several blocks does
    /// that this crate makes: each worker reads, decodes and writes members where they belong. `None` if it is no such
    /// file, or is damaged: then the output is not what it should be, and [`conduct`](Decompression::conduct) gives what
    /// is right, and says what is wrong.
    ///
    /// # Errors
    ///
    /// If the input cannot be read or the output not written.
    ///
    /// # Panics
    ///
    /// If there are no workers.
    pub fn conduct_at(
        &self,
        conduct: Conduct<'_>,
        input: &dyn ReadAt,
        output: &dyn WriteAt,
    ) -> Result<Option<Decompressed>, Error> {
        let format = Format::at(input).map_err(Error::Read)?;
        format.unwrap_or_default().reads().decompress_at(self, &conduct, input, output)
    }

    /// The most pieces (members or blocks, or chunks of 256 KiB) that are in memory at once: two for each worker, and
    /// of lzip and xz one for each and one. There are as many buffers of 128 KiB for what was read.
    pub fn window(&self, format: Format) -> usize {
        format.reads().window(self.workers)
    }

    /// The plan that [`run`](Decompression::run) would run for a file of a format.
    pub fn plan(&self, format: Format) -> Plan {
        format.reads().plan_to_read(self)
    }
}

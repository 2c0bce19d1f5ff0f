//! A compressed file in, plain data out.

use std::io::{Read, Write};
use std::sync::atomic::AtomicU64;

use abz_codec::parts::Room;
use abz_codec::{lzip, zstd};
use anabranch::Plan;

use crate::conduct::Conduct;
use crate::count::Counted;
use crate::formats::Run;
use crate::pipes;
use crate::{Error, Format, ReadAt, Speculation, WriteAt};

/// How to decompress any file of the formats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decompression {
    /// Threads that work, the caller's among them; at least 1.
    pub workers: usize,
    /// What a file of lzip may have.
    pub lzip: lzip::Strictness,
    /// The most memory to take, in bytes and about, if there shall be a limit: where files may ask for more, fewer workers
    /// decode, and then none.
    pub memory_limit: Option<u64>,
    /// How frames of zstd are read.
    pub zstd: zstd::Decoding,
    /// Whether pieces of one member of gzip are decoded by all workers.
    pub speculation: Speculation,
}

/// What [`Decompression::run`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decompressed {
    /// Bytes of input.
    pub read: u64,
    /// Bytes of output.
    pub written: u64,
    /// The offset in the input of bytes after the last member that are neither a member nor zeros, if there are
    /// any. The data before them is whole and right.
    pub garbage_at: Option<u64>,
    /// Of a file of gzip, the number of the first member that is not as large as the extra field of its header seems to say, if
    /// there is one. That is no fault: from there on no such size is believed.
    pub mistaken: Option<u64>,
}

impl Default for Decompression {
    /// As many workers as the process may use cores.
    fn default() -> Self {
        Decompression {
            workers: anabranch::default_workers(),
            lzip: lzip::Strictness::default(),
            memory_limit: None,
            zstd: zstd::Decoding::default(),
            speculation: Speculation::default(),
        }
    }
}

impl Decompression {
    /// Writes the contents of the compressed file `input` to `output`. What its format is, it tells itself.
    ///
    /// Of gzip, members that say how long they are, those that this crate makes and those of BGZF, are decoded by all
    /// workers. Other members are decoded one after another, in pieces by all workers or by one, while other workers read,
    /// verify and write: see [`Speculation`]. The blocks of
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
    /// say how long it is.
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
        let mut output = Counted::new(output);
        let mistaken = AtomicU64::new(0);
        let result = {
            let (format, mut whole) = Format::sniff(&mut input).map_err(Error::Read)?;
            let run = Run {
                how: self,
                conduct: &conduct,
                input: &mut whole,
                output: &mut output,
                mistaken: &mistaken,
            };
            // What is wrong with a file of no known format, too, is for the default one to tell.
            format.unwrap_or_default().reads().decompress(run)
        };
        let garbage_at = match result {
            Ok(()) => None,
            Err(error) => Some(error.is_garbage_at().ok_or(error)?),
        };
        output.flush().map_err(Error::Write)?;
        let mistaken = Some(mistaken.into_inner()).filter(|&number| number > 0);
        Ok(Decompressed { read: input.bytes, written: output.bytes, garbage_at, mistaken })
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

    /// How many workers may decode gzip or bzip2 within the limit of memory: one takes, with what waits for it, less than
    /// 16 MiB.
    pub fn workers_within(&self) -> usize {
        let most = self.memory_limit.map_or(u64::MAX, |limit| limit >> 24);
        self.workers.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1)
    }

    /// What room there is for the parts of lzip and xz, with so many workers.
    pub(crate) fn room(&self, workers: usize) -> Room {
        let all = Room::default();
        Room { bytes: self.memory_limit.unwrap_or(all.bytes), parts: pipes::parts::window(workers) }
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

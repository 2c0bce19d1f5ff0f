//! A compressed file in, plain data out.

use std::io::{self, Read, Write};
use std::sync::atomic::AtomicU64;

use abz_codec::bzip2::{self, Assembler, Decoded};
use abz_codec::legacy::{lzh, pack, zip, zlib};
use abz_codec::parts::{Room, Scan, Serial};
use abz_codec::{lzip, lzw, xz, zstd};
use anabranch::{Plan, Recycled};

use crate::conduct::Conduct;
use crate::count::Counted;
use crate::pipes::{self, carry_out};
use crate::{Error, Format, Speculation};

/// The most contents of frames of zstd that are in memory at once, in bytes.
const FRAMES: usize = 1 << 30;

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
            let whole: &mut (dyn Read + Send) = &mut whole;
            match format {
                Some(Format::Bzip2) => self.bunzip2(&conduct, whole, &mut output),
                Some(Format::Zstd) => {
                    self.parts((self.zstd_scanner(), Format::Zstd), &conduct, whole, &mut output)
                }
                Some(Format::Compress) => self.serial(lzw::Decoder::default(), &conduct, whole, &mut output),
                Some(Format::Pack) => self.serial(pack::Decoder::default(), &conduct, whole, &mut output),
                Some(Format::Lzh) => self.serial(lzh::Decoder::default(), &conduct, whole, &mut output),
                Some(Format::Zip) => self.serial(zip::Decoder::default(), &conduct, whole, &mut output),
                Some(Format::Zlib) => self.serial(zlib::Decoder::default(), &conduct, whole, &mut output),
                Some(Format::Lzip) => {
                    self.parts((self.lzip_scanner(self.workers), Format::Lzip), &conduct, whole, &mut output)
                }
                Some(Format::Xz) => {
                    self.parts((self.xz_scanner(self.workers), Format::Xz), &conduct, whole, &mut output)
                }
                // What is wrong with any other file, too, is for this one to tell.
                Some(Format::Gzip) | None => self.gunzip(&conduct, whole, &mut output, &mistaken),
            }
        };
        let garbage_at = match result {
            Ok(()) => None,
            Err(error) => Some(error.is_garbage_at().ok_or(error)?),
        };
        output.flush().map_err(Error::Write)?;
        let mistaken = Some(mistaken.into_inner()).filter(|&number| number > 0);
        Ok(Decompressed { read: input.bytes, written: output.bytes, garbage_at, mistaken })
    }

    fn gunzip(
        &self,
        conduct: &Conduct<'_>,
        input: impl Read + Send,
        mut output: impl Write + Send,
        mistaken: &AtomicU64,
    ) -> Result<(), Error> {
        let workers = self.workers_within();
        let mut write = |data: Recycled<Vec<u8>>| output.write_all(&data).map_err(Error::Write);
        let (says_more, input) = has_extra_field(input).map_err(Error::Read)?;
        if !says_more && self.speculation.is_done(workers) {
            let stream = pipes::gzip::decompress_guessing(workers, input, *conduct, mistaken);
            return carry_out(stream, conduct, &mut write);
        }
        carry_out(pipes::gzip::decompress(workers, input, *conduct, mistaken), conduct, &mut write)
    }

    fn bunzip2(
        &self,
        conduct: &Conduct<'_>,
        input: impl Read + Send,
        mut output: impl Write + Send,
    ) -> Result<(), Error> {
        let mut assembler = Assembler::new();
        let mut write = |contents: bzip2::Contents| contents.write_to(&mut output).map_err(Error::Write);
        let stream = pipes::bzip2::decompress(self.workers_within(), input, *conduct);
        carry_out(stream, conduct, |decoded: Decoded| {
            assembler.next(decoded)?.map_or(Ok(0), &mut write).map(drop)
        })?;
        while let Some(contents) = assembler.finish()? {
            write(contents)?;
        }
        Ok(())
    }

    fn serial<S: Serial + Send>(
        &self,
        decoder: S,
        conduct: &Conduct<'_>,
        input: impl Read + Send,
        mut output: impl Write + Send,
    ) -> Result<(), Error>
    where
        Error: From<S::Error>,
    {
        let stream = pipes::serial::decompress(decoder, self.workers, input, *conduct);
        carry_out(stream, conduct, |data: Recycled<Vec<u8>>| output.write_all(&data).map_err(Error::Write))
    }

    /// How many workers may decode gzip or bzip2 within the limit of memory: one takes, with what waits for it, less than
    /// 16 MiB.
    pub fn workers_within(&self) -> usize {
        let most = self.memory_limit.map_or(u64::MAX, |limit| limit >> 24);
        self.workers.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1)
    }

    /// What room there is for the parts of lzip and xz, with so many workers.
    fn room(&self, workers: usize) -> Room {
        let all = Room::default();
        Room { bytes: self.memory_limit.unwrap_or(all.bytes), parts: pipes::parts::window(workers) }
    }

    pub(crate) fn lzip_scanner(&self, workers: usize) -> lzip::Scanner {
        lzip::Scanner::new(self.lzip).within(self.room(workers))
    }

    pub(crate) fn xz_scanner(&self, workers: usize) -> xz::Scanner {
        xz::Scanner::new().within(self.room(workers))
    }

    pub(crate) fn zstd_scanner(&self) -> zstd::Scanner {
        self.zstd_scanner_at(0, 0)
    }

    /// A scanner behind so many frames and bytes. Frames are decoded as a whole up to a size that is smaller with more
    /// than 16 workers.
    pub(crate) fn zstd_scanner_at(&self, frames: u64, offset: u64) -> zstd::Scanner {
        let max_whole = self.zstd.max_whole.min(FRAMES / self.window(Format::Zstd));
        zstd::Scanner::at(&zstd::Decoding { max_whole, ..self.zstd.clone() }, frames, offset)
    }

    fn parts<S>(
        &self,
        (scanner, format): (S, Format),
        conduct: &Conduct<'_>,
        input: impl Read + Send,
        mut output: impl Write + Send,
    ) -> Result<(), Error>
    where
        S: Scan + Send,
        Error: From<S::Error>,
    {
        let stream = pipes::parts::decompress(scanner, self.crew(format), input, *conduct);
        carry_out(stream, conduct, |data: Recycled<Vec<u8>>| output.write_all(&data).map_err(Error::Write))
    }

    /// The most pieces (members or blocks, or chunks of 256 KiB) that are in memory at once: two for each worker, and
    /// of lzip and xz one for each and one. There are as many buffers of 128 KiB for what was read.
    pub fn window(&self, format: Format) -> usize {
        match format {
            Format::Gzip
            | Format::Bzip2
            | Format::Zstd
            | Format::Compress
            | Format::Pack
            | Format::Lzh
            | Format::Zip
            | Format::Zlib => pipes::window(self.workers),
            Format::Lzip | Format::Xz => pipes::parts::window(self.workers),
        }
    }

    /// How many workers decode a format, and how many pieces are in memory at once.
    pub(crate) fn crew(&self, format: Format) -> (usize, usize) {
        (self.workers, self.window(format))
    }

    /// The plan that [`run`](Decompression::run) would run for a file of a format.
    pub fn plan(&self, format: Format) -> Plan {
        let input: &mut (dyn Read + Send) = &mut io::empty();
        match format {
            // As for files of other programs; those that say where their blocks are need no guesses.
            Format::Gzip if self.speculation.is_done(self.workers_within()) => {
                let (workers, conduct) = (self.workers_within(), Conduct::default());
                pipes::gzip::decompress_guessing(workers, input, conduct, &AtomicU64::new(0)).plan()
            }
            Format::Gzip => {
                pipes::gzip::decompress(self.workers, input, Conduct::default(), &AtomicU64::new(0)).plan()
            }
            Format::Bzip2 => pipes::bzip2::decompress(self.workers, input, Conduct::default()).plan(),
            // The same for all of them.
            Format::Compress | Format::Pack | Format::Lzh | Format::Zip | Format::Zlib => {
                let decoder = lzw::Decoder::default();
                pipes::serial::decompress(decoder, self.workers, input, Conduct::default()).plan()
            }
            Format::Xz => {
                pipes::parts::decompress(xz::Scanner::new(), self.crew(format), input, Conduct::default())
                    .plan()
            }
            Format::Zstd => {
                pipes::parts::decompress(self.zstd_scanner(), self.crew(format), input, Conduct::default())
                    .plan()
            }
            Format::Lzip => pipes::parts::decompress(
                lzip::Scanner::new(self.lzip),
                self.crew(format),
                input,
                Conduct::default(),
            )
            .plan(),
        }
    }
}

/// Whether a file of gzip begins with a header that has an extra field, in which it may say where its parts are, and a reader of
/// all of it.
fn has_extra_field<R: Read>(mut input: R) -> io::Result<(bool, impl Read + use<R>)> {
    let mut start = Vec::with_capacity(4);
    input.by_ref().take(4).read_to_end(&mut start)?;
    let has_extra = start.get(3).is_some_and(|flags| flags & 4 != 0);
    Ok((has_extra, io::Cursor::new(start).chain(input)))
}

//! zstd: blocks compressed to frames or to pieces of one frame, and frames decompressed.

mod patch;

use std::io::{self, Read, Write};
use std::mem;
use std::ops::RangeInclusive;
use std::sync::Arc;

use abz_codec::Block;
use abz_codec::access::{Kind, Part};
use abz_codec::zstd::{
    self, Checksum, DEFAULT_LEVEL, Decoding, Encoder, Encoding, FrameWriter, LEVELS, Layout, Scanner, Survey,
    frames, patch_memory,
};
use anabranch::{Plan, Recycled, Recycler, TryStream};

use super::reads::{Behind, Names, ReadSeek, Reads, decode, index_of_parts};
use super::writes::{Setting, Writes};
use crate::count::Counted;
use crate::decompress::Decompression;
use crate::error::Error;
use crate::formats::writes::{Compressed, Compression};
use crate::index_builder::{IndexBuilder, Indexed};
use crate::pipes::{self, LentBlock, access, begin, carry_out, parts, window};
use crate::positional::Along;
use crate::positional::{ReadAt, Reading, Writing};
use crate::reader::line::Decode;
use crate::run::Run;
use crate::run_options::{RunOptions, at_work};
use crate::threads::Threads;
use crate::tools::{Lender, Tool};
use crate::writer::coding::{self, Coding, Encode, File, Joined};
use crate::writer::cut::{self, Cut};

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
            Some(_) => patch::BLOCK,
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
        let (mut input, output) = (input.in_order(), output.in_order(self.names().name));
        if how.zstd.patch_from.is_some() {
            return patch::compress((how, level(how)), options, &mut *input, output);
        }
        let mut input = Counted::new(&mut *input);
        let mut output = in_frames(how, &mut input, Counted::new(output), |portion, file| {
            carry_out(compress(how, portion, options), &options, |encoded| write(file, encoded))
        })?;
        output.flush().map_err(Error::Write)?;
        Ok(Compressed { read: input.bytes, written: output.bytes })
    }

    fn encode(&self, how: &Compression, threads: Option<Threads>) -> Box<dyn Encode> {
        let (window, level, encoding) = (how.window(), level(how), how.zstd.clone());
        let encoders = Recycler::new(at_work(how.workers), move || Encoder::new(level, &encoding));
        let homes = Recycler::new(window, Vec::new);
        let header = how.zstd.header(level, how.block_len(), known_contents(how));
        let encoders = move || -> coding::Encoder<(u32, LentBlock), Encoded> {
            let (encoders, homes) = (encoders.clone(), homes.clone());
            Box::new(move |(checksum, block)| {
                let mut home = homes.take();
                let bytes = mem::take(&mut *home);
                let encoded = encoders.take().encode_into(&block, bytes).map_err(Error::Memory)?;
                Ok(Encoded { encoded, home, checksum })
            })
        };
        let coding = Coding {
            cut: Box::new(Summed { cut: cut::blocks(how, window), summing: Summing::of(how) }),
            encoders: Arc::new(encoders),
            join: Box::new(Joined::new(FrameWriter::new(Vec::new(), header, how.block_len()))),
            window,
        };
        coding.begin(threads)
    }

    fn plan_to_write(&self, how: &Compression) -> Plan {
        match how.zstd.patch_from {
            Some(_) => patch::blocks(how, io::empty(), RunOptions::default()).plan(),
            None => compress(how, io::empty(), RunOptions::default()).plan(),
        }
    }
}

/// An encoder and its settings.
struct Kept {
    level: i32,
    encoding: Encoding,
    encoder: Encoder,
}

impl Kept {
    fn lent<'a>(how: &Compression, lender: Lender<'a>) -> Tool<'a, Kept> {
        let level = level(how);
        let fits = |kept: &Kept| kept.level == level && kept.encoding == how.zstd;
        let make = || Kept { level, encoding: how.zstd.clone(), encoder: Encoder::new(level, &how.zstd) };
        lender.tool(fits, make)
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

/// An encoded block, the buffer that its bytes go back to once they are written, and the checksum of all contents up to
/// its end.
pub(crate) struct Encoded {
    encoded: zstd::Encoded,
    home: Recycled<Vec<u8>>,
    checksum: u32,
}

/// Writes an encoded block.
fn write<W: Write>(file: &mut FrameWriter<W>, encoded: Encoded) -> Result<(), Error> {
    let Encoded { encoded, mut home, checksum } = encoded;
    file.write(&encoded, checksum).map_err(Error::Write)?;
    *home = encoded.bytes;
    Ok(())
}

impl File for FrameWriter<Vec<u8>> {
    type Block = Encoded;

    fn add(&mut self, block: Encoded) -> io::Result<()> {
        let Encoded { encoded, mut home, checksum } = block;
        self.write(&encoded, checksum)?;
        *home = encoded.bytes;
        Ok(())
    }

    fn finish(self) -> io::Result<Vec<u8>> {
        self.finish()
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        self.get_mut()
    }
}

/// Cuts blocks, and computes the checksum of all contents up to the end of each.
struct Summed {
    cut: Box<dyn Cut<LentBlock>>,
    summing: Summing,
}

impl Cut<(u32, LentBlock)> for Summed {
    fn push(&mut self, data: &mut &[u8]) -> Result<Option<(u32, LentBlock)>, Error> {
        let block = self.cut.push(data)?;
        Ok(block.map(|block| (self.summing.add(&block), block)))
    }

    fn rest(&mut self, is_end: bool) -> Result<Option<(u32, LentBlock)>, Error> {
        let block = self.cut.rest(is_end)?;
        Ok(block.map(|block| (self.summing.add(&block), block)))
    }
}

/// The size of the contents that the header of a frame records, if it is known and needed: if the whole input is one block,
/// its size is known once it is read.
fn known_contents(how: &Compression) -> Option<u64> {
    how.contents.filter(|len| *len > 0 && (how.rsyncable || *len >= how.block_len() as u64))
}

/// Lets `make` compress `input`. The header of the frame records the size of its contents if it is known beforehand. If
/// the input turns out to be larger, the rest becomes another frame.
fn in_frames<R: Read, W: Write>(
    how: &Compression,
    input: R,
    mut output: W,
    mut make: impl FnMut(&mut Portion<R>, &mut FrameWriter<W>) -> Result<(), Error>,
) -> Result<W, Error> {
    let block = how.block_len();
    let mut said = known_contents(how);
    let mut portion = Portion { reader: input, ahead: None, left: said.unwrap_or(u64::MAX) };
    loop {
        let header = how.zstd.header(level(how), block, said);
        let mut file = FrameWriter::new(output, header, block);
        make(&mut portion, &mut file)?;
        let missing = said.map_or(0, |_| portion.left);
        output = file.finish().map_err(|error| match missing {
            0 => Error::Write(error),
            _ => Error::Read(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("expected {missing} bytes more, as when the file was opened, found its end"),
            )),
        })?;
        if said.take().is_none() || !portion.goes_on().map_err(Error::Read)? {
            return Ok(output);
        }
    }
}

/// The portion of an input that becomes a frame.
struct Portion<R> {
    reader: R,
    /// A byte of this portion that was already read.
    ahead: Option<u8>,
    /// The number of bytes that may still be read of this portion.
    left: u64,
}

impl<R: Read> Portion<R> {
    /// Begins the next portion: the rest of the input. Returns false if there is none.
    fn goes_on(&mut self) -> io::Result<bool> {
        self.left = u64::MAX;
        let mut next = Vec::new();
        self.reader.by_ref().take(1).read_to_end(&mut next)?;
        self.ahead = next.pop();
        Ok(self.ahead.is_some())
    }
}

impl<R: Read> Read for Portion<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let Some(first) = buffer[..len].first_mut() else { return Ok(0) };
        let read = match self.ahead.take() {
            Some(byte) => {
                *first = byte;
                1
            }
            None => self.reader.read(&mut buffer[..len])?,
        };
        self.left -= read as u64;
        Ok(read)
    }
}

/// Computes the checksum of all contents of a file as they are read, if the file has one.
struct Summing(Option<Checksum>);

impl Summing {
    fn of(how: &Compression) -> Self {
        let sums = how.zstd.checksum && how.zstd.layout == Layout::OneFrame;
        Summing(sums.then(Checksum::new))
    }

    /// Returns the checksum of the contents up to the end of this block, if it is needed.
    fn add(&mut self, block: &Block) -> u32 {
        match &mut self.0 {
            Some(checksum) if !block.whole => checksum.add(&block.data),
            _ => 0,
        }
    }
}

/// The level as a number of zstd, negative for fast ones.
fn level(how: &Compression) -> i32 {
    let (level, sign) = how.fast.map_or((how.level, 1), |fast| (fast, -1));
    sign * i32::try_from(level).expect("the levels of zstd are -131072 to 22")
}

/// Compresses `input`.
fn compress<'a, R: Read + Send + 'a>(
    how: &'a Compression,
    input: R,
    options: RunOptions<'a>,
) -> TryStream<'a, Encoded, Error> {
    let (workers, lender, advance) = (how.workers, options.lender(), options.advance());
    let homes = lender.buffers(window(workers));
    let mut summing = Summing::of(how);
    let blocks = pipes::blocks(how, input, lender.buffers(window(workers)));
    let blocks = blocks.map(move |block| block.map(|block| (summing.add(&block), block)));
    begin(blocks, "abz compress", workers, window(workers), options.pool)
        .try_map_with(
            move || Kept::lent(how, lender),
            move |kept, (checksum, block): (u32, LentBlock)| {
                let mut home = homes.take();
                let bytes = mem::take(&mut *home);
                let encoded = kept.encoder.encode_into(&block, bytes).map_err(Error::Memory)?;
                advance.by(block.data.len());
                Ok(Encoded { encoded, home, checksum })
            },
        )
        .name("encode")
}

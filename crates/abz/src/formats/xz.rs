//! xz: blocks compressed to one stream, and streams decompressed.

use std::io;
use std::ops::RangeInclusive;

use abz_codec::access::{Kind, Part};
use abz_codec::xz::{self, EncodedBlock, Encoder, PortionEncoder, Scanner, Settings, StreamWriter, Survey};
use anabranch::{Plan, Recycled, Recycler};

use super::reads::{Behind, Names, ReadSeek, Reads};
use super::writes::{Setting, Writes};
use crate::decompress::Decompression;
use crate::error::Error;
use crate::formats::writes::{Compressed, Compression};
use crate::pipes::cut::{Cuts, LentBlock};
use crate::pipes::encode::{self, EncodeSteps, Join, Portioned};
use crate::pipes::parts;
use crate::positional::Along;
use crate::positional::{Reading, Writing};
use crate::reader::line::Decode;
use crate::run::Run;
use crate::run_options::{Advance, RunOptions};
use crate::threads::Threads;
use crate::writer::line::{Encode, EncodeLine};

pub(super) struct Xz;

impl Reads for Xz {
    fn names(&self) -> &'static Names {
        &Names { name: "xz", suffix: ".xz", suffixes: &[(".xz", ""), (".txz", ".tar")] }
    }

    fn begins(&self, start: &[u8]) -> bool {
        start.starts_with(&xz::MAGIC)
    }

    fn asks_for_memory(&self) -> bool {
        true
    }

    fn window(&self, workers: usize) -> usize {
        parts::window(workers)
    }

    fn decompress(&self, run: Run<'_>) -> Result<(), Error> {
        parts::run(scanner(run.how, run.how.workers), self.window(run.how.workers), run)
    }

    fn read(&self, how: &Decompression, _: &[u8], threads: Option<Threads>) -> Box<dyn Decode> {
        parts::read(scanner(how, how.workers), self.window(how.workers), threads)
    }

    fn plan_to_read(&self, how: &Decompression) -> Plan {
        parts::plan(scanner(how, how.workers), how.workers, self.window(how.workers))
    }

    fn contents(&self, file: &mut dyn ReadSeek) -> io::Result<Option<u64>> {
        Ok(Survey::of(&mut { file })?.map(|survey| survey.uncompressed))
    }

    fn parts(&self, file: &mut Along<'_>) -> io::Result<Option<Vec<Part>>> {
        xz::parts(file)
    }

    fn decompress_from(&self, kind: Kind, from: Behind, run: Run<'_>) -> Result<bool, Error> {
        let Kind::XzBlock { check, stream } = kind else { return Ok(false) };
        let scanner = scanner(run.how, run.how.workers).at(check, stream, from.parts, from.bytes);
        parts::run(scanner, self.window(run.how.workers), run).map(|()| true)
    }
}

impl Writes for Xz {
    fn levels(&self) -> RangeInclusive<u32> {
        0..=9
    }

    fn default_level(&self) -> u32 {
        6
    }

    fn has(&self, setting: Setting) -> bool {
        use Setting::{BlockSize, Check, DictionarySize, Extreme, Rsyncable};
        matches!(setting, BlockSize | Check | DictionarySize | Extreme | Rsyncable)
    }

    fn block_len(&self, how: &Compression) -> usize {
        how.block_size.unwrap_or_else(|| settings(how).block_size())
    }

    fn dictionary(&self, how: &Compression) -> Option<u32> {
        Some(settings(how).dictionary())
    }

    fn memory(&self, how: &Compression) -> u64 {
        // A block that is cut by its contents is held before it is encoded, even with one worker.
        let block = if how.rsyncable && how.workers == 1 { self.block_len(how) as u64 } else { 0 };
        settings(how).memory() + block
    }

    /// One worker holds only the encoded block.
    fn most_blocks(&self, how: &Compression) -> usize {
        if how.workers == 1 { 1 } else { self.window(how.workers) }
    }

    fn compress(
        &self,
        how: &Compression,
        options: RunOptions<'_>,
        input: Reading<'_>,
        output: Writing<'_>,
    ) -> Result<Compressed, Error> {
        let (threads, advance) = (how.threads(options.pool), options.advance());
        match is_encoded_as_it_comes(how) {
            true => encode::run(portioned(how, advance), threads, &options, input, output),
            false => encode::run(Blocks { how: how.clone(), advance }, threads, &options, input, output),
        }
    }

    fn encode(&self, how: &Compression, threads: Option<Threads>) -> Result<Box<dyn Encode>, Error> {
        let advance = Advance::default();
        match is_encoded_as_it_comes(how) {
            true => EncodeLine::begin(portioned(how, advance), how.window(), threads),
            false => EncodeLine::begin(Blocks { how: how.clone(), advance }, how.window(), threads),
        }
    }

    fn plan_to_write(&self, how: &Compression) -> Plan {
        let (threads, advance) = (how.threads(None), Advance::default());
        match is_encoded_as_it_comes(how) {
            true => encode::plan(portioned(how, advance), threads),
            false => encode::plan(Blocks { how: how.clone(), advance }, threads),
        }
    }
}

/// The steps of a file that is made.
struct Blocks<'a> {
    how: Compression,
    advance: Advance<'a>,
}

impl<'a> EncodeSteps for Blocks<'a> {
    type Block = LentBlock;
    type Encoder = (Encoder, Advance<'a>);
    type Encoded = EncodedBlock;
    type Cut = Cuts;
    type Join = StreamWriter<Vec<u8>>;

    fn cut(&self) -> Cuts {
        Cuts::new(&self.how, Recycler::new(self.how.window(), Vec::new))
    }

    fn encoders(&self) -> impl Fn() -> Self::Encoder + Send + Sync + use<'a> {
        let (settings, advance) = (settings(&self.how), self.advance);
        move || (Encoder::new(settings), advance)
    }

    fn encode((encoder, advance): &mut Self::Encoder, block: LentBlock) -> Result<EncodedBlock, Error> {
        let encoded = encoder.encode_watched(&block.data, Vec::new(), &mut |len| advance.by(len));
        encoded.map_err(Error::Memory)
    }

    fn join(&self) -> Result<Self::Join, Error> {
        Ok(StreamWriter::new(Vec::new(), self.how.lzma.check))
    }
}

impl Join<EncodedBlock> for StreamWriter<Vec<u8>> {
    fn add(&mut self, block: EncodedBlock) -> Result<(), Error> {
        self.write(&block).map_err(Error::Write)
    }

    fn finish(self) -> Result<Vec<u8>, Error> {
        self.finish().map_err(Error::Write)
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        self.get_mut()
    }
}

/// Returns true if a single worker encodes a block while it reads it. That takes less memory, and gives the same
/// output.
fn is_encoded_as_it_comes(how: &Compression) -> bool {
    how.workers == 1 && !how.rsyncable
}

/// The number of bytes read at once by a single worker.
const PORTION: usize = 256 << 10;

/// Returns the steps of a single worker that encodes blocks while it reads them.
fn portioned<'a>(
    how: &Compression,
    advance: Advance<'a>,
) -> Portioned<impl Fn() -> Result<Portions<'a>, Error> + use<'a>> {
    let (settings, most) = (settings(how), how.block_len() as u64);
    let join = move || {
        let (encoder, stream) =
            (PortionEncoder::new(settings), StreamWriter::new(Vec::new(), settings.check));
        Ok(Portions { encoder, most, stream, advance })
    };
    Portioned { most: PORTION, buffers: Recycler::new(1, Vec::new), join }
}

/// Encodes portions to blocks.
struct Portions<'a> {
    encoder: PortionEncoder,
    /// The maximum size of a block in bytes.
    most: u64,
    stream: StreamWriter<Vec<u8>>,
    advance: Advance<'a>,
}

impl Join<Recycled<Vec<u8>>> for Portions<'_> {
    fn add(&mut self, portion: Recycled<Vec<u8>>) -> Result<(), Error> {
        let mut rest = &portion[..];
        while !rest.is_empty() {
            let room = usize::try_from(self.most - self.encoder.contents()).unwrap_or(usize::MAX);
            let (some, others) = rest.split_at(rest.len().min(room));
            self.encoder.push(some).map_err(Error::Memory)?;
            rest = others;
            if self.encoder.contents() == self.most {
                self.flush()?;
            }
        }
        self.advance.by(portion.len());
        Ok(())
    }

    /// Ends the block.
    fn flush(&mut self) -> Result<(), Error> {
        if self.encoder.contents() == 0 {
            return Ok(());
        }
        let block = self.encoder.finish().map_err(Error::Memory)?;
        self.stream.write(&block).map_err(Error::Write)
    }

    fn finish(mut self) -> Result<Vec<u8>, Error> {
        self.flush()?;
        Join::finish(self.stream)
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        self.stream.get_mut()
    }
}

/// A scanner with the memory for `workers` workers.
fn scanner(how: &Decompression, workers: usize) -> Scanner {
    Scanner::new().within(parts::room(how, workers)).giving(how.giving).lenient(how.xz)
}

/// The encoder settings of a compression.
pub(super) fn settings(how: &Compression) -> Settings {
    let lzma = &how.lzma;
    Settings {
        level: how.level,
        extreme: lzma.extreme,
        dictionary_size: lzma.dictionary_size,
        check: lzma.check,
    }
}

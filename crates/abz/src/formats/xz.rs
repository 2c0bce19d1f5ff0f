//! xz: blocks compressed to one stream, and streams decompressed.

use std::io;
use std::ops::RangeInclusive;

use abz_codec::access::{Kind, Part};
use abz_codec::xz::{self, EncodedBlock, Encoder, PortionEncoder, Scanner, Settings, StreamWriter, Survey};
use anabranch::{Recycled, Recycler};

use super::reads::{Behind, Names, ReadSeek, Reads};
use super::writes::Writes;
use crate::compression::Compression;
use crate::decompression::Decompression;
use crate::error::Error;
use crate::format::Setting;
use crate::pipes::cut::{Cuts, LentBlock, Portions};
use crate::pipes::encode::{self, Join};
use crate::pipes::{decode, parts};
use crate::positional::Along;
use crate::run::Run;
use crate::run_options::{Advance, Equipment};

pub(super) struct Xz;

impl Reads for Xz {
    fn names(&self) -> &'static Names {
        &Names { name: "xz", suffix: ".xz", suffixes: &[(".xz", ""), (".txz", ".tar")] }
    }

    fn magic(&self) -> &'static [u8] {
        &xz::MAGIC
    }

    /// Padding has a multiple of four bytes (section 2.2 of the format specification), which the decoder knows.
    fn may_be_padded(&self) -> bool {
        false
    }

    fn asks_for_memory(&self) -> bool {
        true
    }

    fn window(&self, workers: usize) -> usize {
        parts::window(workers)
    }

    fn decode_steps<'a>(&self, how: &Decompression, _: &[u8], equipment: Equipment<'a>) -> decode::Steps<'a> {
        let (workers, scanner) = (how.workers, scanner(how, how.workers));
        parts::steps(scanner, (workers, self.window(workers)), equipment)
    }

    fn contents(&self, file: &mut dyn ReadSeek) -> io::Result<Option<u64>> {
        Ok(Survey::of(&mut { file })?.map(|survey| survey.uncompressed))
    }

    fn parts(&self, file: &mut Along<'_>) -> io::Result<Option<Vec<Part>>> {
        xz::parts(file)
    }

    fn decompress_from(&self, kind: Kind, from: Behind, run: Run<'_>) -> Result<bool, Error> {
        let Kind::XzBlock { check, stream } = kind else { return Ok(false) };
        let Run { how, options, input, output, .. } = run;
        let scanner = scanner(how, how.workers).at(check, stream, from.parts, from.bytes);
        let steps = parts::steps(scanner, (how.workers, self.window(how.workers)), options.equipment());
        steps.run(options, input, &mut |_, contents| contents.write_to(&mut *output)).map(|()| true)
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

    fn encode_steps<'a>(&self, how: Compression, equipment: Equipment<'a>) -> encode::Steps<'a> {
        let (settings, advance) = (settings(&how), equipment.advance);
        let stream = StreamWriter::new(Vec::new(), settings.check);
        // A single worker encodes a block while it reads it. That takes less memory, and gives the same output.
        if how.workers == 1 && !how.rsyncable {
            let cut = Portions::new(PORTION, Recycler::new(1, Vec::new));
            let (encoder, most) = (PortionEncoder::new(settings), how.block_len() as u64);
            return encode::Steps::portioned(cut, move || Ok(Single { encoder, most, stream, advance }));
        }
        let cut = Cuts::new(&how, Recycler::new(how.window(), Vec::new));
        let encode = move |encoder: &mut Encoder, block: LentBlock| {
            let encoded = encoder.encode_watched(&block.data, Vec::new(), &mut |len| advance.by(len));
            encoded.map_err(Error::Memory)
        };
        encode::Steps::new(cut, move || Encoder::new(settings), encode, move || Ok(stream))
    }
}

impl Join<EncodedBlock> for StreamWriter<Vec<u8>> {
    fn add(&mut self, block: EncodedBlock) -> Result<(), Error> {
        self.write(&block).map_err(Error::Write)
    }

    fn finish(self: Box<Self>) -> Result<Vec<u8>, Error> {
        StreamWriter::finish(*self).map_err(Error::Write)
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        self.get_mut()
    }
}

/// The number of bytes read at once by a single worker.
const PORTION: usize = 256 << 10;

/// A single worker, which encodes portions to blocks.
struct Single<'a> {
    encoder: PortionEncoder,
    /// The maximum size of a block in bytes.
    most: u64,
    stream: StreamWriter<Vec<u8>>,
    advance: Advance<'a>,
}

impl Join<Recycled<Vec<u8>>> for Single<'_> {
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

    fn finish(mut self: Box<Self>) -> Result<Vec<u8>, Error> {
        self.flush()?;
        self.stream.finish().map_err(Error::Write)
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
        tuning: lzma.tuning,
    }
}

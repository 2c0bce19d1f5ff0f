//! zstd: blocks in, and frames or pieces of one out.

use std::io::{self, Read, Write};
use std::iter;
use std::mem;

use abz_codec::Block;
use abz_codec::zstd::{self, Checksum, Encoder, FrameWriter, Layout};
use anabranch::{Apply, May, Recycled, Recycler, Stream};

use super::{begin, window};
use crate::conduct::Conduct;
use crate::{Compression, Error};

/// What was made of a block; where its bytes go when they are written; and the checksum of all contents up to its end.
pub(crate) struct Encoded {
    encoded: zstd::Encoded,
    home: Recycled<Vec<u8>>,
    checksum: u32,
}

/// Writes what was made of a block.
pub(crate) fn write<W: Write>(file: &mut FrameWriter<W>, encoded: Encoded) -> Result<(), Error> {
    let Encoded { encoded, mut home, checksum } = encoded;
    file.write(&encoded, checksum).map_err(Error::Write)?;
    *home = encoded.bytes;
    Ok(())
}

/// Has `make` make a file of what `input` gives. The header of a frame says how large its contents are, if that is known
/// before; what an input has more by then becomes another frame.
pub(crate) fn in_frames<R: Read, W: Write>(
    compression: &Compression,
    input: R,
    mut output: W,
    mut make: impl FnMut(&mut Portion<R>, &mut FrameWriter<W>) -> Result<(), Error>,
) -> Result<W, Error> {
    let block = compression.block_len();
    // Of a block that is the whole input the size is known when it was read.
    let is_needed = |len: &u64| *len > 0 && (compression.rsyncable || *len >= block as u64);
    let mut said = compression.contents.filter(is_needed);
    let mut portion = Portion { reader: input, ahead: None, left: said.unwrap_or(u64::MAX) };
    loop {
        let header = compression.zstd.header(level(compression), block, said);
        let mut file = FrameWriter::new(output, header, block);
        make(&mut portion, &mut file)?;
        let missing = said.map_or(0, |_| portion.left);
        output = file.finish().map_err(|error| match missing {
            0 => Error::Write(error),
            _ => Error::Read(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("expected {missing} bytes more, which it had when it was opened, found its end"),
            )),
        })?;
        if said.take().is_none() || !portion.goes_on().map_err(Error::Read)? {
            return Ok(output);
        }
    }
}

/// The part of an input that becomes a frame.
pub(crate) struct Portion<R> {
    reader: R,
    /// A byte that was read already.
    ahead: Option<u8>,
    /// How many bytes it may have yet.
    left: u64,
}

impl<R: Read> Portion<R> {
    /// True if there is more of the input, which is the next portion.
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

/// Sums up the contents of a file as they are read, if it has a checksum over all of them.
pub(crate) struct Summing(Option<Checksum>);

impl Summing {
    pub(crate) fn of(compression: &Compression) -> Self {
        let sums = compression.zstd.checksum && compression.zstd.layout == Layout::OneFrame;
        Summing(sums.then(Checksum::new))
    }

    /// The checksum up to the end of this block, if it is needed.
    pub(crate) fn add(&mut self, block: &Block) -> u32 {
        match &mut self.0 {
            Some(checksum) if !block.whole => checksum.add(&block.data),
            _ => 0,
        }
    }
}

/// The level of a compression.
pub(crate) fn level(compression: &Compression) -> i32 {
    let (level, sign) = compression.fast.map_or((compression.level, 1), |fast| (fast, -1));
    sign * i32::try_from(level).expect("the levels of zstd are -131072 to 22")
}

/// Compresses what `input` gives.
pub(crate) fn compress<'a, R: Read + Send + 'a>(
    compression: &'a Compression,
    input: R,
    conduct: Conduct<'a>,
) -> Stream<'a, impl Apply<Error, Out = Encoded> + Send + use<'a, R>, May<Error>> {
    let workers = compression.workers;
    let mut blocks = compression.blocks(input);
    let mut summing = Summing::of(compression);
    let buffers = Recycler::new(window(workers), Vec::new);
    let homes = Recycler::new(window(workers), Vec::new);
    let blocks = iter::from_fn(move || {
        let mut buffer = buffers.take();
        let block = blocks.read_into(mem::take(&mut *buffer)).map_err(Error::Read).transpose()?;
        Some(block.map(|block| {
            let checksum = summing.add(&block);
            (block, buffer, checksum)
        }))
    });
    let advance = conduct.advance();
    begin(blocks, "abz compress", workers, window(workers), conduct.pool)
        .map_with(
            move || Encoder::new(level(compression), &compression.zstd),
            move |encoder, (block, mut buffer, checksum): (Block, Recycled<Vec<u8>>, u32)| {
                let mut home = homes.take();
                let encoded = encoder.encode_into(&block, mem::take(&mut *home));
                advance.by(block.data.len());
                *buffer = block.data;
                Encoded { encoded, home, checksum }
            },
        )
        .name("encode")
}

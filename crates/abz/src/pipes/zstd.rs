//! zstd: blocks in and frames out.

use std::io::Read;
use std::iter;
use std::mem;

use abz_codec::zstd::Encoder;
use anabranch::{Apply, May, Recycled, Recycler, Stream};

use super::{begin, window};
use crate::conduct::Conduct;
use crate::{Compression, Error};

/// A frame, and the size of its contents in bytes.
pub(crate) type Encoded = (Recycled<Vec<u8>>, usize);

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
    let buffers = Recycler::new(window(workers), Vec::new);
    let frames = Recycler::new(window(workers), Vec::new);
    let blocks = iter::from_fn(move || {
        let mut buffer = buffers.take();
        let block = blocks.read_into(mem::take(&mut *buffer)).map_err(Error::Read).transpose()?;
        Some(block.map(|block| {
            *buffer = block.data;
            buffer
        }))
    });
    let advance = conduct.advance();
    begin(blocks, "abz compress", workers, window(workers), conduct.pool)
        .map_with(
            move || Encoder::new(level(compression), &compression.zstd),
            move |encoder, block: Recycled<Vec<u8>>| {
                let mut frame = frames.take();
                encoder.encode_into(&block, &mut frame);
                advance.by(block.len());
                (frame, block.len())
            },
        )
        .name("encode")
}

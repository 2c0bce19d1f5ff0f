//! xz: blocks in and one stream out.

use std::io::Read;

use abz_codec::xz::{EncodedBlock, Encoder, Settings};
use anabranch::{Apply, May, Pool, Stream};

use super::{begin, parts};
use crate::{Compression, Error};

/// How a compression looks for what repeats.
pub(crate) fn settings(compression: &Compression) -> Settings {
    let lzma = &compression.lzma;
    Settings {
        level: compression.level,
        extreme: lzma.extreme,
        dictionary_size: lzma.dictionary_size,
        check: lzma.check,
    }
}

/// Compresses what `input` gives.
pub(crate) fn compress<'a, R: Read + Send + 'a>(
    compression: &'a Compression,
    input: R,
    pool: Option<&'a Pool>,
) -> Stream<'a, impl Apply<Error, Out = EncodedBlock> + Send + use<'a, R>, May<Error>> {
    let (workers, settings) = (compression.workers, settings(compression));
    let blocks = compression.blocks(input).map(|block| block.map_err(Error::Read));
    begin(blocks, "abz compress", workers, parts::window(workers), pool)
        .map_with(
            move || Encoder::new(settings),
            |encoder, block| encoder.encode_into(&block.data, Vec::new()),
        )
        .name("encode")
}

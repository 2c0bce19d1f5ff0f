//! xz: blocks in and one stream out.

use std::io::Read;

use abz_codec::xz::{EncodedBlock, Encoder, Settings};
use anabranch::{Apply, May, Stream};

use super::{begin, parts};
use crate::conduct::Conduct;
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
    conduct: Conduct<'a>,
) -> Stream<'a, impl Apply<Error, Out = EncodedBlock> + Send + use<'a, R>, May<Error>> {
    let (workers, settings) = (compression.workers, settings(compression));
    let blocks = compression.blocks(input).map(|block| block.map_err(Error::Read));
    let advance = conduct.advance();
    begin(blocks, "abz compress", workers, parts::window(workers), conduct.pool)
        .map_with(
            move || Encoder::new(settings),
            move |encoder, block| encoder.encode_watched(&block.data, Vec::new(), &mut |len| advance.by(len)),
        )
        .name("encode")
}

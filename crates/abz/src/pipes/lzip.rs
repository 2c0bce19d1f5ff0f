//! lzip: blocks in and members out.

use std::io::Read;

use abz_codec::lzip::{Encoder, Settings};
use anabranch::{Apply, May, Stream};

use super::{begin, parts};
use crate::conduct::Conduct;
use crate::{Compression, Error};

/// How a compression looks for what repeats.
///
/// # Panics
///
/// If there is no such level.
pub(crate) fn settings(compression: &Compression) -> Settings {
    let mut settings = Settings::of_level(compression.level);
    let lzma = &compression.lzma;
    settings.dictionary_size = lzma.dictionary_size.unwrap_or(settings.dictionary_size);
    settings.match_length = lzma.match_length.unwrap_or(settings.match_length);
    settings
}

/// Compresses what `input` gives.
pub(crate) fn compress<'a, R: Read + Send + 'a>(
    compression: &'a Compression,
    input: R,
    conduct: Conduct<'a>,
) -> Stream<'a, impl Apply<Error, Out = Vec<u8>> + Send + use<'a, R>, May<Error>> {
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

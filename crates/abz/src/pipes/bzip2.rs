//! bzip2: blocks in and one stream out, and back.

use std::io::Read;
use std::iter;

use abz_codec::bzip2::{Cutter, Decoded, Decoder, EncodedBlock, Encoder, Level, Scanner};
use anabranch::{Apply, May, Stream};

use super::inputs::{Inputs, Telling};
use super::{begin, window};
use crate::conduct::Conduct;
use crate::{Compression, Error};

/// The blocks of a compression.
///
/// # Panics
///
/// If there is no such level.
pub(crate) fn level(compression: &Compression) -> Level {
    Level::new(compression.level).expect("the levels of bzip2 are 1 to 9")
}

/// Compresses what `input` gives.
pub(crate) fn compress<'a, R: Read + Send + 'a>(
    compression: &'a Compression,
    input: R,
    conduct: Conduct<'a>,
) -> Stream<'a, impl Apply<Error, Out = EncodedBlock> + Send + use<'a, R>, May<Error>> {
    let mut cutter = Cutter::new(Telling::new(input, conduct.advance()), level(compression));
    let blocks = iter::from_fn(move || cutter.read_into(Vec::new()).map_err(Error::Read).transpose());
    begin(blocks, "abz compress", compression.workers, window(compression.workers), conduct.pool)
        .map_with(Encoder::new, |encoder, block| encoder.encode_into(&block, Vec::new()))
        .name("encode")
}

/// Decompresses what `input` gives, up to the place where an assembler puts it together: that is for the end to do.
pub(crate) fn decompress<'a, R: Read + Send + 'a>(
    workers: usize,
    input: R,
    conduct: Conduct<'a>,
) -> Stream<'a, impl Apply<Error, Out = Decoded> + Send + use<'a, R>, May<Error>> {
    let inputs = Inputs::new(Telling::new(input, conduct.advance()), window(workers));
    begin(inputs, "abz decompress", workers, window(workers), conduct.pool)
        .serial_spread(Scanner::default(), |scanner, input| match input.is_end() {
            true => scanner.finish(),
            false => input.scan(|bytes| scanner.next(bytes, &mut Vec::new())),
        })
        .name("find blocks")
        .map_with(Decoder::new, |decoder, segment| decoder.decode_into(segment, Vec::new()))
        .name("decode")
}

//! bzip2: blocks in and one stream out, and back.

use std::io::Read;
use std::iter;
use std::sync::{Arc, Mutex, PoisonError};

use abz_codec::bzip2::{Cutter, Decoded, Decoder, EncodedBlock, Encoder, Level, Scanner, Segment};
use anabranch::{Apply, May, Pool, Stream};

use super::inputs::{Input, Inputs};
use super::{begin, window};
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
    pool: Option<&'a Pool>,
) -> Stream<'a, impl Apply<Error, Out = EncodedBlock> + Send + use<'a, R>, May<Error>> {
    let mut cutter = Cutter::new(input, level(compression));
    let blocks = iter::from_fn(move || cutter.read_into(Vec::new()).map_err(Error::Read).transpose());
    begin(blocks, "abz compress", compression.workers, window(compression.workers), pool)
        .map_with(Encoder::new, |encoder, block| encoder.encode_into(&block, Vec::new()))
        .name("encode")
}

/// Decompresses what `input` gives, up to the place where an assembler puts it together: that is for the end to do.
pub(crate) fn decompress<'a, R: Read + Send + 'a>(
    workers: usize,
    input: R,
    pool: Option<&'a Pool>,
) -> Stream<'a, impl Apply<Error, Out = Decoded> + Send + use<'a, R>, May<Error>> {
    let scanner = Arc::default();
    begin(Inputs::new(input, window(workers)), "abz decompress", workers, window(workers), pool)
        .serial_flat_map(move |input| Segments { scanner: Arc::clone(&scanner), input, scanned: 0 })
        .name("find blocks")
        .map_with(Decoder::new, |decoder, segment| decoder.decode_into(segment, Vec::new()))
        .name("decode")
}

/// The segments that an input completes.
struct Segments {
    /// Shared by the segments of one input after another; nobody ever waits for it.
    scanner: Arc<Mutex<Scanner>>,
    input: Input,
    scanned: usize,
}

impl Iterator for Segments {
    type Item = Segment;

    fn next(&mut self) -> Option<Segment> {
        let mut scanner = self.scanner.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = self.input.bytes();
        if bytes.is_empty() {
            return scanner.finish();
        }
        let mut rest = &bytes[self.scanned..];
        let segment = scanner.next(&mut rest, &mut Vec::new());
        self.scanned = bytes.len() - rest.len();
        segment
    }
}

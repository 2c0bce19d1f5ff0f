//! Parts of a file, each read by the worker that decodes it.

use std::io;

use abz_codec::access::{Decoder, Part};
use abz_codec::zstd::Decoding;
use anabranch::{Apply, May, Pool, Recycled, Recycler, Stream};

use super::begin;
use crate::error::Error;
use crate::places::ReadAt;

/// Gives the contents of `parts`, which are small enough to be in memory, in order; where their sizes are not `exact`, they
/// may have less.
pub(crate) fn decode<'a>(
    workers: usize,
    window: usize,
    decoding: &'a Decoding,
    input: &'a dyn ReadAt,
    (parts, exact): (&'a [Part], bool),
    pool: Option<&'a Pool>,
) -> Stream<'a, impl Apply<Error, Out = Recycled<Vec<u8>>> + Send + use<'a>, May<Error>> {
    let buffers = Recycler::new(window, Vec::new);
    begin(parts.iter().map(Ok), "abz range", workers, window, pool)
        .name("parts")
        .try_map_with(
            || (Decoder::new(decoding), Vec::new()),
            move |(decoder, bytes), part: &Part| {
                read_part(input, part, bytes)?;
                let mut data = buffers.take();
                match exact {
                    true => decoder.decode_into(part, bytes, &mut data)?,
                    false => decoder.decode_at_most_into(part, bytes, &mut data)?,
                }
                Ok(data)
            },
        )
        .name("read and decode")
}

/// Reads the bytes of a part into `bytes`.
pub(crate) fn read_part(input: &dyn ReadAt, part: &Part, bytes: &mut Vec<u8>) -> Result<(), Error> {
    let place = part.bytes();
    let len = (place.end - place.start) as usize;
    bytes.clear();
    let made = bytes.try_reserve_exact(len);
    made.map_err(|_| Error::Read(io::ErrorKind::OutOfMemory.into()))?;
    bytes.resize(len, 0);
    input.read_at(bytes, place.start).map_err(Error::Read)
}

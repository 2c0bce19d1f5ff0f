//! Files that are one stream, read: those of `compress`, `pack`, `compress -H` and `zip`.

use std::io::Read;

use abz_codec::parts::Serial;
use anabranch::{Apply, May, Recycled, Recycler, Stream};

use super::inputs::{Inputs, Telling};
use super::{begin, window};
use crate::Error;
use crate::conduct::Conduct;

/// Decompresses what `input` gives, in one stage, while other workers read and write.
pub(crate) fn decompress<'a, S, R>(
    decoder: S,
    workers: usize,
    input: R,
    conduct: Conduct<'a>,
) -> Stream<'a, impl Apply<Error, Out = Recycled<Vec<u8>>> + Send + use<'a, S, R>, May<Error>>
where
    S: Serial + Send + 'a,
    R: Read + Send + 'a,
    Error: From<S::Error>,
{
    let buffers = Recycler::new(window(workers), Vec::new);
    let inputs = Inputs::new(Telling::new(input, conduct.advance()), window(workers));
    begin(inputs, "abz decompress", workers, window(workers), conduct.pool)
        .try_serial_spread(decoder, move |decoder, input| {
            let mut data = buffers.take();
            let has_data = match input.is_end() {
                true => decoder.finish(&mut data),
                false => input.scan(|bytes| decoder.next(bytes, &mut data)),
            };
            Ok(has_data?.then_some(data))
        })
        .name("decode")
}

//! Files of `compress`, read.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use abz_codec::lzw::Decoder;
use anabranch::{Apply, May, Pool, Recycled, Recycler, Stream};

use super::inputs::{Input, Inputs};
use super::{begin, window};
use crate::Error;

/// Decompresses what `input` gives, in one stage, while other workers read and write.
pub(crate) fn decompress<'a, R: Read + Send + 'a>(
    workers: usize,
    input: R,
    pool: Option<&'a Pool>,
) -> Stream<'a, impl Apply<Error, Out = Recycled<Vec<u8>>> + Send + use<'a, R>, May<Error>> {
    let decode = Decode { decoder: Arc::default(), buffers: Recycler::new(window(workers), Vec::new) };
    begin(Inputs::new(input, window(workers)), "abz decompress", workers, window(workers), pool)
        .try_serial_flat_map(move |input| Chunks { decode: decode.clone(), input, decoded: 0 })
        .name("decode")
}

#[derive(Clone)]
struct Decode {
    /// Shared by the chunks of one input after another; nobody ever waits for it.
    decoder: Arc<Mutex<Decoder>>,
    buffers: Recycler<Vec<u8>>,
}

/// The data that an input completes.
struct Chunks {
    decode: Decode,
    input: Input,
    decoded: usize,
}

impl Iterator for Chunks {
    type Item = Result<Recycled<Vec<u8>>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut decoder = self.decode.decoder.lock().unwrap_or_else(PoisonError::into_inner);
        let mut data = self.decode.buffers.take();
        let bytes = self.input.bytes();
        let has_data = if bytes.is_empty() {
            decoder.finish(&mut data)
        } else {
            let mut rest = &bytes[self.decoded..];
            let has_data = decoder.next(&mut rest, &mut data);
            self.decoded = bytes.len() - rest.len();
            has_data
        };
        has_data.map(|has_data| has_data.then_some(data)).map_err(Error::Lzw).transpose()
    }
}

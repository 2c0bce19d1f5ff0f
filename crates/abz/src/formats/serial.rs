//! Formats whose files are one stream that one thread decodes: those of `compress`, `pack` and `compress -H`. zip and
//! zlib files are read this way too.

use std::io::{self, Read};
use std::marker::PhantomData;

use abz_codec::parts;
use anabranch::{Plan, Recycled, TryStream};

use super::reads::{Names, Reads};
use crate::decompress::Decompression;
use crate::error::Error;
use crate::pipes::inputs::{Inputs, Telling};
use crate::pipes::{begin, carry_out, window};
use crate::run::Run;
use crate::run_options::RunOptions;

/// A format with the decoder `S`.
pub(super) struct Serial<S>(PhantomData<fn() -> S>);

impl<S> Serial<S> {
    pub(super) const NEW: Self = Serial(PhantomData);
}

impl<S: parts::Serial> Serial<S> {
    const NAMES: Names = Names { name: S::NAME, suffix: S::SUFFIX, suffixes: S::SUFFIXES };
}

impl<S: parts::Serial + Default + Send> Reads for Serial<S> {
    fn names(&self) -> &'static Names {
        &Self::NAMES
    }

    fn begins(&self, start: &[u8]) -> bool {
        S::begins(start)
    }

    fn decompress(&self, run: Run<'_>) -> Result<(), Error> {
        let Run { how, options, input, output, .. } = run;
        let stream = decompress(S::default(), how.workers, input, *options);
        carry_out(stream, options, |data: Recycled<Vec<u8>>| output.write_all(&data).map_err(Error::Write))
    }

    fn plan_to_read(&self, how: &Decompression) -> Plan {
        decompress(S::default(), how.workers, io::empty(), RunOptions::default()).plan()
    }
}

/// Decompresses `input` in one stage, while other workers read and write.
fn decompress<'a, S, R>(
    decoder: S,
    workers: usize,
    input: R,
    options: RunOptions<'a>,
) -> TryStream<'a, Recycled<Vec<u8>>, Error>
where
    S: parts::Serial + Send + 'a,
    R: Read + Send + 'a,
{
    let lender = options.lender();
    let buffers = lender.buffers(window(workers));
    let inputs = Inputs::new(Telling::new(input, options.advance()), lender.inputs(window(workers)));
    begin(inputs, "abz decompress", workers, window(workers), options.pool)
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

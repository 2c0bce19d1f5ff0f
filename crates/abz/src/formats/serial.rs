//! Formats whose files are one stream that one thread decodes: those of `compress`, `pack` and `compress -H`. zip and
//! zlib files are read this way too.

use std::marker::PhantomData;

use abz_codec::parts;
use anabranch::{Plan, Pool, Recycled, Recycler};

use super::reads::{Names, Reads};
use crate::decompress::Decompression;
use crate::error::Error;
use crate::pipes::decode::{self, DecodeSteps, InOrder};
use crate::pipes::inputs::{self, Input, Inputs, Telling};
use crate::pipes::{Threads, window};
use crate::reader::line::{Decode, DecodeLine};
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

impl<S: parts::Serial + Default + Send + 'static> Reads for Serial<S> {
    fn names(&self) -> &'static Names {
        &Self::NAMES
    }

    fn begins(&self, start: &[u8]) -> bool {
        S::begins(start)
    }

    fn decompress(&self, run: Run<'_>) -> Result<(), Error> {
        let Run { how, options, input, output, .. } = run;
        let (threads, lender) = (threads(how.workers, options.pool), options.lender());
        let inputs = Inputs::new(Telling::new(input, options.advance()), lender.inputs(threads.window));
        let steps = Whole { decoder: S::default(), buffers: lender.buffers(threads.window) };
        decode::run(steps, inputs, threads, options, |_, contents| contents.write_to(&mut *output))
    }

    fn read(
        &self,
        how: &Decompression,
        _: &[u8],
        threads: Option<crate::threads::Threads>,
    ) -> Box<dyn Decode> {
        let window = window(how.workers);
        DecodeLine::new(Whole::alone(S::default(), window), inputs::buffers(window), window, threads)
    }

    fn plan_to_read(&self, how: &Decompression) -> Plan {
        let threads = threads(how.workers, None);
        decode::plan(Whole::alone(S::default(), threads.window), threads)
    }
}

/// Decodes in one step, while other workers read and write.
fn threads(workers: usize, pool: Option<&Pool>) -> Threads<'_> {
    Threads { workers, window: window(workers), pool }
}

/// The steps of a file that is decoded as a whole, in the first of them.
struct Whole<S> {
    decoder: S,
    buffers: Recycler<Vec<u8>>,
}

impl<S> Whole<S> {
    /// The steps of a run without tools.
    fn alone(decoder: S, window: usize) -> Self {
        Whole { decoder, buffers: RunOptions::default().lender().buffers(window) }
    }
}

impl<S: parts::Serial + Send> DecodeSteps for Whole<S> {
    const SPLIT: &'static str = "inflate";
    type Piece = Recycled<Vec<u8>>;
    type Decoder = ();
    type Decoded = Recycled<Vec<u8>>;
    type Join = InOrder;

    fn split(&mut self, input: &mut Input) -> Result<Option<Self::Piece>, Error> {
        let mut data = self.buffers.take();
        let has_data = match input.is_end() {
            true => self.decoder.finish(&mut data),
            false => input.scan(|bytes| self.decoder.next(bytes, &mut data)),
        };
        Ok(has_data?.then_some(data))
    }

    fn decoders(&self) -> impl Fn() + Send + Sync + use<S> {
        || ()
    }

    fn decode(_: &mut (), data: Self::Piece) -> Result<Self::Decoded, Error> {
        Ok(data)
    }

    fn join() -> InOrder {
        InOrder
    }
}

//! Streams that decode files of large parts. All workers decode parts that are small enough, and one decodes the
//! others.

use std::mem;

use abz_codec::parts::{Room, Scan, Scanned};
use anabranch::{Plan, Recycled, Recycler};

use super::Threads;
use super::decode::{self, DecodeSteps, InOrder};
use super::inputs::{self, Input, Inputs};
use crate::decompress::Decompression;
use crate::error::Error;
use crate::reader::line::{Decode, DecodeLine};
use crate::run::Run;
use crate::run_options::{Advance, RunOptions, at_work};
use crate::threads;
use crate::tools::Lender;

/// The maximum number of lzip or xz parts in memory at once: one for each worker that is at work, and one that waits to
/// be written. One is enough, because a part takes many times as long as workers wait for each other.
pub(crate) fn window(workers: usize) -> usize {
    at_work(workers) + 1
}

/// The memory for the parts of lzip and xz, with `workers` workers.
pub(crate) fn room(how: &Decompression, workers: usize) -> Room {
    let all = Room::default();
    Room { bytes: how.memory_limit.unwrap_or(all.bytes), parts: window(workers) }
}

/// Decodes a file, with at most `window` parts in memory at once.
pub(crate) fn run<S: Scan + Send>(scanner: S, window: usize, run: Run<'_>) -> Result<(), Error> {
    let Run { how, options, input, output, .. } = run;
    let lender = options.lender();
    let inputs = Inputs::new(input, lender.inputs(window)).telling(options.pauses());
    let threads = Threads { workers: how.workers, window, pool: options.pool };
    let steps = Parts::new(scanner, window, lender, options.advance());
    decode::run(steps, inputs, threads, options, |_, contents| contents.write_to(&mut *output))
}

/// Begins to decode a file whose bytes the caller reads.
pub(crate) fn read<S: Scan + Send + 'static>(
    scanner: S,
    window: usize,
    threads: Option<threads::Threads>,
) -> Box<dyn Decode> {
    DecodeLine::new(Parts::alone(scanner, window), inputs::buffers(window), window, threads)
}

/// Returns the plan of [`run`].
pub(crate) fn plan<S: Scan + Send>(scanner: S, workers: usize, window: usize) -> Plan {
    decode::plan(Parts::alone(scanner, window), Threads { workers, window, pool: None })
}

/// The steps for files of large parts. All workers decode parts that the scanner gives whole. The scanner itself decodes
/// the others, while other workers read and write.
pub(crate) struct Parts<'a, S> {
    scanner: S,
    /// The number of bytes of the part so far, which count as progress once it is decoded.
    passed: usize,
    spares: Recycler<Vec<u8>>,
    buffers: Recycler<Vec<u8>>,
    advance: Advance<'a>,
}

impl<'a, S: Scan> Parts<'a, S> {
    fn new(scanner: S, window: usize, lender: Lender, advance: Advance<'a>) -> Self {
        Parts { scanner, passed: 0, spares: lender.buffers(window), buffers: lender.buffers(window), advance }
    }

    /// The steps of a run that nobody observes.
    pub(crate) fn alone(scanner: S, window: usize) -> Self {
        let options = RunOptions::default();
        Parts::new(scanner, window, options.lender(), options.advance())
    }
}

impl<'a, S: Scan + Send> DecodeSteps for Parts<'a, S> {
    const SPLIT: &'static str = "split or decode";
    type Piece = Part<S::Whole>;
    type Decoder = PartDecoder<'a, S::Decoder>;
    type Decoded = Recycled<Vec<u8>>;
    type Join = InOrder;

    fn split(&mut self, input: &mut Input) -> Result<Option<Self::Piece>, Error> {
        let (mut data, before) = (self.spares.take(), input.left());
        let found = match input.is_end() {
            true => self.scanner.finish(&mut data),
            false if input.is_pause() => self.scanner.pause(&mut data),
            false => input.scan(|bytes| self.scanner.next(bytes, &mut data)),
        };
        self.passed += before - input.left();
        Ok(match found? {
            Some(Scanned::Whole(whole)) => Some(Part::Whole(whole, data, mem::take(&mut self.passed))),
            Some(Scanned::Data) => {
                self.advance.by(mem::take(&mut self.passed));
                Some(Part::Data(data))
            }
            None => {
                // Bytes may follow the last part.
                if input.is_end() {
                    self.advance.by(mem::take(&mut self.passed));
                }
                None
            }
        })
    }

    fn decoders(&self) -> impl Fn() -> Self::Decoder + Send + Sync + use<'a, S> {
        let (make, buffers, advance) = (self.scanner.decoders(), self.buffers.clone(), self.advance);
        move || PartDecoder { decoder: make(), buffers: buffers.clone(), advance }
    }

    fn decode(decoder: &mut Self::Decoder, part: Self::Piece) -> Result<Self::Decoded, Error> {
        match part {
            Part::Whole(whole, mut home, len) => {
                let mut data = decoder.buffers.take();
                S::decode_into(&mut decoder.decoder, &whole, &mut data)?;
                decoder.advance.by(len);
                *home = S::into_bytes(whole);
                Ok(data)
            }
            Part::Data(data) => Ok(data),
        }
    }

    fn join() -> InOrder {
        InOrder
    }
}

/// A decoder of parts, and the buffers for their contents.
pub(crate) struct PartDecoder<'a, D> {
    decoder: D,
    buffers: Recycler<Vec<u8>>,
    advance: Advance<'a>,
}

/// A part of the file's contents, as passed on by the stage that finds parts.
pub(crate) enum Part<W> {
    /// Still compressed. Its bytes go back to the buffer after decoding. The number is the progress to report then, in
    /// bytes.
    Whole(W, Recycled<Vec<u8>>, usize),
    /// Decompressed data.
    Data(Recycled<Vec<u8>>),
}

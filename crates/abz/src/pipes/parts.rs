//! Streams that decode files of large parts. All workers decode parts that are small enough, and one decodes the
//! others.

use std::io::{self, Read};
use std::mem;

use abz_codec::parts::{Room, Scan, Scanned};
use anabranch::{Plan, Recycled, TryStream};

use super::inputs::Inputs;
use super::{begin, carry_out};
use crate::decompress::Decompression;
use crate::error::Error;
use crate::run::Run;
use crate::run_options::{RunOptions, at_work};

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
    let stream = decompress(scanner, (how.workers, window), input, *options);
    carry_out(stream, options, |data: Recycled<Vec<u8>>| output.write_all(&data).map_err(Error::Write))
}

/// Returns the plan of [`run`].
pub(crate) fn plan<S: Scan + Send>(scanner: S, workers: usize, window: usize) -> Plan {
    decompress(scanner, (workers, window), io::empty(), RunOptions::default()).plan()
}

/// Decompresses `input`, with at most `window` parts in memory at once. All workers decode parts that the scanner gives
/// whole. The scanner itself decodes the others, while other workers read and write.
fn decompress<'a, S, R>(
    scanner: S,
    (workers, window): (usize, usize),
    input: R,
    options: RunOptions<'a>,
) -> TryStream<'a, Recycled<Vec<u8>>, Error>
where
    S: Scan + Send + 'a,
    R: Read + Send + 'a,
{
    let make_decoder = scanner.decoders();
    let (lender, advance) = (options.lender(), options.advance());
    let (spares, buffers) = (lender.buffers(window), lender.buffers(window));
    let inputs = Inputs::new(input, lender.inputs(window)).telling(options.pauses());
    begin(inputs, "abz decompress", workers, window, options.pool)
        .try_serial_spread((scanner, 0), move |(scanner, passed), input| {
            let (mut data, before) = (spares.take(), input.left());
            let found = match input.is_end() {
                true => scanner.finish(&mut data),
                false if input.is_pause() => scanner.pause(&mut data),
                false => input.scan(|bytes| scanner.next(bytes, &mut data)),
            };
            *passed += before - input.left();
            Ok(match found? {
                // The bytes of a whole part count as progress once it is decoded.
                Some(Scanned::Whole(whole)) => Some(Part::Whole(whole, data, mem::take(passed))),
                Some(Scanned::Data) => {
                    advance.by(mem::take(passed));
                    Some(Part::Data(data))
                }
                None => {
                    // Bytes may follow the last part.
                    if input.is_end() {
                        advance.by(mem::take(passed));
                    }
                    None
                }
            })
        })
        .name("split or decode")
        .try_map_with(make_decoder, move |decoder, part| match part {
            Part::Whole(whole, mut home, len) => {
                let mut data = buffers.take();
                S::decode_into(decoder, &whole, &mut data)?;
                advance.by(len);
                *home = S::into_bytes(whole);
                Ok(data)
            }
            Part::Data(data) => Ok(data),
        })
        .name("decode")
}

/// A part of the file's contents, as passed on by the stage that finds parts.
enum Part<W> {
    /// Still compressed. Its bytes go back to the buffer after decoding. The number is the progress to report then, in
    /// bytes.
    Whole(W, Recycled<Vec<u8>>, usize),
    /// Decompressed data.
    Data(Recycled<Vec<u8>>),
}

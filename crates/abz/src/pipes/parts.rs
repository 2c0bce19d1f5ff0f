//! Files of large parts: those that are small enough are decoded by all workers, the others by one.

use std::io::{self, Read};
use std::mem;

use abz_codec::parts::{Reader, Room, Scan, Scanned};
use anabranch::{Plan, Recycled, Recycler, TryStream};

use super::inputs::Inputs;
use super::{begin, carry_out};
use crate::conduct::{Conduct, at_work};
use crate::decompress::Decompression;
use crate::error::Error;
use crate::run::{Run, RunAlone};

/// The most parts of lzip or xz that are in memory at once: one for each worker that is at work, and one that waits to be
/// written. They take many times as long as what a worker waits for another.
pub(crate) fn window(workers: usize) -> usize {
    at_work(workers) + 1
}

/// What room there is for the parts of lzip and xz, with so many workers.
pub(crate) fn room(how: &Decompression, workers: usize) -> Room {
    let all = Room::default();
    Room { bytes: how.memory_limit.unwrap_or(all.bytes), parts: window(workers) }
}

/// Decodes a file, with so many parts in memory at once.
pub(crate) fn run<S: Scan + Send>(scanner: S, window: usize, run: Run<'_>) -> Result<(), Error> {
    let Run { how, conduct, input, output, .. } = run;
    let stream = decompress(scanner, (how.workers, window), input, *conduct);
    carry_out(stream, conduct, |data: Recycled<Vec<u8>>| output.write_all(&data).map_err(Error::Write))
}

/// Decodes a file on this thread.
pub(crate) fn run_alone<S: Scan>(scanner: S, run: RunAlone<'_>) -> Result<(), Error> {
    let RunAlone { tools, input, output, .. } = run;
    let mut reader = Reader::with(scanner, input);
    let mut data = tools.data();
    while reader.read_into(&mut data).map_err(Error::of_reader::<S::Error>)? {
        output.write_all(&data).map_err(Error::Write)?;
    }
    tools.keep_data(data);
    Ok(())
}

/// The plan of [`run`].
pub(crate) fn plan<S: Scan + Send>(scanner: S, workers: usize, window: usize) -> Plan {
    decompress(scanner, (workers, window), io::empty(), Conduct::default()).plan()
}

/// Decompresses what `input` gives, with so many parts in memory at once. Parts that come whole are decoded by all
/// workers; other parts in the stage that finds them, while other workers read and write.
fn decompress<'a, S, R>(
    scanner: S,
    (workers, window): (usize, usize),
    input: R,
    conduct: Conduct<'a>,
) -> TryStream<'a, Recycled<Vec<u8>>, Error>
where
    S: Scan + Send + 'a,
    R: Read + Send + 'a,
{
    let make_decoder = scanner.decoders();
    let spares = Recycler::new(window, Vec::new);
    let buffers = Recycler::new(window, Vec::new);
    let advance = conduct.advance();
    let inputs = Inputs::new(input, window).telling(conduct.pauses());
    begin(inputs, "abz decompress", workers, window, conduct.pool)
        .try_serial_spread((scanner, 0), move |(scanner, passed), input| {
            let (mut data, before) = (spares.take(), input.left());
            let found = match input.is_end() {
                true => scanner.finish(&mut data),
                false if input.is_pause() => scanner.pause(&mut data),
                false => input.scan(|bytes| scanner.next(bytes, &mut data)),
            };
            *passed += before - input.left();
            Ok(match found? {
                // What it took is done with when it is decoded.
                Some(Scanned::Whole(whole)) => Some(Part::Whole(whole, data, mem::take(passed))),
                Some(Scanned::Data) => {
                    advance.by(mem::take(passed));
                    Some(Part::Data(data))
                }
                None => {
                    // Behind the last part there may be more.
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

/// A part of the file's contents.
enum Part<W> {
    /// Still compressed. Its bytes shall go to where the buffer came from. With them, the number of bytes of the file that are done
    /// with when it is decoded.
    Whole(W, Recycled<Vec<u8>>, usize),
    /// Decompressed.
    Data(Recycled<Vec<u8>>),
}

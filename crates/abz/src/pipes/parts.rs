//! Files of large parts: those that are small enough are decoded by all workers, the others by one.

use std::io::Read;
use std::mem;

use abz_codec::parts::{Scan, Scanned};
use anabranch::{Apply, May, Recycled, Recycler, Stream};

use super::begin;
use super::inputs::Inputs;
use crate::Error;
use crate::conduct::Conduct;

/// The most parts of lzip or xz that are in memory at once: one for each worker, and one that waits to be written. They take many
/// times as long as what a worker waits for another.
pub(crate) fn window(workers: usize) -> usize {
    workers + 1
}

/// Decompresses what `input` gives, with so many parts in memory at once. Parts that come whole are decoded by all
/// workers; other parts in the stage that finds them, while other workers read and write.
pub(crate) fn decompress<'a, S, R>(
    scanner: S,
    (workers, window): (usize, usize),
    input: R,
    conduct: Conduct<'a>,
) -> Stream<'a, impl Apply<Error, Out = Recycled<Vec<u8>>> + Send + use<'a, S, R>, May<Error>>
where
    S: Scan + Send + 'a,
    R: Read + Send + 'a,
    Error: From<S::Error>,
{
    let make_decoder = scanner.decoders();
    let spares = Recycler::new(window, Vec::new);
    let buffers = Recycler::new(window, Vec::new);
    let advance = conduct.advance();
    begin(Inputs::new(input, window), "abz decompress", workers, window, conduct.pool)
        .try_serial_spread((scanner, 0), move |(scanner, passed), input| {
            let (mut data, before) = (spares.take(), input.left());
            let found = match input.is_end() {
                true => scanner.finish(&mut data),
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
    /// Still compressed. Its bytes shall go to where the buffer came from. So many bytes of the file are done with then.
    Whole(W, Recycled<Vec<u8>>, usize),
    /// Decompressed.
    Data(Recycled<Vec<u8>>),
}

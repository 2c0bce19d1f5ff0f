//! Streams that decode files of large parts. All workers decode parts that are small enough, and one decodes the
//! others.

use std::mem;

use abz_codec::parts::{Room, Scan, Scanned};
use anabranch::Recycled;

use super::decode::{Contents, InOrder, Sizes, Steps};
use super::inputs::Input;
use crate::decompression::Decompression;
use crate::error::Error;
use crate::run_options::{Equipment, at_work};

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

/// The steps for files of large parts. All workers decode parts that the scanner gives whole. The scanner itself decodes
/// the others, while other workers read and write. At most `window` parts are in memory at once.
pub(crate) fn steps<'a, S: Scan + Send + 'a>(
    mut scanner: S,
    (workers, window): (usize, usize),
    equipment: Equipment<'a>,
) -> Steps<'a>
where
    S::Decoder: 'a,
{
    let Equipment { lender, advance } = equipment;
    let (spares, buffers, inputs) = (lender.buffers(window), lender.buffers(window), lender.inputs(window));
    let make = scanner.decoders();
    // The number of bytes of the part so far, which count as progress once it is decoded.
    let mut passed = 0;
    let split = move |input: &mut Input| {
        let (mut data, before) = (spares.take(), input.left());
        let found = match input.is_end() {
            true => scanner.finish(&mut data),
            false if input.is_pause() => scanner.pause(&mut data),
            false => input.scan(|bytes| scanner.next(bytes, &mut data)),
        };
        passed += before - input.left();
        Ok(match found? {
            Some(Scanned::Whole(whole)) => Some(Part::Whole(whole, data, mem::take(&mut passed))),
            Some(Scanned::Data) => {
                advance.by(mem::take(&mut passed));
                Some(Part::Data(data))
            }
            None => {
                // Bytes may follow the last part.
                if input.is_end() {
                    advance.by(mem::take(&mut passed));
                }
                None
            }
        })
    };
    let decode = move |decoder: &mut S::Decoder, part: Part<S::Whole>| match part {
        Part::Whole(whole, mut home, len) => {
            let mut data = buffers.take();
            let decoded = S::decode_into(decoder, &whole, &mut data);
            advance.by(len);
            *home = S::into_bytes(whole);
            match decoded {
                Ok(()) => Ok(Contents::Bytes(data)),
                Err(damage) if data.is_empty() => Err(Error::from(damage)),
                Err(damage) => Ok(Contents::Damaged(data, Error::from(damage))),
            }
        }
        Part::Data(data) => Ok(Contents::Bytes(data)),
    };
    let sizes = Sizes { inputs, workers, window };
    Steps::new(("split or decode", split), make, decode, InOrder, sizes).reporting()
}

/// A part of the file's contents, as passed on by the stage that finds parts.
enum Part<W> {
    /// Still compressed. Its bytes go back to the buffer after decoding. The number is the progress to report then, in
    /// bytes.
    Whole(W, Recycled<Vec<u8>>, usize),
    /// Decompressed data.
    Data(Recycled<Vec<u8>>),
}

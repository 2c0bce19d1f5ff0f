//! Streams that decode given parts of a file. Each part is read by the worker that decodes it.

use std::any::Any;
use std::io;
use std::ops::Range;

use abz_codec::access::{Decoder, Part};
use anabranch::{Pool, Recycled, Recycler};

use super::{Pipe, Threads, maps, window};
use crate::decompression::Decompression;
use crate::error::Error;
use crate::positional::ReadAt;

/// The maximum contents of a part that is decoded as a whole, in bytes: the size of the largest blocks of `xz -T2`.
const LARGE: u64 = 192 << 20;

/// The size of a part in bytes, compressed and decompressed together, above which fewer are in memory at once.
const SMALL: u64 = 8 << 20;

/// Returns the settings of a stream over parts, or `None` if parts are too large or the memory limit too low.
pub(crate) fn threads<'a>(
    how: &Decompression,
    parts: &[Part],
    pool: Option<&'a Pool>,
) -> Option<Threads<'a>> {
    let largest = parts.iter().map(|part| part.len().saturating_add(size_of(part))).max().unwrap_or(0).max(1);
    let room = how.memory_limit.map_or(u64::MAX, |limit| limit / largest);
    if !parts.iter().all(is_decoded_whole) || room < 2 {
        return None;
    }
    let room = usize::try_from(room - 1).unwrap_or(usize::MAX);
    let workers = how.workers.min(parts.len().max(1)).min(room);
    let window = if largest <= SMALL { window(workers) } else { super::parts::window(workers) };
    Some(Threads { workers, window, pool })
}

/// A part of a file that is read and decoded by itself.
pub(crate) trait Placed: Sync {
    /// Its place in the file, in bytes.
    fn place(&self) -> Range<u64>;
}

impl Placed for Part {
    fn place(&self) -> Range<u64> {
        self.bytes()
    }
}

/// Gives what `decode` makes of the bytes of each part, in order. The worker that decodes a part reads it. Each worker makes its
/// tables by `make`. `doing` names the step.
pub(crate) fn each_part<'a, P: Placed, S: 'a, T: Any + Send>(
    (title, doing): (&str, &str),
    threads: Threads<'a>,
    (input, parts): (&'a dyn ReadAt, &'a [P]),
    make: impl Fn() -> S + Send + Sync + 'a,
    decode: impl Fn(&mut S, &P, &[u8]) -> Result<T, Error> + Clone + Send + Sync + 'a,
) -> Pipe<'a, T> {
    let maps = maps(
        move || (make(), Vec::new()),
        move |(tables, bytes), number: usize| {
            let part = &parts[number];
            read_part(|offset, bytes| input.read_at(bytes, offset), part, bytes)?;
            decode(tables, part, bytes)
        },
    );
    let numbers = (0..parts.len()).map(Ok);
    Pipe::new(title, threads, ("parts", numbers), Some((doing, maps)))
}

/// Gives the contents of `parts`, which are small enough to be held in memory, in order. Parts may have fewer contents
/// than they say if their sizes are not `exact`.
pub(crate) fn decode<'a>(
    threads: Threads<'a>,
    how: &'a Decompression,
    input: &'a dyn ReadAt,
    (parts, exact): (&'a [Part], bool),
) -> Pipe<'a, Recycled<Vec<u8>>> {
    let buffers = Recycler::new(threads.window, Vec::new);
    let decode = move |decoder: &mut Decoder, part: &Part, bytes: &[u8]| {
        let mut data = buffers.take();
        match exact {
            true => decoder.decode_into(part, bytes, &mut data)?,
            false => decoder.decode_at_most_into(part, bytes, &mut data)?,
        }
        Ok(data)
    };
    let names = ("abz range", "read and decode");
    each_part(names, threads, (input, parts), || how.part_decoder(), decode)
}

/// Reads the bytes of a part into `bytes`. `read` reads those at an offset.
pub(crate) fn read_part(
    mut read: impl FnMut(u64, &mut [u8]) -> io::Result<()>,
    part: &impl Placed,
    bytes: &mut Vec<u8>,
) -> Result<(), Error> {
    let place = part.place();
    let len = (place.end - place.start) as usize;
    let made = bytes.try_reserve_exact(len.saturating_sub(bytes.len()));
    made.map_err(|_| Error::Read(io::ErrorKind::OutOfMemory.into()))?;
    bytes.resize(len, 0);
    read(place.start, bytes).map_err(Error::Read)
}

/// Returns the compressed size of a part in bytes.
fn size_of(part: &Part) -> u64 {
    part.bytes().end - part.bytes().start
}

/// Returns true if a part is small enough to be held in memory. The sizes that a file claims are not trusted.
pub(crate) fn is_decoded_whole(part: &Part) -> bool {
    part.len() <= LARGE && size_of(part) <= part.len() + part.len() / 8 + (1 << 20)
}

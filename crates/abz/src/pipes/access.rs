//! Streams that decode given parts of a file. Each part is read by the worker that decodes it.

use std::io;

use abz_codec::access::Part;
use anabranch::{Pool, Recycled, Recycler};

use super::{Pipe, Threads, maps, window};
use crate::decompression::Decompression;
use crate::error::Error;
use crate::positional::ReadAt;

/// The maximum contents of a part that is decoded as a whole, in bytes: the size of the largest blocks of `xz -T2`.
const LARGE: u64 = 192 << 20;

/// The size of a part in bytes, compressed and decompressed together, above which fewer are in memory at once.
const SMALL: u64 = 8 << 20;

/// Returns the numbers of workers and of parts in memory at once, or `None` if parts are too large or the memory
/// limit too low.
pub(crate) fn workers_and_window(how: &Decompression, parts: &[Part]) -> Option<(usize, usize)> {
    let largest = parts.iter().map(|part| part.len().saturating_add(size_of(part))).max().unwrap_or(0).max(1);
    let room = how.memory_limit.map_or(u64::MAX, |limit| limit / largest);
    if !parts.iter().all(is_decoded_whole) || room < 2 {
        return None;
    }
    let room = usize::try_from(room - 1).unwrap_or(usize::MAX);
    let workers = how.workers.min(parts.len().max(1)).min(room);
    let window = if largest <= SMALL { window(workers) } else { super::parts::window(workers) };
    Some((workers, window))
}

/// Gives the contents of `parts`, which are small enough to be held in memory, in order. Parts may have fewer contents
/// than they say if their sizes are not `exact`.
pub(crate) fn decode<'a>(
    workers: usize,
    window: usize,
    how: &'a Decompression,
    input: &'a dyn ReadAt,
    (parts, exact): (&'a [Part], bool),
    pool: Option<&'a Pool>,
) -> Pipe<'a, Recycled<Vec<u8>>> {
    let buffers = Recycler::new(window, Vec::new);
    let decode = maps(
        || (how.part_decoder(), Vec::new()),
        move |(decoder, bytes), number: usize| {
            let part = &parts[number];
            read_part(input, part, bytes)?;
            let mut data = buffers.take();
            match exact {
                true => decoder.decode_into(part, bytes, &mut data)?,
                false => decoder.decode_at_most_into(part, bytes, &mut data)?,
            }
            Ok(data)
        },
    );
    let numbers = (0..parts.len()).map(Ok);
    let threads = Threads { workers, window, pool };
    Pipe::new("abz range", threads, ("parts", numbers), Some(("read and decode", decode)))
}

/// Reads the bytes of a part into `bytes`.
pub(crate) fn read_part(input: &dyn ReadAt, part: &Part, bytes: &mut Vec<u8>) -> Result<(), Error> {
    read_part_by(|offset, bytes| input.read_at(bytes, offset), part, bytes)
}

/// As [`read_part`], with a function that reads the bytes at an offset.
pub(crate) fn read_part_by(
    mut read: impl FnMut(u64, &mut [u8]) -> io::Result<()>,
    part: &Part,
    bytes: &mut Vec<u8>,
) -> Result<(), Error> {
    let place = part.bytes();
    let len = (place.end - place.start) as usize;
    bytes.clear();
    let made = bytes.try_reserve_exact(len);
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

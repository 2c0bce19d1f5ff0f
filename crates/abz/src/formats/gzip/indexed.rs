//! Indices of gzip files that do not record where their blocks lie: making them while decoding, and decoding with them.

use std::fmt;
use std::io::{self, Read, Write};
use std::iter;
use std::task::{Context, Poll};

use abz_codec::access::{Kind, Part};
use abz_codec::gzip::{Chain, DecodedPart, Finder, Found, PartDecoder, Refusal};
use anabranch::{Plan, Pool, Recycled, Recycler};

use crate::count::Counted;
use crate::decompression::{Decompressed, Decompression};
use crate::error::Error;
use crate::formats::reads::ByIndex;
use crate::index_builder::Indexed;
use crate::pipes::access::{each_part, threads};
use crate::pipes::{Pipe, Threads, window};
use crate::positional::{Along, ReadAt};
use crate::reader::line::Decode;
use crate::run_options::RunOptions;

/// The maximum contents of a part in bytes, so that a wrong index cannot exhaust memory.
const LARGEST: u64 = 16 << 20;

/// Decodes a file, and finds its parts. One worker inflates, while another one writes.
pub(super) fn find(
    how: &Decompression,
    options: RunOptions<'_>,
    input: &dyn ReadAt,
    spacing: u64,
    output: &mut (dyn Write + Send),
) -> Result<Indexed, Error> {
    let (mut finder, mut file) = (Finder::new(spacing), Along::new(input));
    let workers = how.workers_within();
    let buffers = Recycler::new(window(workers), Vec::new);
    let contents = iter::from_fn(|| {
        let mut data = buffers.take();
        match finder.next_into(&mut file, &mut data) {
            Ok(true) => Some(Ok(data)),
            Ok(false) => None,
            Err(error) => Some(Err(error.into())),
        }
    });
    let threads = Threads { workers, window: window(workers), pool: options.pool };
    let stream = Pipe::new("abz index", threads, ("inflate", contents), None);
    let write = |data: Recycled<Vec<u8>>| output.write_all(&data).map_err(Error::Write);
    let garbage_at = match stream.carry_out(&options, write) {
        Ok(()) => None,
        Err(error) => Some(error.is_garbage_at(how.loose_trailing).ok_or(error)?),
    };
    let Found { parts, contents, lines, mistaken } = finder.found();
    Ok(Indexed { parts, contents, lines, garbage_at, mistaken })
}

/// Decodes a file, and finds its parts, on one thread.
pub(super) struct Finding(pub(super) Finder);

impl Decode for Finding {
    fn poll_next(
        &mut self,
        _: &mut Context<'_>,
        input: &mut dyn Read,
        data: &mut Vec<u8>,
    ) -> Poll<Result<bool, Error>> {
        Poll::Ready(Ok(self.0.next_into(input, data)?))
    }

    fn resumes(&self) -> bool {
        false
    }

    fn parts(&self) -> Option<&[Part]> {
        Some(self.0.parts())
    }
}

/// Decodes a file by the parts of an index, if some of them are blocks inside members.
pub(super) fn decompress(
    how: &Decompression,
    options: &RunOptions<'_>,
    input: &dyn ReadAt,
    parts: &[Part],
    output: &mut (dyn Write + Send),
) -> Result<ByIndex, Error> {
    let Some(threads) = threads_for(how, parts, options.pool) else { return Ok(ByIndex::Unused) };
    let (mut chain, mut file, mut output) = (Chain::new(), Along::new(input), Counted::new(output));
    let done = claims(threads, input, parts).carry_out(options, |Claim { decoded, data }| {
        let taken = match decoded {
            Ok(decoded) => chain.take(&decoded, &data, &mut file).map_err(Error::Read)?,
            Err(refusal) => Err(refusal),
        };
        match taken {
            Ok(()) => output.write_all(&data).map_err(Error::Write),
            Err(refusal) => Err(Error::Read(io::Error::other(Refused(refusal)))),
        }
    });
    let written = output.bytes;
    match done {
        Err(Error::Read(error)) => {
            return match error.get_ref().and_then(|inner| inner.downcast_ref()) {
                Some(&Refused(refusal)) => Ok(given_up(refusal, written)),
                None => Err(Error::Read(error)),
            };
        }
        done => done?,
    }
    output.flush().map_err(Error::Write)?;
    Ok(match chain.finish(&mut file).map_err(Error::Read)? {
        Ok(garbage_at) => ByIndex::Done(Decompressed {
            read: input.size(),
            written,
            garbage_at,
            padding_at: None,
            mistaken: None,
        }),
        Err(refusal) => given_up(refusal, written),
    })
}

/// Returns the plan of [`decompress`].
pub(super) fn plan(how: &Decompression, parts: &[Part]) -> Option<Plan> {
    Some(claims(threads_for(how, parts, None)?, &Vec::new(), parts).plan())
}

/// Returns the settings of the stream, or `None` if decoding by parts does not help.
fn threads_for<'a>(how: &Decompression, parts: &[Part], pool: Option<&'a Pool>) -> Option<Threads<'a>> {
    let is_of_use = how.workers > 1
        && parts.iter().any(|part| part.kind == Kind::DeflateBlocks)
        && parts.iter().all(|part| part.len() <= LARGEST);
    threads(how, parts, pool).filter(|threads| is_of_use && threads.workers > 1)
}

/// The result if a part is refused after `written` bytes of contents.
fn given_up(refusal: Refusal, written: u64) -> ByIndex {
    match refusal {
        Refusal::Wrong => ByIndex::Refuted { written },
        Refusal::Unsupported => ByIndex::LeftOff { written },
    }
}

/// A part decoded as the index describes it, not yet checked against the part before it.
struct Claim {
    decoded: Result<DecodedPart, Refusal>,
    data: Recycled<Vec<u8>>,
}

/// Decodes each part by itself.
fn claims<'a>(threads: Threads<'a>, input: &'a dyn ReadAt, parts: &'a [Part]) -> Pipe<'a, Claim> {
    let buffers = Recycler::new(threads.window, Vec::new);
    let decode = move |decoder: &mut PartDecoder, part: &Part, bytes: &[u8]| {
        let mut data = buffers.take();
        Ok(Claim { decoded: decoder.decode_into(part, bytes, &mut data), data })
    };
    each_part(("abz decompress", "read and decode"), threads, (input, parts), PartDecoder::new, decode)
}

/// The error that ends the stream when a part is refused.
#[derive(Debug)]
struct Refused(Refusal);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the file cannot be decoded by its index")
    }
}

impl std::error::Error for Refused {}

//! The undamaged members of a damaged lzip file.

use std::fmt;
use std::io::{self, BufRead, Read, Seek, Write};
use std::ops::Range;

use crc32fast::Hasher;
use memchr::memmem;

use super::decode::Lzma;
use super::error::{Fault, Part as Inside};
use super::header::{MAGIC, Trailer, dictionary};
use super::{EMPTY_LEN, HEADER_LEN, TRAILER_LEN};
use crate::glance::glance;
use crate::parts::CHUNK;
use crate::salvage::{Part, Reason, Salvage, behind_zeros, take};

/// Finds [undamaged parts](crate::salvage) of lzip files: members with the right checksum and both sizes right. The
/// size of lost contents comes from the trailers before the next undamaged member.
#[derive(Clone, Copy, Debug)]
pub struct Salvager(());

/// A decoder of members.
#[derive(Default)]
pub struct Tool {
    chunk: Vec<u8>,
}

impl Salvage for Salvager {
    type Tool = Tool;
    type Note = ();
    type State = ();

    const EXPECTED: &'static str = "a member";
    const LOOK: usize = HEADER_LEN;
    const LEAST: u64 = EMPTY_LEN as u64 + 1;
    const HOLD: usize = 64 << 20;

    fn candidates(bytes: &[u8], found: &mut Vec<u64>) {
        let headers = memmem::find_iter(bytes, &MAGIC).filter(|&at| {
            bytes[at..].first_chunk::<HEADER_LEN>().is_some_and(|head| dictionary(head).is_ok())
        });
        found.extend(headers.map(|at| 8 * at as u64));
    }

    fn attempt(
        tool: &mut Tool,
        _bit: u32,
        input: &mut dyn BufRead,
        output: &mut dyn Write,
    ) -> io::Result<Result<Part<()>, Reason>> {
        let found = member(&mut tool.chunk, input, output)?;
        Ok(found.map(|len| Part { end: 8 * len, note: () }).map_err(Into::into))
    }

    fn begin<F: Read + Seek>(_file: &mut F) -> io::Result<()> {
        Ok(())
    }

    fn note(_state: &mut (), _note: &()) {}

    fn note_gap(_state: &mut ()) {}

    fn pass<F: Read + Seek>(_state: &mut (), file: &mut F, at: u64) -> io::Result<u64> {
        Ok(if at == 0 { 0 } else { 8 * behind_zeros(file, at / 8)? })
    }

    fn doubt(_state: &mut (), _is_end: bool) -> Option<Reason> {
        None
    }

    fn missing<F: Read + Seek>(_state: &(), file: &mut F, gap: &Range<u64>) -> io::Result<Option<u64>> {
        let (start, mut end, mut missing) = (gap.start / 8, gap.end / 8, 0u64);
        while end > start {
            let mut trailer = [0; TRAILER_LEN];
            let there = end - start >= EMPTY_LEN as u64
                && glance(file, end - TRAILER_LEN as u64, &mut trailer)?.len() == TRAILER_LEN;
            let trailer = Trailer::read(&trailer);
            if !there || !(EMPTY_LEN as u64..=end - start).contains(&trailer.member_size) {
                return Ok(None);
            }
            end -= trailer.member_size;
            missing = missing.saturating_add(trailer.data_size);
        }
        Ok(Some(missing))
    }
}

/// Reads a member. Returns its size in bytes.
fn member(
    chunk: &mut Vec<u8>,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> io::Result<Result<u64, Fault>> {
    let cut = |inside| Ok(Err(Fault::Truncated { inside }));
    let Some(header) = take::<HEADER_LEN>(input)? else { return cut(Inside::Header) };
    if !header.starts_with(&MAGIC) {
        return Ok(Err(Fault::Magic { found: header[..MAGIC.len()].to_vec() }));
    }
    let mut lzma = match dictionary(&header) {
        Ok(dictionary) => Lzma::flushed(dictionary),
        Err((_, fault)) => return Ok(Err(fault)),
    };
    chunk.resize(CHUNK, 0);
    let mut checksum = Hasher::new();
    loop {
        let given = input.fill_buf()?;
        if given.is_empty() {
            return cut(Inside::Data);
        }
        let mut rest = given;
        let step = lzma.step(&mut rest, chunk);
        let used = given.len() - rest.len();
        input.consume(used);
        let step = match step {
            Ok(step) => step,
            Err(fault) => return Ok(Err(fault)),
        };
        checksum.update(&chunk[..step.produced]);
        output.write_all(&chunk[..step.produced])?;
        if step.ended {
            break;
        }
    }
    let Some(trailer) = take(input)? else { return cut(Inside::Trailer) };
    let member_size = lzma.at() + TRAILER_LEN as u64;
    let found = Trailer { checksum: checksum.clone().finalize(), data_size: lzma.produced(), member_size };
    Ok(Trailer::read(&trailer).check(found).map(|()| member_size).map_err(|(_, fault)| fault))
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").finish_non_exhaustive()
    }
}

//! Random access: decodes a span of a file's contents, and little else.

use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::atomic::AtomicU64;

use abz_codec::access::{Index, Part, parts_with};
use anabranch::Recycled;

use crate::decompression::{Decompression, in_two_tries};
use crate::error::Error;
use crate::format::Format;
use crate::formats::reads::Behind;
use crate::pipes;
use crate::positional::Along;
use crate::positional::{ReadAt, Reading};
use crate::run::Run;
use crate::run_options::RunOptions;
use crate::span::{Cut, Span, is_done};

/// The result of [`RandomAccess::copy`](crate::RandomAccess::copy).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spanned {
    /// The number of bytes written.
    pub written: u64,
    /// The number of bytes or lines in the contents, if the span reaches past their end.
    pub end: Option<u64>,
    /// As in [`Decompressed`](crate::Decompressed), if the file was decoded that far.
    pub garbage_at: Option<u64>,
}

/// Writes a span of the contents of a compressed file to `output`. It writes nothing if the span lies past their end.
///
/// If `input` is [`Reading::Positional`] and the parts of the file are known, the workers read, decode and verify only the
/// parts that overlap the span. The parts are known from `index`, or, for a span of bytes, from the file itself. This function
/// does not check that the index [fits](Index::fits) the file. Any other file is decoded from its start to the end of the
/// span; damage after the span goes unnoticed.
///
/// # Errors
///
/// As [`decompress`](crate::decompress), for the data that is decoded.
///
/// # Panics
///
/// If there are no workers.
pub fn copy_span(
    input: Reading<'_>,
    span: &Span,
    index: Option<&Index>,
    output: &mut (dyn Write + Send),
    settings: &Decompression,
    options: RunOptions<'_>,
) -> Result<Spanned, Error> {
    let source = match &input {
        Reading::Positional(source) => Some(*source),
        Reading::Stream(_) => None,
    };
    in_two_tries(
        settings,
        output,
        |how, output| how.try_span(options, span, input, index, output),
        |how, output| Some(how.try_span(options, span, Reading::Positional(source?), index, output)),
    )
}

impl Decompression {
    fn try_span(
        &self,
        options: RunOptions<'_>,
        span: &Span,
        mut input: Reading<'_>,
        index: Option<&Index>,
        output: &mut (dyn Write + Send),
    ) -> Result<Spanned, Error> {
        if span.is_empty() {
            return Ok(Spanned { written: 0, end: None, garbage_at: None });
        }
        if let (Reading::Positional(source), None, Span::Bytes(_)) = (&input, index, span)
            && let Some((parts, total)) = parts_around(*source, &span.borders()).map_err(Error::Read)?
            && let Some(first) = parts.first()
        {
            let touched = parts_with(&parts, &span.borders());
            let mut cut =
                Cut::new(span, touched.first().map_or(total, |_| first.contents.start), &mut *output);
            if self.decode_parts(&options, *source, touched, &mut cut)? {
                cut.flush().map_err(Error::Write)?;
                let end = (!cut.is_done()).then(|| cut.passed());
                return Ok(Spanned { written: cut.written, end, garbage_at: None });
            }
        }
        if let Reading::Positional(source) = &input {
            let found = match (index, span) {
                (None, Span::Bytes(_)) => parts_of(*source).map_err(Error::Read)?,
                _ => None,
            };
            let parts = index.map(Index::parts).or(found.as_deref()).unwrap_or_default();
            let touched = match (index, span) {
                (Some(index), Span::Lines(_)) => index.parts_with_lines(&span.borders()),
                _ => parts_with(parts, &span.borders()),
            };
            let at = match (touched.first(), parts.last(), span) {
                (Some(first), _, Span::Lines(_)) => first.known.as_ref().map(|known| known.lines),
                (Some(first), ..) => Some(first.contents.start),
                (None, last, _) => last.map(|last| last.contents.end),
            };
            if let Some(at) = at {
                let mut cut = Cut::new(span, at, &mut *output);
                if self.decode_parts(&options, *source, touched, &mut cut)? {
                    cut.flush().map_err(Error::Write)?;
                    let end = (!cut.is_done()).then(|| cut.passed());
                    return Ok(Spanned { written: cut.written, end, garbage_at: None });
                }
            }
        }
        let input: &mut (dyn Read + Send) = match &mut input {
            Reading::Stream(input) => input,
            Reading::Positional(source) => &mut Along::new(*source),
        };
        let mut cut = Cut::new(span, 0, &mut *output);
        let done = unless_done(self.carry(options, input, &mut cut).map(Some))?;
        let (passed, written) = (cut.passed(), cut.written);
        output.flush().map_err(Error::Write)?;
        let garbage_at = done.and_then(|done| done.garbage_at);
        Ok(Spanned { written, end: done.map(|_| passed), garbage_at })
    }

    /// Decodes consecutive parts: each by itself if all are small enough, otherwise as one stream from the start of the
    /// first. Returns false if no format can decode them.
    fn decode_parts(
        &self,
        options: &RunOptions<'_>,
        source: &dyn ReadAt,
        parts: &[Part],
        cut: &mut (dyn Write + Send),
    ) -> Result<bool, Error> {
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return Ok(true) };
        if let Some(threads) = pipes::access::threads(self, parts, options.pool) {
            let write = |data: Recycled<Vec<u8>>| cut.write_all(&data).map_err(Error::Write);
            let stream = pipes::access::decode(threads, self, source, (parts, true));
            unless_done(stream.carry_out(options, write))?;
            return Ok(true);
        }
        let (before, offset) = (first.number - 1, first.bytes().start);
        let mut input = Along::at(source, offset).take(last.bytes().end - offset);
        let from = Behind { parts: before, bytes: offset };
        for format in Format::all() {
            let (output, mistaken) = (&mut *cut, &AtomicU64::new(0));
            let run = Run { how: self, options, input: &mut input, output, mistaken };
            let done = format.reads().decompress_from(first.kind, from, run).map(Some);
            if unless_done(done)?.unwrap_or(true) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The parts of a file, if the file itself records where they lie.
fn parts_of(source: &dyn ReadAt) -> io::Result<Option<Vec<Part>>> {
    match Format::at(source)? {
        Some(format) => format.reads().parts(&mut Along::new(source)),
        None => Ok(None),
    }
}

/// The parts that hold the given bytes of the contents, and the size of all contents in bytes. `None` if the file does
/// not allow finding them without reading the other parts.
fn parts_around(source: &dyn ReadAt, bytes: &Range<u64>) -> io::Result<Option<(Vec<Part>, u64)>> {
    match Format::at(source)? {
        Some(format) => format.reads().parts_around(&mut Along::new(source), bytes),
        None => Ok(None),
    }
}

/// Turns the error that ends a run once all of the span is written into success.
fn unless_done<T: Default>(result: Result<T, Error>) -> Result<T, Error> {
    match result {
        Err(Error::Write(error)) if is_done(&error) => Ok(T::default()),
        result => result,
    }
}

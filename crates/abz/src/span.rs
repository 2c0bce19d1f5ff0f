//! Ranges of bytes or lines of a file's contents.

use std::error::Error;
use std::fmt;
use std::io::{self, Write};
use std::ops::{Range, RangeInclusive};

use memchr::memchr_iter;

/// A range of bytes or lines of a file's contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// Bytes, counted from 0, without the end. `u64::MAX` as the end means the end of the contents.
    Bytes(Range<u64>),
    /// Lines, counted from 1, with the last line included. `u64::MAX` stands for the last line.
    ///
    /// A line includes the line feed that ends it. Bytes after the last line feed are a line too.
    Lines(RangeInclusive<u64>),
}

impl Span {
    /// Returns the range in bytes, or in line feeds: those before the first line up to those at the end of the last.
    pub(crate) fn borders(&self) -> Range<u64> {
        match self {
            Span::Bytes(bytes) => bytes.clone(),
            Span::Lines(lines) => lines.start().saturating_sub(1)..*lines.end(),
        }
    }

    /// Returns `true` if the span is empty for every file.
    pub(crate) fn is_empty(&self) -> bool {
        self.borders().is_empty()
    }
}

/// A writer that passes on only the bytes within a span. Once the span is complete, writes fail with [`Done`].
pub(crate) struct Cut<W> {
    output: W,
    is_lines: bool,
    borders: Range<u64>,
    /// The number of bytes, or of line feeds, seen so far.
    at: u64,
    /// Bytes have followed the last line feed.
    has_begun: bool,
    pub(crate) written: u64,
}

/// The error that says that a span is complete.
#[derive(Debug)]
struct Done;

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the span is complete")
    }
}

impl Error for Done {}

/// Returns `true` if `error` is [`Done`].
pub(crate) fn is_done(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Done>())
}

impl<W: Write> Cut<W> {
    /// Creates a writer for contents that begin at byte `at`, or after `at` line feeds.
    pub(crate) fn new(span: &Span, at: u64, output: W) -> Self {
        let is_lines = matches!(span, Span::Lines(_));
        Cut { output, is_lines, borders: span.borders(), at, has_begun: false, written: 0 }
    }

    /// Returns `true` if the span is complete.
    pub(crate) fn is_done(&self) -> bool {
        self.at >= self.borders.end
    }

    /// Returns the number of bytes, or of lines, that the contents have up to here, including those before `at`.
    pub(crate) fn passed(&self) -> u64 {
        self.at + u64::from(self.is_lines && self.has_begun)
    }

    /// Returns the part of `data`, the next bytes of the contents, that belongs to the span.
    fn part<'a>(&mut self, data: &'a [u8]) -> &'a [u8] {
        let Range { start, end } = self.borders;
        if !self.is_lines {
            let within = |border: u64| border.saturating_sub(self.at).min(data.len() as u64) as usize;
            let part = &data[within(start)..within(end)];
            self.at = self.at.saturating_add(data.len() as u64);
            return part;
        }
        let from = self.pass(data, start);
        let to = from + self.pass(&data[from..], end);
        &data[from..to]
    }

    /// Counts line feeds in `data` until there are `feeds` in total, and returns the number of bytes up to there; all
    /// of `data` if there are fewer.
    fn pass(&mut self, data: &[u8], feeds: u64) -> usize {
        let missing = feeds.saturating_sub(self.at);
        if missing == 0 || data.is_empty() {
            return 0;
        }
        let here = memchr_iter(b'\n', data).count() as u64;
        let len = match usize::try_from(missing - 1).ok().filter(|_| missing <= here) {
            Some(before) => memchr_iter(b'\n', data).nth(before).map_or(data.len(), |at| at + 1),
            None => data.len(),
        };
        self.at += here.min(missing);
        self.has_begun = data[len - 1] != b'\n';
        len
    }
}

impl<W: Write> Write for Cut<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let part = self.part(data);
        self.output.write_all(part)?;
        self.written += part.len() as u64;
        if self.is_done() {
            return Err(io::Error::other(Done));
        }
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the span of `text`, written in pieces, and the length that [`Cut::passed`] reports.
    fn cut(span: &Span, text: &[u8], piece: usize) -> (Vec<u8>, u64) {
        let mut out = Vec::new();
        let mut cut = Cut::new(span, 0, &mut out);
        for piece in text.chunks(piece) {
            match cut.write(piece) {
                Ok(len) => assert_eq!(len, piece.len()),
                Err(error) => {
                    assert!(is_done(&error));
                    break;
                }
            }
        }
        let passed = cut.passed();
        (out, passed)
    }

    #[test]
    fn a_span_is_the_same_in_any_pieces() {
        for text in [&b""[..], b"\n", b"a", b"a\n", b"ab\n\n\ncd\nefg\nh", b"ab\n\n\ncd\nefg\nh\n"] {
            let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
            for piece in [1, 2, 3, 100] {
                for from in 0..20 {
                    for to in (from..20).chain([usize::MAX]) {
                        let (out, _) = cut(&Span::Bytes(from as u64..to as u64), text, piece);
                        let within = |at: usize| at.min(text.len());
                        assert_eq!(out, &text[within(from)..within(to)]);

                        let (out, passed) = cut(&Span::Lines(from as u64 + 1..=to as u64), text, piece);
                        let expected = lines.iter().skip(from).take(to - from);
                        assert_eq!(out, expected.copied().collect::<Vec<_>>().concat(), "{from} {to}");
                        if to > lines.len() {
                            assert_eq!(passed, lines.len() as u64);
                        }
                    }
                }
            }
        }
    }
}

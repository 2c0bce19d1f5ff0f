//! A stretch of a file's contents, and what is cut out for it.

use std::error::Error;
use std::fmt;
use std::io::{self, Write};
use std::ops::{Range, RangeInclusive};

use memchr::memchr_iter;

/// A stretch of a file's contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// From one byte, counted from 0, up to another, which does not belong to it. `u64::MAX` stands for the end.
    Bytes(Range<u64>),
    /// From one line to another, counted from 1, both with all that ends them. `u64::MAX` stands for the last.
    ///
    /// A line ends with a line feed. What comes behind the last one is a line too.
    Lines(RangeInclusive<u64>),
}

impl Span {
    /// The first byte, or the line feeds before the first line; and the same of what comes behind it.
    pub(crate) fn borders(&self) -> Range<u64> {
        match self {
            Span::Bytes(bytes) => bytes.clone(),
            Span::Lines(lines) => lines.start().saturating_sub(1)..*lines.end(),
        }
    }

    /// True if it has nothing, whatever the file has.
    pub(crate) fn is_empty(&self) -> bool {
        self.borders().is_empty()
    }
}

/// Writes what belongs to a span of what is written to it. When it has that, it fails with [`Done`], and takes no more.
pub(crate) struct Cut<W> {
    output: W,
    is_lines: bool,
    borders: Range<u64>,
    /// The bytes that came by, or their line feeds.
    at: u64,
    /// Something came behind the last line feed.
    has_begun: bool,
    pub(crate) written: u64,
}

/// There is all of a span.
#[derive(Debug)]
struct Done;

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("all of the span is there")
    }
}

impl Error for Done {}

/// True of the error that says that nothing more is needed.
pub(crate) fn is_done(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Done>())
}

impl<W: Write> Cut<W> {
    /// Cuts out of what begins behind so many bytes, or line feeds.
    pub(crate) fn new(span: &Span, at: u64, output: W) -> Self {
        let is_lines = matches!(span, Span::Lines(_));
        Cut { output, is_lines, borders: span.borders(), at, has_begun: false, written: 0 }
    }

    /// True if there is all of the span.
    pub(crate) fn is_done(&self) -> bool {
        self.at >= self.borders.end
    }

    /// How many bytes came by, those before the first included; or how many lines.
    pub(crate) fn passed(&self) -> u64 {
        self.at + u64::from(self.is_lines && self.has_begun)
    }

    /// The part of `data`, which comes next, that belongs to the span.
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

    /// Goes to where so many line feeds have come by, or to the end of `data`: how many bytes that is.
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

    /// What is cut out of `text` that comes in pieces, and how much of it came by.
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

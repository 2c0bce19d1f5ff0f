//! The parts, checksums and line counts of a file, gathered while its contents are decoded.

use std::io::{self, Write};
use std::mem;

use abz_codec::access::{Known, Part};
use crc32fast::Hasher;
use memchr::memchr_iter;

/// The result of decoding a whole file for an index.
#[derive(Debug, Default)]
pub(crate) struct Indexed {
    /// Its parts, with their checksums and line counts.
    pub(crate) parts: Vec<Part>,
    /// The size of its contents in bytes, and the number of line feeds in them.
    pub(crate) contents: u64,
    pub(crate) lines: u64,
    /// As in [`Decompressed`](crate::Decompressed).
    pub(crate) garbage_at: Option<u64>,
    pub(crate) mistaken: Option<u64>,
}

/// Passes contents on to `output`, and records the line count and checksum of each part.
pub(crate) struct IndexBuilder<W> {
    output: W,
    /// The parts still to be written, the last one first.
    ahead: Vec<Part>,
    done: Vec<Part>,
    /// The number of bytes written so far, the line feeds in them, and the line feeds before this part.
    at: u64,
    lines: u64,
    before: u64,
    hasher: Hasher,
}

impl<W: Write> IndexBuilder<W> {
    /// Creates a builder for contents made of `parts`, which may be empty if they are only known as they end.
    pub(crate) fn new(mut parts: Vec<Part>, output: W) -> Self {
        parts.reverse();
        IndexBuilder {
            output,
            ahead: parts,
            done: Vec::new(),
            at: 0,
            lines: 0,
            before: 0,
            hasher: Hasher::new(),
        }
    }

    /// The number of bytes written so far.
    pub(crate) fn position(&self) -> u64 {
        self.at
    }

    /// Ends a part: all of its contents have been written.
    pub(crate) fn end_part(&mut self, part: Part) {
        let crc32 = mem::take(&mut self.hasher).finalize();
        if !part.is_empty() {
            let known = Known { lines: self.before, crc32, window: Vec::new() };
            self.done.push(Part { known: Some(Box::new(known)), ..part });
        }
        self.before = self.lines;
    }

    /// Returns the result. It has no parts if the contents do not end where the last part does.
    pub(crate) fn finish(self) -> Indexed {
        let is_right =
            self.done.last().map_or(0, |last| last.contents.end) == self.at && self.ahead.is_empty();
        let parts = if is_right { self.done } else { Vec::new() };
        Indexed { parts, contents: self.at, lines: self.lines, garbage_at: None, mistaken: None }
    }
}

impl<W: Write> Write for IndexBuilder<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let left = self.ahead.last().map_or(u64::MAX, |part| part.contents.end - self.at);
        let len = data.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let data = &data[..len];
        self.output.write_all(data)?;
        self.hasher.update(data);
        self.at += len as u64;
        self.lines += memchr_iter(b'\n', data).count() as u64;
        if len as u64 == left
            && let Some(part) = self.ahead.pop()
        {
            self.end_part(part);
        }
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

//! Indices of files: one pass over all, so that later ones need not be.

use std::io::{self, Write};
use std::mem;

use abz_codec::access::{Index, Known, Part};
#[cfg(doc)]
use abz_codec::gzip::find_parts;
use crc32fast::Hasher;
use memchr::memchr_iter;

use crate::conduct::Conduct;
use crate::formats::Indexed;
use crate::places::Along;
use crate::{Decompression, Error, Format, ReadAt};

impl Decompression {
    /// Makes an [`Index`] of a compressed file, for [`span`](Decompression::span): decodes all of it, and verifies it.
    ///
    /// Where a file says itself where its parts lie, these are its parts; those of bzip2 are its blocks. The parts of any other
    /// file of gzip have `spacing` bytes of contents or some more ([`find_parts`]); it is decoded by one thread. Other files, as
    /// most that `zstd` makes, have no parts: there is nowhere to begin but at their start.
    ///
    /// ```
    /// use abz::{Compression, Conduct, Decompression, ReadAt, Reading, Span};
    /// use std::io;
    ///
    /// struct File(Vec<u8>);
    /// impl ReadAt for File {
    ///     fn size(&self) -> u64 {
    ///         self.0.len() as u64
    ///     }
    ///     fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    ///         let from = self.0.get(offset as usize..offset as usize + bytes.len());
    ///         bytes.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let text: String = (1..=1000).map(|line| format!("line {line}\n")).collect();
    /// let mut file = Vec::new();
    /// Compression { block_size: Some(4096), ..Compression::default() }.run(text.as_bytes(), &mut file)?;
    /// let (file, decompression) = (File(file), Decompression::default());
    /// let index = decompression.index(Conduct::default(), &file, 1 << 20)?;
    /// assert_eq!((index.contents(), index.lines(), index.parts().len()), (text.len() as u64, 1000, 3));
    ///
    /// let (span, mut lines) = (Span::Lines(900..=900), Vec::new());
    /// decompression.span(Conduct::default(), &span, Reading::Places(&file), Some(&index), &mut lines)?;
    /// assert_eq!(lines, b"line 900\n");
    /// # Ok::<(), abz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`run`](Decompression::run).
    ///
    /// # Panics
    ///
    /// If there are no workers.
    pub fn index(&self, conduct: Conduct<'_>, input: &dyn ReadAt, spacing: u64) -> Result<Index, Error> {
        let format = Format::at(input).map_err(Error::Read)?.unwrap_or_default();
        let (parts, contents, lines) = format.reads().index(self, conduct, input, spacing)?;
        Index::new(&mut Along::new(input), parts, contents, lines).map_err(Error::Read)
    }
}

/// What is known of these parts of a file, when it was decoded.
pub(crate) fn of_parts(
    parts: Vec<Part>,
    how: &Decompression,
    conduct: Conduct<'_>,
    input: &dyn ReadAt,
) -> Result<Indexed, Error> {
    let mut tally = Tally::new(parts);
    how.carry(conduct, &mut Along::new(input), &mut tally)?;
    Ok(tally.finish())
}

/// Looks at contents that are written to it, part by part.
#[derive(Default)]
pub(crate) struct Tally {
    /// The parts that are to come, the last one first.
    ahead: Vec<Part>,
    done: Vec<Part>,
    /// How many bytes came, and line feeds in them; and before this part.
    at: u64,
    lines: u64,
    before: u64,
    hasher: Hasher,
}

impl Tally {
    fn new(mut parts: Vec<Part>) -> Self {
        parts.reverse();
        Tally { ahead: parts, ..Tally::default() }
    }

    /// How many bytes came.
    pub(crate) fn position(&self) -> u64 {
        self.at
    }

    /// All of a part came.
    pub(crate) fn end_part(&mut self, part: Part) {
        let crc32 = mem::take(&mut self.hasher).finalize();
        if !part.is_empty() {
            let known = Known { lines: self.before, crc32, window: Vec::new() };
            self.done.push(Part { known: Some(Box::new(known)), ..part });
        }
        self.before = self.lines;
    }

    /// The parts, if it was they that came; the size of all contents, and the line feeds in them.
    pub(crate) fn finish(self) -> Indexed {
        let is_right =
            self.done.last().map_or(0, |last| last.contents.end) == self.at && self.ahead.is_empty();
        (if is_right { self.done } else { Vec::new() }, self.at, self.lines)
    }
}

impl Write for Tally {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let left = self.ahead.last().map_or(u64::MAX, |part| part.contents.end - self.at);
        let len = data.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let data = &data[..len];
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
        Ok(())
    }
}

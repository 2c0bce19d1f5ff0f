//! Indices of files: one pass over all, so that later ones need not be.

use std::io::{self, Write};
use std::mem;

use abz_codec::access::{Index, Kind, Known, Part, parts_of};
use abz_codec::bzip2::{Assembler, Decoded};
use abz_codec::gzip::find_parts;
use abz_codec::zstd::frames;
use anabranch::Recycled;
use crc32fast::Hasher;
use memchr::memchr_iter;

use crate::conduct::Conduct;
use crate::pipes::{self, carry_out};
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
        let mut file = Along::new(input);
        let format = Format::sniff(&mut file).map_err(Error::Read)?.0;
        let parts = parts_of(&mut file).map_err(Error::Read)?;
        let mut file = Along::new(input);
        let (parts, contents, lines) = match (format, parts) {
            (Some(Format::Bzip2), _) => self.blocks(&conduct, &mut file)?,
            (Some(Format::Gzip) | None, None) => {
                let found = find_parts(&mut file, spacing)?;
                (found.parts, found.contents, found.lines)
            }
            (Some(Format::Zstd), None) => self.frames(conduct, input)?,
            (_, parts) => {
                let mut tally = Tally::new(parts.unwrap_or_default());
                self.carry(conduct, &mut file, &mut tally)?;
                tally.finish()
            }
        };
        Index::new(&mut file, parts, contents, lines).map_err(Error::Read)
    }

    /// The frames of a file of zstd that do not say how large their contents are, the size of all contents, and the line feeds
    /// in them. One alone is no part.
    fn frames(&self, conduct: Conduct<'_>, input: &dyn ReadAt) -> Result<(Vec<Part>, u64, u64), Error> {
        let mut tally = Tally::default();
        let frames = frames(&mut Along::new(input)).map_err(Error::Read)?.filter(|frames| frames.len() > 1);
        let Some((frames, (workers, window))) = frames.and_then(|frames| {
            let crew = self.crew_for(&frames)?;
            Some((frames, crew))
        }) else {
            self.carry(conduct, &mut Along::new(input), &mut tally)?;
            return Ok((Vec::new(), tally.at, tally.lines));
        };
        let stream =
            pipes::access::decode(workers, window, &self.zstd, input, (&frames, false), conduct.pool);
        let mut ahead = frames.iter();
        carry_out(stream, &conduct, |data: Recycled<Vec<u8>>| {
            let start = tally.at;
            tally.write_all(&data).map_err(Error::Write)?;
            let frame = ahead.next().expect("there is one for each");
            tally.end_part(Part { contents: start..tally.at, ..frame.clone() });
            Ok(())
        })?;
        Ok((tally.done, tally.at, tally.lines))
    }

    /// The blocks of a bzip2 file, the size of its contents, and the line feeds in them.
    fn blocks(&self, conduct: &Conduct<'_>, file: &mut Along<'_>) -> Result<(Vec<Part>, u64, u64), Error> {
        let mut assembler = Assembler::new();
        let mut tally = Tally::default();
        let mut add = |assembler: &Assembler, contents: abz_codec::bzip2::Contents| {
            let start = tally.at;
            contents.write_to(&mut tally).map_err(Error::Write)?;
            let ((stream, number), bits) = assembler.last();
            let kind = Kind::Bzip2Block { stream };
            let part = Part { kind, number, bits, contents: start..tally.at, known: None };
            tally.end_part(part);
            Ok::<(), Error>(())
        };
        let stream = pipes::bzip2::decompress(self.workers_within(), file, *conduct);
        let done = carry_out(stream, conduct, |decoded: Decoded| match assembler.next(decoded)? {
            Some(contents) => add(&assembler, contents),
            None => Ok(()),
        });
        let rest = done.and_then(|()| {
            while let Some(contents) = assembler.finish()? {
                add(&assembler, contents)?;
            }
            Ok(())
        });
        match rest {
            Err(error) if error.is_garbage_at().is_none() => Err(error),
            _ => Ok((tally.done, tally.at, tally.lines)),
        }
    }
}

/// Looks at contents that are written to it, part by part.
#[derive(Default)]
struct Tally {
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

    /// All of a part came.
    fn end_part(&mut self, part: Part) {
        let crc32 = mem::take(&mut self.hasher).finalize();
        if !part.is_empty() {
            let known = Known { lines: self.before, crc32, window: Vec::new() };
            self.done.push(Part { known: Some(Box::new(known)), ..part });
        }
        self.before = self.lines;
    }

    /// The parts, if it was they that came; the size of all contents, and the line feeds in them.
    fn finish(self) -> (Vec<Part>, u64, u64) {
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

//! Indices of files: made by one pass over the whole file, so that later runs need to decode parts of it only.

use std::io::{self, Write};

use abz_codec::access::Index;
#[cfg(all(doc, feature = "gzip"))]
use abz_codec::gzip::find_parts;
use anabranch::Plan;

use crate::count::Rest;
use crate::decompression::{Decompressed, Decompression};
use crate::error::Error;
use crate::format::Format;
use crate::formats::reads::ByIndex;
use crate::index_builder::Indexed;
use crate::positional::Along;
use crate::positional::ReadAt;
use crate::run_options::RunOptions;
use crate::zeros;

impl Decompression {
    /// Makes an [`Index`] of a compressed file, for [`span`](Decompression::span). It decodes and verifies the whole
    /// file.
    ///
    /// The index lists the parts that the file itself records. For bzip2 these are the blocks. One thread decodes any
    /// other gzip file, and divides it into parts of at least `spacing` bytes of contents ([`find_parts`]). Other
    /// files, as most that `zstd` writes, have no parts, because decoding can begin only at their start.
    ///
    /// ```
    /// use abz::{Compression, RunOptions, Decompression, ReadAt, Reading, Span};
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
    /// let index = decompression.index(RunOptions::default(), &file, 1 << 20)?;
    /// assert_eq!((index.contents(), index.lines(), index.parts().len()), (text.len() as u64, 1000, 3));
    ///
    /// let (span, mut lines) = (Span::Lines(900..=900), Vec::new());
    /// decompression.span(RunOptions::default(), &span, Reading::Positional(&file), Some(&index), &mut lines)?;
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
    pub fn index(&self, options: RunOptions<'_>, input: &dyn ReadAt, spacing: u64) -> Result<Index, Error> {
        self.run_indexing(options, input, spacing, &mut io::sink()).map(|(_, index)| index)
    }

    /// Decompresses a file to `output`, as [`run_with`](Decompression::run_with) does, and makes the same [`Index`] as
    /// [`index`](Decompression::index) on the way.
    ///
    /// ```
    /// use abz::{RunOptions, Decompression};
    ///
    /// # let mut file = Vec::new();
    /// # abz::Compression::default().run(&b"a branch of a river"[..], &mut file)?;
    /// let (mut contents, mut again) = (Vec::new(), Vec::new());
    /// let decompression = Decompression::default();
    /// let (done, index) = decompression.run_indexing(RunOptions::default(), &file, 1 << 20, &mut contents)?;
    /// assert_eq!(done.written, index.contents());
    ///
    /// // A file of one large member is now decoded by all workers.
    /// if decompression.run_indexed(RunOptions::default(), &file, &index, &mut again)?.is_none() {
    ///     decompression.run(&file[..], &mut again)?;
    /// }
    /// assert_eq!(again, contents);
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
    pub fn run_indexing(
        &self,
        options: RunOptions<'_>,
        input: &dyn ReadAt,
        spacing: u64,
        output: &mut (dyn Write + Send),
    ) -> Result<(Decompressed, Index), Error> {
        let format = Format::at(input).map_err(Error::Read)?.unwrap_or_default();
        let decode = |how: &Decompression, output: &mut (dyn Write + Send)| {
            format.reads().index(how, options, input, spacing, output)
        };
        let found = self.in_two_tries(output, decode, |how, output| Some(decode(how, output)))?;
        output.flush().map_err(Error::Write)?;
        let Indexed { parts, contents, lines, mut garbage_at, mistaken } = found;
        let index = Index::new(&mut Along::new(input), parts, contents, lines).map_err(Error::Read)?;
        let padding_at = match garbage_at {
            Some(at) if format.reads().may_be_padded() && zeros::fill(input, at).map_err(Error::Read)? => {
                garbage_at.take()
            }
            _ => None,
        };
        let done = Decompressed { read: input.size(), written: contents, garbage_at, padding_at, mistaken };
        Ok((done, index))
    }

    /// Decompresses a file to `output`, as [`run_with`](Decompression::run_with) does, using its index: all workers
    /// decode the parts of a gzip member that does not record where its blocks are. The returned `bool` is `false` if
    /// the index turned out to be wrong. Returns `None`, having written nothing, if the index does not help with this
    /// file.
    ///
    /// A wrong index does no harm, because everything in it is checked: each part has to begin at the bit at which the
    /// one before it ended, and after the same contents. If a check fails, the file is decoded from its start without
    /// the index, and only the remaining contents are written. The same happens at a member that records its size or
    /// where its blocks lie.
    ///
    /// # Errors
    ///
    /// As [`run`](Decompression::run).
    ///
    /// # Panics
    ///
    /// If there are no workers.
    pub fn run_indexed(
        &self,
        options: RunOptions<'_>,
        input: &dyn ReadAt,
        index: &Index,
        output: &mut (dyn Write + Send),
    ) -> Result<Option<(Decompressed, bool)>, Error> {
        let format = Format::at(input).map_err(Error::Read)?.unwrap_or_default();
        let parts = index.parts();
        let (written, may_be_right) =
            match format.reads().decompress_indexed(self, &options, input, parts, &mut *output)? {
                ByIndex::Unused => return Ok(None),
                ByIndex::Done(done) => return Ok(Some((done, true))),
                ByIndex::Refuted { written } => (written, false),
                ByIndex::LeftOff { written } => (written, true),
            };
        let mut rest = Rest { left: written, output };
        let done = self.carry(options, &mut Along::new(input), &mut rest)?;
        Ok(Some((done, may_be_right)))
    }

    /// Returns the plan that [`run_indexed`](Decompression::run_indexed) would execute for a file of this
    /// format, or `None` if the index does not help.
    pub fn plan_indexed(&self, format: Format, index: &Index) -> Option<Plan> {
        format.reads().plan_to_read_indexed(self, index.parts())
    }
}

//! Random access to the contents of a compressed file.

use std::io::Write;
#[cfg(unix)]
use std::{fs::File, io, path::Path};

use abz_codec::access::Index;

use crate::access::{Spanned, copy_span};
use crate::decompression::Decompression;
use crate::error::Error;
use crate::index;
use crate::positional::{Along, ReadAt, Reading};
use crate::run_options::RunOptions;
use crate::span::Span;

/// Random access to the contents of a compressed file, in bytes or lines. Several threads can use it at once.
///
/// If the parts of the file are known, all workers read, decode and verify only the parts that overlap what is asked for.
/// The parts are known from an [index](Self::index), or, for a span of bytes, from the file itself: all formats that this crate
/// writes record them, except bzip2. Any other file is decoded from its start to the end of the span; damage after the span
/// goes unnoticed. A [`Reader`](crate::Reader) that seeks remembers more of such files.
///
/// ```
/// use abz::{Compression, RandomAccess, ReaderBuilder, Span, compress};
/// use std::io::Cursor;
///
/// let text: String = (1..=1000).map(|line| format!("line {line}\n")).collect();
/// let mut file = Vec::new();
/// compress(text.as_bytes(), &mut file, &Compression { block_size: Some(4096), ..Compression::default() })?;
///
/// let index = ReaderBuilder::new().build(Cursor::new(&file))?.index()?;
/// let access = RandomAccess::new(&file).index(index)?;
/// let mut lines = Vec::new();
/// access.copy(&Span::Lines(900..=900), &mut lines)?;
/// assert_eq!(lines, b"line 900\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RandomAccess<R> {
    file: R,
    index: Option<Index>,
    settings: Decompression,
}

#[cfg(unix)]
impl RandomAccess<File> {
    /// Opens a compressed file. It must not be changed while it is used.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        File::open(path).map(RandomAccess::new)
    }
}

impl<R: ReadAt> RandomAccess<R> {
    /// Reads from `file`, with the default settings and no index.
    pub fn new(file: R) -> Self {
        RandomAccess { file, index: None, settings: Decompression::default() }
    }

    /// Uses an index, which [`Reader::index`](crate::Reader::index) or the command `abz --index` made.
    ///
    /// # Errors
    ///
    /// If it is the index of another file, or the file cannot be read.
    pub fn index(self, index: Index) -> Result<Self, Error> {
        index::check(&index, &mut Along::new(&self.file))?;
        Ok(RandomAccess { index: Some(index), ..self })
    }

    /// Sets how the file is decoded.
    pub fn settings(self, settings: Decompression) -> Self {
        RandomAccess { settings, ..self }
    }

    /// Writes a span of the contents to `output`. It writes nothing if the span lies past their end.
    ///
    /// # Errors
    ///
    /// As [`decompress`](crate::decompress), for the data that is decoded.
    ///
    /// # Panics
    ///
    /// If there are no workers.
    pub fn copy(&self, span: &Span, mut output: impl Write + Send) -> Result<Spanned, Error> {
        let (input, index) = (Reading::Positional(&self.file), self.index.as_ref());
        copy_span(input, span, index, &mut output, &self.settings, RunOptions::default())
    }
}

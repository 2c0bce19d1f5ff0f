//! The settings of a reader.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use abz_codec::access::Index;
use anabranch::Pool;

use super::Reader;
use crate::decompression::Decompression;
use crate::error::{Error, Failure};
use crate::format::Format;
use crate::threads::Threads;
use crate::tools::{Lender, Tools};
use crate::zeros::Zeros;

/// The settings of a [`Reader`].
///
/// ```no_run
/// use std::io::Read;
///
/// let mut reader = abz::ReaderBuilder::new().workers(4).memory_limit(64 << 20).open("log.gz")?;
/// let mut text = String::new();
/// reader.read_to_string(&mut text)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "call build or open to make a reader"]
pub struct ReaderBuilder {
    settings: Decompression,
    pool: Option<Arc<Pool>>,
    lender: Option<Lender>,
    index: Option<PathBuf>,
}

impl ReaderBuilder {
    /// Begins with the default settings.
    pub fn new() -> Self {
        ReaderBuilder::default()
    }

    /// Sets the number of pieces that are decoded at a time; at least 1. If it is 1, the thread that reads does all. By
    /// default, it is the number of cores that the process may use.
    pub fn workers(mut self, workers: usize) -> Self {
        self.settings.workers = workers;
        self
    }

    /// Sets an approximate limit of memory in bytes. Fewer workers decode a file that needs more; a file that needs more even
    /// with one worker is an error. A zstd file may need a window of any size below the limit; without one, its window has at
    /// most 128 MiB.
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.settings.memory_limit = Some(bytes);
        #[cfg(feature = "zstd")]
        (self.settings.zstd.memory_limit = Some(bytes));
        self
    }

    /// Takes the threads from `pool`, which many readers can share. By default, the process has one pool for all of them,
    /// with as many threads as it may use cores.
    pub fn pool(self, pool: &Arc<Pool>) -> Self {
        ReaderBuilder { pool: Some(Arc::clone(pool)), ..self }
    }

    /// Takes the buffers for the compressed bytes from `tools`, and gives them back at the end, for the next reader. This makes
    /// readers of small files quicker.
    pub fn tools(self, tools: &Tools) -> Self {
        ReaderBuilder { lender: Some(tools.lender_of_inputs()), ..self }
    }

    /// Seeks by the index that is stored in the file `path`: one that [`Reader::index`] or the command `abz --index` made. It
    /// is compared with the compressed file at the first seek.
    pub fn index(self, path: impl Into<PathBuf>) -> Self {
        ReaderBuilder { index: Some(path.into()), ..self }
    }

    /// Sets all settings of a [`Decompression`].
    pub fn settings(self, settings: Decompression) -> Self {
        ReaderBuilder { settings, ..self }
    }

    /// Creates a reader that decompresses what `inner` gives. Reads its first bytes.
    ///
    /// # Errors
    ///
    /// If `inner` cannot be read, is of no known format ([`InvalidData`](io::ErrorKind::InvalidData)), or is too short to have one
    /// ([`UnexpectedEof`](io::ErrorKind::UnexpectedEof)); if the file of the index is none; or if a setting is out of its range
    /// ([`InvalidInput`](io::ErrorKind::InvalidInput)).
    pub fn build<R: Read>(self, inner: R) -> io::Result<Reader<R>> {
        self.make(inner, None)
    }

    /// As [`build`](Self::build), for an inner reader that can perhaps seek. Some files have to be read twice
    /// ([`Remedy::RegularFile`](crate::Remedy::RegularFile)): `build` gives an error for them, and this reader decodes them if
    /// the inner one can seek. A reader that [`open`](Self::open) makes does so, too.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build).
    pub fn build_seekable<R: Read + Seek + Send>(self, inner: R) -> io::Result<Reader<R>> {
        self.make_seekable(inner, None)
    }

    /// Opens a file, and creates a reader of its contents.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build), or if the file cannot be opened.
    pub fn open(self, path: impl AsRef<Path>) -> io::Result<Reader<File>> {
        let path = path.as_ref();
        self.make_seekable(File::open(path)?, Some(path.to_owned()))
    }

    fn make_seekable<R: Read + Seek + Send>(self, inner: R, name: Option<PathBuf>) -> io::Result<Reader<R>> {
        let mut reader = self.make(inner, name)?;
        // A pipe has no places.
        reader.places = reader.places().ok();
        Ok(reader)
    }

    fn make<R: Read>(self, inner: R, name: Option<PathBuf>) -> io::Result<Reader<R>> {
        let mut reader = self.begin(inner, name)?;
        reader.detect_now()?;
        Ok(reader)
    }

    /// Creates a reader that has not read anything yet, not even to find out the format.
    pub(crate) fn begin<R>(self, inner: R, name: Option<PathBuf>) -> io::Result<Reader<R>> {
        let ReaderBuilder { settings, pool, lender, index } = self;
        if settings.workers == 0 {
            let message = "expected 1 worker or more, found 0";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let index = index.map(|path| read_index(&path)).transpose()?;
        let threads = Threads::new(settings.workers, pool);
        Ok(Reader {
            inner,
            is_at_end: false,
            settings,
            threads,
            lender: lender.unwrap_or_else(Lender::of_tools),
            name,
            format: Format::default(),
            has_format: false,
            start: Vec::new(),
            line: None,
            line_read: Zeros::default(),
            line_at: 0,
            has_ended: false,
            data: Vec::new(),
            at: 0,
            used: 0,
            skip: 0,
            places: None,
            index,
            garbage_at: None,
            trailing_at: None,
            failure: Failure::default(),
            waker: None,
        })
    }
}

fn read_index(path: &Path) -> io::Result<Index> {
    let parsed = fs::read(path).and_then(|bytes| {
        Index::parse(&bytes).map_err(|error| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{error}: make the index again"))
        })
    });
    parsed.map_err(|error| Error::File(path.to_owned(), Box::new(Error::Read(error))).into())
}

//! A writer that compresses what is written to it.

mod builder;
pub(crate) mod line;

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::thread;

pub use builder::WriterBuilder;

use self::line::Encode;
use crate::error::{Error, Failure};
#[cfg(doc)]
use crate::format::Format;
use crate::wait::block_on;

/// A writer that compresses what is written to it, on all cores.
///
/// The thread that writes cuts blocks and writes the compressed ones to the inner writer. The threads of a [pool] encode
/// blocks meanwhile, from the second one on. With [one worker](WriterBuilder::workers), the writing thread does all.
///
/// ```
/// use std::io::Write;
///
/// let mut writer = abz::WriterBuilder::new().format(abz::Format::Zstd).build(Vec::new())?;
/// for number in 0..1000 {
///     writeln!(writer, "line {number}")?;
/// }
/// let file: Vec<u8> = writer.finish()?;
///
/// let mut text = Vec::new();
/// abz::decompress(&file[..], &mut text, &abz::Decompression::default())?;
/// assert!(text.ends_with(b"line 999\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A file is complete after [`finish`](Self::finish). A writer that is dropped before ends its file too, but an error of
/// that is lost. It does not end its file if it has failed, or while its thread panics.
///
/// The bytes are those that the command `abz -n` writes of its standard input with the same settings, unless
/// [`flush`](Write::flush) was called. They do not depend on the number of workers, nor on the pieces in which the contents
/// were written.
///
/// # Errors
///
/// The error of each call is an [`io::Error`] with an [`abz::Error`](crate::Error) inside. When a call has failed, all later
/// ones fail. So they do if the inner writer has panicked, which may have taken any part of the bytes.
///
/// [pool]: WriterBuilder::pool
pub struct Writer<W: Write> {
    /// `None` once the file was finished.
    inner: Option<W>,
    coding: Box<dyn Encode>,
    /// The size of all contents in bytes, if it was stated, and of those that were written.
    stated: Option<u64>,
    written: u64,
    failure: Failure,
}

impl Writer<File> {
    /// Creates a file, or empties an existing one, and compresses to it at the default level of the format. The suffix of
    /// the name, such as `.gz` or `.tzst`, says which format ([`Format::of_name`]).
    ///
    /// ```no_run
    /// use std::io::Write;
    ///
    /// let mut writer = abz::Writer::create("notes.xz")?;
    /// writer.write_all(b"a branch of a river\n")?;
    /// writer.finish()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the suffix is not that of a format that is written ([`InvalidInput`](io::ErrorKind::InvalidInput)), or the file
    /// cannot be created.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Writer<File>> {
        WriterBuilder::new().create(path)
    }
}

impl<W: Write> Writer<W> {
    /// Compresses to `inner`, as gzip at level 6. A [`WriterBuilder`] has other formats and settings.
    ///
    /// ```
    /// use std::io::Write;
    ///
    /// let mut writer = abz::Writer::new(Vec::new())?;
    /// writer.write_all(b"a branch of a river\n")?;
    /// assert!(writer.finish()?.starts_with(b"\x1f\x8b"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// None with these settings. It returns a result as [`WriterBuilder::build`] does.
    pub fn new(inner: W) -> io::Result<Writer<W>> {
        WriterBuilder::new().build(inner)
    }

    /// The inner writer. Bytes that were written to this writer may not have arrived there yet.
    pub fn get_ref(&self) -> &W {
        self.inner.as_ref().expect("it is there until the end")
    }

    /// Encodes the rest, ends the file, flushes the inner writer and returns it.
    ///
    /// # Errors
    ///
    /// If that fails, or an earlier call has failed. The file is incomplete then.
    pub fn finish(mut self) -> io::Result<W> {
        self.end()?;
        Ok(self.inner.take().expect("it is there until the end"))
    }

    fn end(&mut self) -> io::Result<()> {
        let (stated, written) = (self.stated, self.written);
        self.carry(|coding| {
            check_size(stated, written)?;
            block_on(|context| coding.poll_finish(context))
        })?;
        self.flush_inner()
    }

    /// Calls `step`, unless an earlier call has failed, and writes the complete bytes of the file to the inner writer.
    fn carry(&mut self, step: impl FnOnce(&mut dyn Encode) -> Result<(), Error>) -> io::Result<()> {
        self.failure.begin_call()?;
        let done = step(&mut *self.coding);
        let bytes = self.coding.bytes();
        let written = match bytes.is_empty() {
            true => Ok(()),
            // The blocks before one that cannot be encoded are written, too.
            false => self.inner.as_mut().expect("it is there until the end").write_all(bytes),
        };
        bytes.clear();
        self.failure.end_call();
        written.map_err(Error::Write).and(done).map_err(|error| self.failure.record(error))
    }

    fn flush_inner(&mut self) -> io::Result<()> {
        self.failure.begin_call()?;
        let flushed = self.inner.as_mut().expect("it is there until the end").flush();
        self.failure.end_call();
        flushed.map_err(|error| self.failure.record(Error::Write(error)))
    }
}

/// Compares the size of all contents, in bytes, with the one that was stated.
pub(crate) fn check_size(stated: Option<u64>, written: u64) -> Result<(), Error> {
    match stated.filter(|stated| *stated != written) {
        Some(stated) => {
            let message = format!("expected {stated} bytes of contents, as was stated, found {written}");
            Err(Error::Read(io::Error::new(io::ErrorKind::InvalidInput, message)))
        }
        None => Ok(()),
    }
}

impl<W: Write> Write for Writer<W> {
    /// Takes all of `data`.
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let mut rest = data;
        self.carry(|coding| block_on(|context| coding.poll_write(context, &mut rest)))?;
        self.written += data.len() as u64;
        Ok(data.len())
    }

    /// Encodes all that was written, and flushes the inner writer, so that all of it can be decoded.
    ///
    /// In gzip, zlib, zip and zstd files, a short piece refers to the contents before it, as after `Z_SYNC_FLUSH` of zlib. A
    /// log that is flushed after each line becomes as large as with the format's own library. The data after the first
    /// short piece are decoded by one thread, and a seek to it decodes from there. A zstd file whose first block was
    /// complete before gets another frame.
    ///
    /// The other formats encode each piece by itself: a flush ends a block in xz, a member in lzip, and a stream in bzip2, and
    /// so it does in gzip files of [members](crate::gzip::Layout::Members). There, flush seldom. A `.lzma` file
    /// ([`Format::Lzma`]) cannot be flushed: its encoder keeps what it still needs.
    fn flush(&mut self) -> io::Result<()> {
        self.carry(|coding| block_on(|context| coding.poll_flush(context)))?;
        self.flush_inner()
    }
}

impl<W: Write> Drop for Writer<W> {
    fn drop(&mut self) {
        if self.inner.is_some() && !self.failure.has_happened() && !thread::panicking() {
            // There is nobody to tell of an error.
            let _ = self.end();
        }
    }
}

impl<W: Write + fmt::Debug> fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("inner", &self.inner)
            .field("failure", &self.failure)
            .finish_non_exhaustive()
    }
}

//! The settings of a writer.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use anabranch::Pool;

use super::Writer;
use super::line::{Encode, EncodeLine};
use crate::compression::Compression;
use crate::error::Failure;
use crate::format::{Format, Setting};
use crate::run_options::Equipment;
use crate::threads::Threads;
use crate::tools::{Lender, Tools};

/// The settings of a [`Writer`].
///
/// ```
/// use std::io::Write;
/// use abz::{Format, WriterBuilder};
///
/// let mut writer = WriterBuilder::new().format(Format::Xz).level(1).workers(2).build(Vec::new())?;
/// writer.write_all(&[7; 5_000_000])?;
/// assert!(writer.finish()?.len() < 10_000);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "call build or create to make a writer"]
pub struct WriterBuilder {
    settings: Compression,
    format: Option<Format>,
    level: Option<u32>,
    memory_limit: Option<u64>,
    pool: Option<Arc<Pool>>,
    lender: Option<Lender>,
}

impl WriterBuilder {
    /// Begins with the default settings.
    pub fn new() -> Self {
        WriterBuilder::default()
    }

    /// Sets the format, one of [`Format::written`]. By default it is gzip, or the one of the name for
    /// [`create`](Self::create).
    pub fn format(self, format: Format) -> Self {
        WriterBuilder { format: Some(format), ..self }
    }

    /// Sets the level, one of [`Format::levels`]. By default it is the format's [default](Format::default_level).
    pub fn level(self, level: u32) -> Self {
        WriterBuilder { level: Some(level), ..self }
    }

    /// Sets the size of a block in bytes, at least 1. It is ignored for formats that do not
    /// [have](Format::has) this setting.
    pub fn block_size(mut self, bytes: usize) -> Self {
        self.settings.block_size = Some(bytes);
        self
    }

    /// Sets the number of blocks that are encoded at a time; at least 1. If it is 1, the thread that writes does all. By
    /// default, it is the number of cores that the process may use.
    pub fn workers(mut self, workers: usize) -> Self {
        self.settings.workers = workers;
        self
    }

    /// Lets fewer workers work if about `bytes` of memory are not enough for all.
    pub fn memory_limit(self, bytes: u64) -> Self {
        WriterBuilder { memory_limit: Some(bytes), ..self }
    }

    /// Takes the threads from `pool`, which many writers can share. By default, the process has one pool for all of them,
    /// with as many threads as it may use cores.
    pub fn pool(self, pool: &Arc<Pool>) -> Self {
        WriterBuilder { pool: Some(Arc::clone(pool)), ..self }
    }

    /// Takes encoders and buffers from `tools`, and gives them back at the end, for the next writer. This makes writers of small
    /// files much quicker. The tools keep as much memory as the writers that use them at once.
    pub fn tools(self, tools: &Tools) -> Self {
        WriterBuilder { lender: Some(tools.lender()), ..self }
    }

    /// Sets all settings of a [`Compression`], the format and the level included. If it states the size of the contents,
    /// [`finish`](Writer::finish) fails after others were written.
    pub fn settings(self, settings: Compression) -> Self {
        WriterBuilder { format: Some(settings.format), level: Some(settings.level), settings, ..self }
    }

    /// Creates a writer that compresses to `inner`.
    ///
    /// # Errors
    ///
    /// If a setting is out of its range ([`InvalidInput`](io::ErrorKind::InvalidInput)), or the memory limit is too low for
    /// one worker ([`OutOfMemory`](io::ErrorKind::OutOfMemory)).
    ///
    /// # Panics
    ///
    /// If a setting of [`settings`](Self::settings) that this builder has no method for is out of its range.
    pub fn build<W: Write>(self, inner: W) -> io::Result<Writer<W>> {
        let (coding, stated) = self.begin(false)?;
        Ok(Writer { inner: Some(inner), coding, stated, written: 0, failure: Failure::default() })
    }

    /// Begins a compression, and returns it with the size of all contents, if it was stated. Only other threads encode if
    /// `is_async` is true, unless the system has none.
    pub(crate) fn begin(self, is_async: bool) -> io::Result<(Box<dyn Encode>, Option<u64>)> {
        let WriterBuilder { mut settings, format, level, memory_limit, pool, lender } = self;
        settings.format = format.unwrap_or_default();
        settings.level = level.unwrap_or(settings.format.default_level());
        check(&settings).map_err(|message| io::Error::new(io::ErrorKind::InvalidInput, message))?;
        if let Some(limit) = memory_limit {
            settings.limit_memory(limit).map_err(|needed| {
                let format = settings.format;
                let expected = format!("expected a memory limit of {needed} bytes or more for {format}");
                let message = format!("{expected}, found {limit}: raise it, or lower the level");
                io::Error::new(io::ErrorKind::OutOfMemory, message)
            })?;
        }
        let (window, workers) = (settings.window(), settings.workers);
        let threads =
            if is_async { Some(Threads::beside(workers, pool)) } else { Threads::new(workers, pool) };
        let lender = lender.unwrap_or_else(Lender::of_tools);
        let equipment = Equipment { lender, ..Equipment::default() };
        let steps = settings.writes().encode_steps(settings.clone(), equipment);
        let line = EncodeLine::begin(steps, window, threads, is_async).map_err(io::Error::from)?;
        Ok((Box::new(line), settings.contents))
    }

    /// Creates a file, or empties an existing one, and a writer that compresses to it. If no format was set, the suffix of
    /// the name says which.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build), if the suffix is not that of a format that is written
    /// ([`InvalidInput`](io::ErrorKind::InvalidInput)), or if the file cannot be created. An existing file is not emptied
    /// if a setting is wrong.
    pub fn create(mut self, path: impl AsRef<Path>) -> io::Result<Writer<File>> {
        let path = path.as_ref();
        if self.format.is_none() {
            self.format = Some(format_of(path)?);
        }
        self.clone().build(io::sink())?;
        self.build(File::create(path)?)
    }
}

/// The format that the suffix of a name stands for.
fn format_of(path: &Path) -> io::Result<Format> {
    Format::of_name(path).filter(|format| format.is_written()).ok_or_else(|| {
        let suffixes: Vec<_> = Format::written().map(Format::suffix).collect();
        let expected = format!("expected a name that ends in one of {}", suffixes.join(", "));
        let message = format!("{expected}, found {}: use such a name, or set the format", path.display());
        io::Error::new(io::ErrorKind::InvalidInput, message)
    })
}

/// Checks the settings that this builder has methods for.
fn check(settings: &Compression) -> Result<(), String> {
    let Compression { format, level, workers, block_size, .. } = settings;
    if !format.is_written() {
        return Err(format!("expected a format that is written, found {format}, which is only read"));
    }
    let levels = format.levels();
    if settings.fast.is_none() && !levels.contains(level) {
        let (least, most) = levels.into_inner();
        return Err(format!("expected a level of {format} from {least} to {most}, found {level}"));
    }
    if *workers == 0 {
        return Err("expected 1 worker or more, found 0".to_owned());
    }
    if let Some(size) = block_size.filter(|_| format.has(Setting::BlockSize)) {
        let most = format.largest_block().unwrap_or(u32::MAX as usize);
        if size == 0 || size > most {
            return Err(format!("expected a block size of {format} from 1 to {most} bytes, found {size}"));
        }
    }
    #[cfg(feature = "zstd")]
    if settings.zstd.patch_from.is_some() {
        return Err("expected no reference for a patch, found one: use compress".to_owned());
    }
    Ok(())
}

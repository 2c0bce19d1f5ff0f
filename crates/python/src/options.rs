//! The settings of readers and writers, as Python passes them.

use abz::gzip::Origin;
use abz::program::facts;
use abz::{Compression, Format, ReaderBuilder, WriterBuilder};
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;

use crate::threads::{pool, with_tools};

/// Above this block size in bytes, encoding one block may take longer than a user waits for Ctrl-C.
const LARGE_BLOCK: usize = 8 << 20;

/// The lowest level of zstd at which blocks are large and slow to encode.
const SLOW_ZSTD_LEVEL: u32 = 10;

/// The settings of a compression.
#[derive(Clone, Copy, Default)]
pub(crate) struct Options {
    pub(crate) level: Option<u32>,
    pub(crate) threads: Option<usize>,
    pub(crate) block_size: Option<usize>,
    pub(crate) memory_limit: Option<u64>,
    /// The time that a gzip or zip file records, in seconds since 1970.
    pub(crate) mtime: Option<u32>,
}

impl Options {
    /// A builder of writers with these settings.
    ///
    /// # Errors
    ///
    /// If the format has no place for a time that was given.
    pub(crate) fn builder(&self, py: Python<'_>, format: Format) -> PyResult<WriterBuilder> {
        let (level, block_size) = (self.level.unwrap_or(format.default_level()), self.block_size);
        let mut settings = Compression { format, level, block_size, ..Compression::default() };
        if let Some(mtime) = self.mtime {
            if !facts(format).tells_origin {
                let message = format!("expected no mtime, found one: a file of {format} does not record it");
                return Err(PyValueError::new_err(message));
            }
            settings.origin = Origin { name: None, mtime };
        }
        if let Some(threads) = self.threads {
            settings.workers = threads;
        }
        let mut builder = WriterBuilder::new().settings(settings);
        if let Some(limit) = self.memory_limit {
            builder = builder.memory_limit(limit);
        }
        if self.threads != Some(1) {
            builder = builder.pool(&pool(py));
        }
        Ok(match format {
            // Their encoders take little memory, so each thread can keep some.
            Format::Gzip | Format::Zlib | Format::Zip => with_tools(|tools| builder.tools(tools)),
            _ => builder,
        })
    }

    /// Whether a call may wait for a block that takes seconds to encode, so that another thread does it. With one thread, the
    /// caller's does all.
    pub(crate) fn is_slow(&self, format: Format) -> bool {
        match format {
            _ if self.threads == Some(1) => false,
            Format::Lzip | Format::Xz | Format::Lzma => true,
            Format::Zstd if self.level.is_some_and(|level| level >= SLOW_ZSTD_LEVEL) => true,
            _ => self.block_size.is_some_and(|size| size >= LARGE_BLOCK),
        }
    }
}

/// A builder of readers with these settings. Each thread keeps the buffers into which its readers read.
pub(crate) fn reading(py: Python<'_>, threads: Option<usize>, memory_limit: Option<u64>) -> ReaderBuilder {
    let mut builder = ReaderBuilder::new();
    if let Some(threads) = threads {
        builder = builder.workers(threads);
    }
    if let Some(limit) = memory_limit {
        builder = builder.memory_limit(limit);
    }
    if threads != Some(1) {
        builder = builder.pool(&pool(py));
    }
    with_tools(|tools| builder.tools(tools))
}

/// The format of that name, if it is written.
pub(crate) fn format_named(name: &str) -> PyResult<Format> {
    Format::written().find(|format| format.name() == name).ok_or_else(|| {
        let names: Vec<_> = Format::written().map(Format::name).collect();
        PyValueError::new_err(format!("expected a format of {}, found {name:?}", names.join(", ")))
    })
}

/// The level that two arguments set. `compresslevel` is that of the modules `gzip` and `bz2`, where gzip has 0, which does not
/// compress, and -1, the default.
pub(crate) fn level_of(
    format: Format,
    compresslevel: Option<&Bound<'_, PyAny>>,
    level: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<u32>> {
    let (level, is_theirs) = match (compresslevel, level) {
        (Some(_), Some(_)) => {
            return Err(PyValueError::new_err("expected a level or a compresslevel, found both"));
        }
        (Some(level), None) => (level, has_levels_of_zlib(format)),
        (None, Some(level)) => (level, false),
        (None, None) => return Ok(None),
    };
    // Any integer is a number out of the range at worst.
    let number = match level.extract::<i64>() {
        Ok(number) => Some(number),
        Err(error) if PyErr::is_instance_of::<PyOverflowError>(&error, level.py()) => None,
        Err(error) => return Err(error),
    };
    match number {
        Some(-1) if is_theirs => return Ok(None),
        Some(0) if is_theirs => return Ok(Some(1)),
        _ => {}
    }
    number.and_then(|number| number.try_into().ok()).map(Some).ok_or_else(|| {
        let (least, most) = format.levels().into_inner();
        PyValueError::new_err(format!("expected a level of {format} from {least} to {most}, found {level}"))
    })
}

fn has_levels_of_zlib(format: Format) -> bool {
    matches!(format, Format::Gzip | Format::Zlib | Format::Zip)
}

/// An argument that counts something. A number that is negative or too large is out of the range, and no overflow.
pub(crate) fn count<T: TryFrom<i128>>(argument: &Bound<'_, PyAny>) -> PyResult<Option<T>> {
    if argument.is_none() {
        return Ok(None);
    }
    let number = match argument.extract::<i128>() {
        Err(error) if !error.is_instance_of::<PyOverflowError>(argument.py()) => return Err(error),
        number => number.ok().and_then(|number| number.try_into().ok()),
    };
    number.map(Some).ok_or_else(|| {
        PyValueError::new_err(format!("expected a number from 0 to {}, found {argument}", usize::MAX))
    })
}

/// A time in whole seconds since 1970, as a gzip file records it.
pub(crate) fn seconds(time: &Bound<'_, PyAny>) -> PyResult<u32> {
    let whole = time.extract::<f64>()?.floor();
    let fits = (0.0..=f64::from(u32::MAX)).contains(&whole);
    fits.then_some(whole as u32).ok_or_else(|| {
        PyValueError::new_err(format!("expected an mtime from 0 to {} seconds, found {time}", u32::MAX))
    })
}

//! The settings of readers and writers, as Python passes them.

use abz::{Format, Reader, ReaderBuilder, Writer, WriterBuilder};
use pyo3::exceptions::PyValueError;
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
}

impl Options {
    /// A builder of writers with these settings.
    pub(crate) fn builder(&self, py: Python<'_>, format: Format) -> WriterBuilder {
        let mut builder = Writer::builder().format(format);
        if let Some(level) = self.level {
            builder = builder.level(level);
        }
        if let Some(size) = self.block_size {
            builder = builder.block_size(size);
        }
        if let Some(limit) = self.memory_limit {
            builder = builder.memory_limit(limit);
        }
        if let Some(threads) = self.threads {
            builder = builder.workers(threads);
        }
        if self.threads != Some(1) {
            builder = builder.pool(&pool(py));
        }
        match format {
            // Their encoders take little memory, so each thread can keep some.
            Format::Gzip | Format::Zlib | Format::Zip => with_tools(|tools| builder.tools(tools)),
            _ => builder,
        }
    }

    /// Whether a call may wait for a block that takes seconds to encode.
    pub(crate) fn is_slow(&self, format: Format) -> bool {
        match format {
            Format::Lzip | Format::Xz | Format::Lzma => true,
            Format::Zstd if self.level.is_some_and(|level| level >= SLOW_ZSTD_LEVEL) => true,
            _ => self.block_size.is_some_and(|size| size >= LARGE_BLOCK),
        }
    }
}

/// A builder of readers with these settings.
pub(crate) fn reading(py: Python<'_>, threads: Option<usize>, memory_limit: Option<u64>) -> ReaderBuilder {
    let mut builder = Reader::builder();
    if let Some(threads) = threads {
        builder = builder.workers(threads);
    }
    if let Some(limit) = memory_limit {
        builder = builder.memory_limit(limit);
    }
    if threads != Some(1) {
        builder = builder.pool(&pool(py));
    }
    builder
}

/// The format of that name, if it is written.
pub(crate) fn format_named(name: &str) -> PyResult<Format> {
    Format::written().find(|format| format.name() == name).ok_or_else(|| {
        let names: Vec<_> = Format::written().map(Format::name).collect();
        PyValueError::new_err(format!("expected a format of {}, found {name:?}", names.join(", ")))
    })
}

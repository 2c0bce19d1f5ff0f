//! Compression and decompression in memory.

use std::io::{self, Read, Write};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyMemoryView};

use crate::errors::{check_garbage, exception};
use crate::options::{Options, format_named, reading};
use crate::threads::Task;

/// Up to this number of bytes, work takes no longer than a thread that would let signals be handled meanwhile.
const LITTLE: usize = 64 << 10;

/// Compresses `data`, which is bytes or any other object with a buffer.
///
/// The format is "gzip", "bzip2", "lzip", "xz", "zstd", "zlib", "zip" or "lzma". Without a level, the format's default is
/// used. All cores work on data of several blocks, unless `threads` says how many. The result does not depend on that.
///
/// Other threads of Python run meanwhile.
///
/// >>> import abz, gzip
/// >>> data = b"a branch of a river\n" * 1000
/// >>> gzip.decompress(abz.compress(data)) == data
/// True
/// >>> len(abz.compress(data, format="xz", level=9)) < 200
/// True
///
/// Raises ValueError if a setting is out of its range.
#[pyfunction]
#[pyo3(signature = (data, *, format = "gzip", level = None, threads = None, block_size = None))]
pub(crate) fn compress(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    format: &str,
    level: Option<u32>,
    threads: Option<usize>,
    block_size: Option<usize>,
) -> PyResult<Py<PyBytes>> {
    let data = bytes_of(data)?;
    let options = Options { level, threads, block_size, memory_limit: None };
    let builder = options.builder(py, format_named(format)?);
    let file = process(py, data, move |data| {
        let mut writer = builder.new(Vec::new())?;
        writer.write_all(data)?;
        writer.finish()
    })?;
    Ok(PyBytes::new(py, &file).unbind())
}

/// Decompresses `data`, which is a whole file in any of the formats that are read.
///
/// Besides the formats that are written, these are the old ones "compress", "pack" and "lzh". Files that follow each other
/// are decompressed one after the other, as gzip does. Other bytes after the last of them raise BadGzipFile if it is a gzip
/// file, and give a UserWarning if not; with `allow_garbage` they are ignored. Zeros there are padding.
///
/// Other threads of Python run meanwhile.
///
/// >>> import abz, lzma
/// >>> abz.decompress(lzma.compress(b"a branch of a river"))
/// b'a branch of a river'
///
/// Raises BadFile if the data is damaged or not compressed, EOFError if its end is missing, and MemoryError if the data needs
/// more memory than there is.
#[pyfunction]
#[pyo3(signature = (data, *, threads = None, allow_garbage = false))]
pub(crate) fn decompress(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    threads: Option<usize>,
    allow_garbage: bool,
) -> PyResult<Py<PyBytes>> {
    let data = bytes_of(data)?;
    let builder = reading(py, threads, None);
    let (contents, garbage) = process(py, data, move |data| {
        let mut contents = Vec::new();
        let mut reader = builder.new(data)?;
        reader.read_to_end(&mut contents)?;
        let format = reader.format();
        Ok((contents, reader.garbage_at().map(|at| (format, at))))
    })?;
    if let Some(garbage) = garbage {
        check_garbage(py, garbage, allow_garbage, None)?;
    }
    Ok(PyBytes::new(py, &contents).unbind())
}

/// Calls `work` while other threads of Python run.
fn process<T: Send + 'static>(
    py: Python<'_>,
    data: PyBackedBytes,
    work: impl FnOnce(&[u8]) -> io::Result<T> + Send + 'static,
) -> PyResult<T> {
    let result = if data.len() <= LITTLE {
        py.detach(|| work(&data))
    } else {
        Task::start(move || work(&data))?.wait(py)?
    };
    result.map_err(|error| exception(py, error, None))
}

/// The bytes of an object with a buffer. Those of `bytes` are not copied.
pub(crate) fn bytes_of(data: &Bound<'_, PyAny>) -> PyResult<PyBackedBytes> {
    match data.cast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.clone().into()),
        Err(_) => {
            let bytes = PyMemoryView::from(data)?.call_method0("tobytes")?;
            Ok(bytes.cast_into::<PyBytes>()?.into())
        }
    }
}

//! Compression and decompression in memory.

use std::io::{self, BufRead, Write};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyMemoryView};

use crate::errors::{check_garbage, exception};
use crate::file::handle_signals;
use crate::options::{Options, count, format_named, level_of, reading, seconds};
use crate::threads::Task;

/// Up to this number of bytes, work takes no longer than a thread that would let signals be handled meanwhile.
const LITTLE: usize = 64 << 10;

/// The number of bytes that are processed between two looks for signals.
const PORTION: usize = 1 << 20;

/// Compresses `data`, which is bytes or any other object with a buffer.
///
/// The format is "gzip", "bzip2", "lzip", "xz", "zstd", "zlib", "zip" or "lzma". Without a level, the format's default is
/// used; `compresslevel` is the level as the modules `gzip` and `bz2` name it. All cores work on data of several blocks, unless
/// `threads` says how many. The result does not depend on that. With 1, no thread is made. `mtime` is the time in seconds since
/// 1970 that a gzip or zip file records, by default none.
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
#[pyo3(signature = (
    data,
    compresslevel = None,
    *,
    format = "gzip",
    level = None,
    threads = None,
    block_size = None,
    mtime = None
))]
#[allow(clippy::too_many_arguments)] // one for each of Python's
pub(crate) fn compress(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    compresslevel: Option<&Bound<'_, PyAny>>,
    format: &str,
    level: Option<&Bound<'_, PyAny>>,
    #[pyo3(from_py_with = count)] threads: Option<usize>,
    #[pyo3(from_py_with = count)] block_size: Option<usize>,
    mtime: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyBytes>> {
    let data = bytes_of(data)?;
    let (format, mtime) = (format_named(format)?, mtime.map(seconds).transpose()?);
    let level = level_of(format, compresslevel, level)?;
    let options = Options { level, threads, block_size, memory_limit: None, mtime };
    let builder = options.builder(py, format)?;
    let file = process(py, data, threads, move |data, look| {
        let mut writer = builder.build(Growing::default())?;
        for portion in data.chunks(PORTION) {
            writer.write_all(portion)?;
            look()?;
        }
        Ok(writer.finish()?.0)
    })?;
    to_bytes(py, &file)
}

/// Bytes that grow as long as there is memory.
#[derive(Default)]
struct Growing(Vec<u8>);

impl Write for Growing {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.0.try_reserve(data.len())?;
        self.0.extend_from_slice(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads until there are `most` more bytes or a few more, or no more come, and returns how many. Reading to the end with the
/// standard library ends the process where there is no memory.
pub(crate) fn read_on(reader: &mut impl BufRead, most: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let mut read = 0;
    while read < most {
        let chunk = reader.fill_buf()?;
        let len = chunk.len();
        if len == 0 {
            break;
        }
        bytes.try_reserve(len)?;
        bytes.extend_from_slice(chunk);
        reader.consume(len);
        read += len;
    }
    Ok(read)
}

/// Makes an object of Python, or raises MemoryError.
pub(crate) fn to_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Py<PyBytes>> {
    let made = PyBytes::new_with(py, bytes.len(), |target| {
        target.copy_from_slice(bytes);
        Ok(())
    });
    made.map(Bound::unbind)
}

/// Decompresses `data`, which is a whole file in any of the formats that are read.
///
/// Besides the formats that are written, these are the old ones "compress", "pack" and "lzh". Files that follow each other
/// are decompressed one after the other, as gzip does. Other bytes after the last of them raise BadGzipFile if it is a gzip
/// file, and give a UserWarning if not; with `allow_garbage` they are ignored. Zeros there are padding. `memory_limit` is in
/// bytes, approximately. A zstd file with a window above 128 MiB needs one that is larger than its window. No bytes are
/// decompressed to no bytes, as in the modules `gzip` and `bz2`; `lzma` raises an error for them.
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
#[pyo3(signature = (data, *, threads = None, memory_limit = None, allow_garbage = false))]
pub(crate) fn decompress(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = count)] threads: Option<usize>,
    #[pyo3(from_py_with = count)] memory_limit: Option<u64>,
    allow_garbage: bool,
) -> PyResult<Py<PyBytes>> {
    let data = bytes_of(data)?;
    if data.is_empty() {
        return to_bytes(py, &[]);
    }
    let builder = reading(py, threads, memory_limit);
    let (contents, garbage) = process(py, data, threads, move |data, look| {
        let mut contents = Vec::new();
        let mut reader = builder.build(data)?;
        while read_on(&mut reader, PORTION, &mut contents)? > 0 {
            look()?;
        }
        let format = reader.format();
        Ok((contents, reader.garbage_at().map(|at| (format, at))))
    })?;
    if let Some(garbage) = garbage {
        check_garbage(py, garbage, allow_garbage, None)?;
    }
    to_bytes(py, &contents)
}

/// Calls `work` while other threads of Python run. Another thread does it, unless there is to be one only, so that signals are
/// handled meanwhile. If not, `work` looks for signals now and then, by the function that it is given.
fn process<T: Send + 'static>(
    py: Python<'_>,
    data: PyBackedBytes,
    threads: Option<usize>,
    work: impl FnOnce(&[u8], fn() -> io::Result<()>) -> io::Result<T> + Send + 'static,
) -> PyResult<T> {
    let result = if data.len() <= LITTLE || threads == Some(1) {
        py.detach(|| work(&data, handle_signals))
    } else {
        // The data is dropped here. A thread that Python has not started must not enter the interpreter: the child of a fork at
        // that moment would wait for it for ever (CPython 3.11).
        Task::start(move || (work(&data, || Ok(())), data)).wait(py)?.0
    };
    result.map_err(|error| exception(py, error, None))
}

/// The bytes of an object with a buffer. The contents of `bytes` are not copied.
pub(crate) fn bytes_of(data: &Bound<'_, PyAny>) -> PyResult<PyBackedBytes> {
    match data.cast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.clone().into()),
        Err(_) => {
            let bytes = PyMemoryView::from(data)?.call_method0("tobytes")?;
            Ok(bytes.cast_into::<PyBytes>()?.into())
        }
    }
}

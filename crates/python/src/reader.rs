//! Files that are read, below Python's buffer.

use std::io::{self, BufRead, SeekFrom};
use std::mem;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use abz::{Format, Reader};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PySlice};
use pyo3::{PyTraverseError, PyVisit};
use rustix::fs::OFlags;

use crate::errors::{check_garbage, exception, is_passing, without_frames};
use crate::file::{File, Source, closed, format_like, is_path, no_file, path_of, unpicklable, unsupported};
use crate::memory::{read_on, to_bytes};
use crate::options::{count, reading};
use crate::threads::{Exclusive, Task};

/// The number of bytes that are read at most before Python handles signals.
const PORTION: usize = 1 << 20;

/// The same for all of a file.
const LARGE_PORTION: usize = 8 << 20;

/// A compressed file that is read, without a buffer behind. `abz.open` puts one there.
#[pyclass(frozen, module = "abz._abz")]
pub(crate) struct RawReader {
    /// `None` once the file is closed.
    state: Exclusive<Option<State>>,
    source: Source,
    is_seekable: bool,
    /// Whether bytes after the last member are ignored that are no member.
    allows_garbage: bool,
    /// Whether a read waits until there are as many bytes as were asked for.
    fills: bool,
    /// The position in the contents, in bytes.
    position: AtomicU64,
    closed: AtomicBool,
}

struct State {
    /// `None` after a failure, so that an exception that somebody keeps keeps no buffers.
    reader: Option<Reader<File>>,
    /// The exception of a call, or the one behind the bytes that a call has returned. All later calls raise it.
    failed: Option<PyErr>,
    /// The offset of what follows the last member, after a failure.
    garbage_at: Option<u64>,
    /// Whether what follows the last member was looked at.
    has_checked_end: bool,
}

#[pymethods]
impl RawReader {
    /// Opens a file to be read.
    #[new]
    #[pyo3(signature = (file, *, threads = None, memory_limit = None, index = None, allow_garbage = false))]
    fn new(
        py: Python<'_>,
        file: Py<PyAny>,
        #[pyo3(from_py_with = count)] threads: Option<usize>,
        #[pyo3(from_py_with = count)] memory_limit: Option<u64>,
        index: Option<PathBuf>,
        allow_garbage: bool,
    ) -> PyResult<Self> {
        let bound = file.bind(py);
        let is_gzip = format_like(bound) == Some(Format::Gzip);
        let inner = open(bound)?.allowing_empty(is_gzip);
        let source = inner.source(bound);
        let (is_seekable, fills) = (inner.is_seekable(py)?, inner.never_pauses());
        let mut builder = reading(py, threads, memory_limit);
        if let Some(index) = index {
            builder = builder.index(index);
        }
        let reader = py.detach(|| builder.build(inner));
        let reader = reader.map_err(|error| exception(py, error, source.path(py)))?;
        let state = State { reader: Some(reader), failed: None, garbage_at: None, has_checked_end: false };
        Ok(RawReader {
            state: Exclusive::new(Some(state)),
            source,
            is_seekable,
            allows_garbage: allow_garbage,
            fills,
            position: AtomicU64::new(0),
            closed: AtomicBool::new(false),
        })
    }

    /// Reads into `buffer`, and returns how many bytes; 0 at the end.
    #[pyo3(signature = (buffer, /))]
    fn readinto(&self, py: Python<'_>, buffer: &Bound<'_, PyAny>) -> PyResult<usize> {
        let buffer = PyMemoryView::from(buffer)?.call_method1("cast", ("B",))?;
        let len = buffer.len()?;
        let mut filled = 0;
        self.with(py, |state| {
            while filled < len {
                let reader = state.reader.as_mut().ok_or_else(unusable)?;
                let chunk = match py.detach(|| reader.fill_buf()) {
                    Ok(chunk) => &chunk[..chunk.len().min(len - filled)],
                    Err(error) if filled == 0 => return Err(error),
                    Err(error) => {
                        if !is_passing(&error) {
                            let error = self.exception(py, error);
                            state.fail(py, error);
                        }
                        break;
                    }
                };
                let end = filled + chunk.len();
                if end == filled {
                    if filled == 0 {
                        self.check_end(py, state)?;
                    }
                    break;
                }
                let target = PySlice::new(py, filled as isize, end as isize, 1);
                buffer.set_item(target, PyBytes::new(py, chunk))?;
                reader.consume(end - filled);
                filled = end;
                if !self.fills || filled >= PORTION {
                    break;
                }
            }
            Ok(())
        })?;
        self.position.fetch_add(filled as u64, Ordering::Relaxed);
        Ok(filled)
    }

    /// Reads the rest. If the file below has no more bytes at the moment, that is what is there, as with any unbuffered file.
    fn readall(&self, py: Python<'_>) -> PyResult<Py<PyBytes>> {
        let mut rest = Vec::new();
        while self.with(py, |state| {
            let reader = state.reader.as_mut().ok_or_else(unusable)?;
            match py.detach(|| read_on(reader, LARGE_PORTION, &mut rest)) {
                Ok(0) => {
                    self.check_end(py, state)?;
                    Ok(false)
                }
                Ok(_) => Ok(true),
                Err(error) if is_passing(&error) && !rest.is_empty() => Ok(false),
                Err(error) => Err(error),
            }
        })? {}
        self.position.fetch_add(rest.len() as u64, Ordering::Relaxed);
        to_bytes(py, &rest)
    }

    /// Moves to a position in the contents, in bytes from the start (0), from the position (1) or from the end (2), and returns it.
    /// A place before the start is the start, and one after the end is the end, as in the modules `gzip`, `bz2` and `lzma`.
    #[pyo3(signature = (offset, whence = 0))]
    fn seek(&self, py: Python<'_>, offset: i64, whence: i64) -> PyResult<u64> {
        if !self.seekable()? {
            return Err(unsupported(
                py,
                "the file below cannot seek, so its contents cannot be read at any position",
            ));
        }
        let to = match whence {
            0 => SeekFrom::Start(offset.max(0) as u64),
            1 => SeekFrom::Current(offset),
            2 => SeekFrom::End(offset),
            _ => {
                let message = format!("expected 0, 1 or 2 as the start of a distance, found {whence}");
                return Err(PyValueError::new_err(message));
            }
        };
        let seek = |state: &mut State| {
            let reader = state.reader.as_mut().ok_or_else(unusable)?;
            Ok(py.detach(|| reader.seek_within(to)))
        };
        // After an error, the reader is where it was.
        let position = self.with(py, seek)?.map_err(|error| self.exception(py, error))?;
        self.position.store(position, Ordering::Relaxed);
        Ok(position)
    }

    /// The position in the contents, in bytes.
    fn tell(&self) -> PyResult<u64> {
        self.check_open()?;
        Ok(self.position.load(Ordering::Relaxed))
    }

    /// The offset in the file of what follows its last member, if that is neither padding nor a member. It is known once the
    /// end of the contents was read.
    #[getter]
    fn garbage_at(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.check_open()?;
        self.state.with(py, |state| Ok(state.as_ref().and_then(State::garbage_at)))
    }

    /// Closes the file, unless it is a file object.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.closed.swap(true, Ordering::Relaxed) || self.state.is_forked() {
            return Ok(());
        }
        self.state.with(py, |state| {
            let state = state.take();
            py.detach(move || drop(state));
            Ok(())
        })
    }

    /// Returns at once: there is nothing to pass on.
    fn flush(&self) -> PyResult<()> {
        self.check_open()
    }

    /// Whether the file is closed.
    #[getter]
    fn closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// The name of the file, or of the file object.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.source.name(py)
    }

    /// Returns "rb".
    #[getter]
    fn mode(&self) -> &'static str {
        "rb"
    }

    /// Returns True.
    fn readable(&self) -> bool {
        true
    }

    /// Returns False.
    fn writable(&self) -> bool {
        false
    }

    /// Whether the file below can seek.
    fn seekable(&self) -> PyResult<bool> {
        self.check_open()?;
        Ok(self.is_seekable)
    }

    /// Returns False.
    fn isatty(&self) -> PyResult<bool> {
        self.check_open().map(|()| false)
    }

    /// The number of the file below. The bytes that are read there are compressed.
    fn fileno(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.with(py, |state| Ok(state.reader.as_ref().ok_or_else(unusable)?.get_ref().number(py)?))
    }

    /// Raises io.UnsupportedOperation.
    #[pyo3(signature = (_size = None, /))]
    fn truncate(&self, py: Python<'_>, _size: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        Err(unsupported(py, "truncate"))
    }

    /// Warns that the file `above` this one, which is collected, was left open. Python's buffers call it.
    fn _dealloc_warn(&self, above: &Bound<'_, PyAny>) {
        if !self.closed() && !self.state.is_forked() {
            self.source.warn_of(above);
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.source.traverse(&visit)
    }

    fn __clear__(&self) {
        self.source.clear();
    }

    /// Raises TypeError.
    fn __reduce__(&self) -> PyResult<()> {
        Err(unpicklable())
    }
}

impl RawReader {
    /// Calls `f`, unless an earlier call has failed, after Python has handled the signals that have come.
    fn with<T>(&self, py: Python<'_>, f: impl FnOnce(&mut State) -> io::Result<T>) -> PyResult<T> {
        self.check_open()?;
        py.check_signals()?;
        self.state.with(py, |state| {
            let state = state.as_mut().ok_or_else(closed)?;
            if let Some(failed) = &state.failed {
                return Err(without_frames(py, failed));
            }
            f(state).map_err(|error| {
                let is_lasting = !is_passing(&error);
                let error = self.exception(py, error);
                if is_lasting {
                    state.fail(py, without_frames(py, &error));
                }
                error
            })
        })
    }

    /// Looks, once, at what follows the last member.
    fn check_end(&self, py: Python<'_>, state: &mut State) -> io::Result<()> {
        let Some(at) = state.garbage_at().filter(|_| !state.has_checked_end) else { return Ok(()) };
        state.has_checked_end = true;
        let format = state.reader.as_ref().ok_or_else(unusable)?.format();
        Ok(check_garbage(py, (format, at), self.allows_garbage, self.source.path(py))?)
    }

    fn check_open(&self) -> PyResult<()> {
        if self.closed() { Err(closed()) } else { Ok(()) }
    }

    fn exception(&self, py: Python<'_>, error: io::Error) -> PyErr {
        exception(py, error, self.source.path(py))
    }
}

impl State {
    /// Records that a call has failed, and frees what later calls do not need.
    fn fail(&mut self, py: Python<'_>, error: PyErr) {
        self.garbage_at = self.garbage_at();
        self.failed = Some(error);
        let reader = self.reader.take();
        py.detach(move || drop(reader));
    }

    fn garbage_at(&self) -> Option<u64> {
        self.reader.as_ref().map_or(self.garbage_at, Reader::garbage_at)
    }
}

/// The error of a call after a failure, which is raised before.
fn unusable() -> io::Error {
    io::Error::other("an earlier call has failed")
}

impl Drop for RawReader {
    fn drop(&mut self) {
        let is_forked = self.state.is_forked();
        let state = self.state.get_mut().take();
        if is_forked {
            // Its threads are not in this process, so nothing can wait for them.
            mem::forget(state);
        } else {
            Python::attach(|py| py.detach(move || drop(state)));
        }
    }
}

/// Makes the index of a file.
#[pyfunction]
#[pyo3(signature = (file, *, threads = None))]
pub(crate) fn make_index(
    file: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = count)] threads: Option<usize>,
) -> PyResult<Py<PyBytes>> {
    let py = file.py();
    // Only the calling thread may read a file object: see `Later` in `file.rs`.
    let threads = if is_path(file) { threads } else { Some(1) };
    let (inner, builder) = (open(file)?, reading(py, threads, None));
    if !inner.is_seekable(py)? {
        return Err(unsupported(py, "the file below cannot seek, so it cannot have an index"));
    }
    let make = move || Ok(builder.build(inner)?.index()?.to_bytes());
    let made = if threads == Some(1) { py.detach(make) } else { Task::start(make).wait(py)? };
    let bytes = made.map_err(|error| exception(py, error, is_path(file).then_some(file)))?;
    to_bytes(py, &bytes)
}

/// Opens a path, or takes a file object.
fn open(file: &Bound<'_, PyAny>) -> PyResult<File> {
    let py = file.py();
    if let Some(path) = path_of(file)? {
        let opened = py.detach(|| File::open(OFlags::RDONLY, &path));
        opened.map_err(|error| exception(py, error, Some(file)))
    } else if file.hasattr("read")? {
        File::of_object(file)
    } else {
        Err(no_file(file, "read"))
    }
}

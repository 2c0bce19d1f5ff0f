//! Files that are written, below Python's buffer.

use std::io::{self, Write};
use std::mem;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use abz::program::facts;
use abz::{Format, Writer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyMemoryView, PySlice};
use pyo3::{PyTraverseError, PyVisit};
use rustix::fs::OFlags;

use crate::errors::{exception, without_frames};
use crate::file::{File, Later, Source, closed, format_like, no_file, path_of, unpicklable, unsupported};
use crate::memory::bytes_of;
use crate::options::{Options, count, format_named, level_of, seconds};
use crate::threads::{Exclusive, Task};

/// The number of bytes that one call of `write` takes at most. Between calls, Python handles signals.
const PORTION: usize = 1 << 20;

/// A compressed file that is written, without a buffer in front. `abz.open` puts one there.
#[pyclass(frozen, module = "abz._abz")]
pub(crate) struct RawWriter {
    line: Exclusive<Line>,
    source: Source,
    /// How many bytes were written.
    written: AtomicU64,
    closed: AtomicBool,
}

/// A writer, or the thread that has it.
struct Line {
    /// `None` while a task has it, once the file is closed, and after a panic.
    writer: Option<Writer<File>>,
    /// The step that another thread does, if steps of this format may take seconds. The calling thread waits for it before
    /// the next step only, so that an exception of a signal handler comes between steps and not in one.
    task: Option<Task<Done>>,
    is_slow: bool,
    /// The bytes that the other thread leaves for the calling one to write to a file object.
    later: Option<Arc<Later>>,
    /// The exception of a call. All later calls raise it, too.
    failed: Option<PyErr>,
}

/// A writer after a step, the result of the step, and the data that it has written.
type Done = (Writer<File>, io::Result<()>, Option<PyBackedBytes>);

impl Line {
    /// Waits for the last step, if another thread does it.
    fn settle(&mut self, py: Python<'_>) -> PyResult<io::Result<()>> {
        let Some(task) = &mut self.task else { return Ok(Ok(())) };
        let (writer, result, _) = task.wait(py)?;
        (self.writer, self.task) = (Some(writer), None);
        Ok(self.carry_out(py).and(result))
    }

    fn carry_out(&self, py: Python<'_>) -> io::Result<()> {
        self.later.as_ref().map_or(Ok(()), |later| later.carry_out(py))
    }

    /// Does a step. If another thread does it, its error is that of the next step.
    fn step(
        &mut self,
        py: Python<'_>,
        data: Option<PyBackedBytes>,
        step: impl FnOnce(&mut Writer<File>, &[u8]) -> io::Result<()> + Send + 'static,
    ) -> PyResult<io::Result<()>> {
        let settled = self.settle(py)?;
        if settled.is_err() {
            return Ok(settled);
        }
        let Some(mut writer) = self.writer.take() else {
            return Err(PyValueError::new_err("this file is closed, or an earlier call of it has panicked"));
        };
        if self.is_slow {
            let work = move || {
                let result = step(&mut writer, data.as_deref().unwrap_or_default());
                (writer, result, data)
            };
            self.task = Some(Task::start(work));
            return Ok(Ok(()));
        }
        let result = py.detach(|| step(&mut writer, data.as_deref().unwrap_or_default()));
        self.writer = Some(writer);
        Ok(result)
    }

    /// Ends the file.
    fn finish(&mut self, py: Python<'_>) -> PyResult<io::Result<()>> {
        let settled = self.settle(py)?;
        let Some(writer) = self.writer.take() else { return Ok(settled) };
        let finished = match self.is_slow {
            true => {
                let finished = Task::start(move || writer.finish().map(drop)).wait(py)?;
                self.carry_out(py).and(finished)
            }
            false => py.detach(|| writer.finish().map(drop)),
        };
        Ok(settled.and(finished))
    }
}

#[pymethods]
impl RawWriter {
    /// Opens a file to be written. `mode` is "w", "x" or "a", and is ignored for a file object.
    #[new]
    #[pyo3(signature = (file, mode, *, format, level, compresslevel, threads, block_size, memory_limit, mtime))]
    #[allow(clippy::too_many_arguments)] // one for each of Python's
    fn new(
        py: Python<'_>,
        file: Py<PyAny>,
        mode: &str,
        format: Option<&str>,
        level: Option<&Bound<'_, PyAny>>,
        compresslevel: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = count)] threads: Option<usize>,
        #[pyo3(from_py_with = count)] block_size: Option<usize>,
        #[pyo3(from_py_with = count)] memory_limit: Option<u64>,
        mtime: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let bound = file.bind(py);
        let path = path_of(bound)?;
        let format = match (format, &path) {
            (Some(name), _) => format_named(name)?,
            (None, Some(path)) => format_of(path)?,
            (None, None) => format_like(bound).filter(|format| facts(*format).is_written).unwrap_or_default(),
        };
        if mode == "a" && !may_be_appended_to(format) {
            let message = format!(
                "a file of {format} cannot be appended to: write a new file, or choose another format"
            );
            return Err(PyValueError::new_err(message));
        }
        let (level, mtime) = (level_of(format, compresslevel, level)?, mtime.map(seconds).transpose()?);
        let options = Options { level, threads, block_size, memory_limit, mtime };
        let builder = options.builder(py, format)?;
        let raise = |error| exception(py, error, path.is_some().then_some(bound));
        let how = match mode {
            "x" => OFlags::EXCL,
            "a" => OFlags::APPEND,
            _ => OFlags::TRUNC,
        };
        let open = || {
            // A file that is there is not emptied if a setting is wrong.
            builder.clone().build(io::sink())?;
            File::open(OFlags::WRONLY | OFlags::CREATE | how, path.as_deref().unwrap_or(Path::new("")))
        };
        let inner = match &path {
            Some(_) => py.detach(open).map_err(raise)?,
            None if bound.hasattr("write")? => File::of_object(bound)?,
            None => return Err(no_file(bound, "write")),
        };
        let source = inner.source(bound);
        let is_slow = options.is_slow(format);
        let (inner, later) = if is_slow { inner.written_later() } else { (inner, None) };
        let writer = builder.build(inner).map_err(|error| exception(py, error, None))?;
        let line = Line { writer: Some(writer), task: None, is_slow, later, failed: None };
        Ok(RawWriter {
            line: Exclusive::new(line),
            source,
            written: AtomicU64::new(0),
            closed: AtomicBool::new(false),
        })
    }

    /// Writes a part of `data`, and returns how many bytes that is.
    #[pyo3(signature = (data, /))]
    fn write(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<usize> {
        self.check_open()?;
        let data = first_of(data, PORTION)?;
        let len = data.len();
        py.check_signals()?;
        self.with(py, |line| line.step(py, Some(data), |writer, data| writer.write_all(data)))?;
        self.written.fetch_add(len as u64, Ordering::Relaxed);
        Ok(len)
    }

    /// Makes all that was written readable.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.check_open()?;
        self.with(py, |line| Ok(line.step(py, None, |writer, _| writer.flush())?.and(line.settle(py)?)))
    }

    /// Ends the file, unless a call has failed. In a forked child of the process that opened it, it only becomes closed there.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.closed.swap(true, Ordering::Relaxed) || self.line.is_forked() {
            return Ok(());
        }
        if self.line.with(py, |line| Ok(line.failed.is_some()))? {
            return Ok(());
        }
        self.with(py, |line| line.finish(py))
    }

    /// Whether this is a forked child of the process that opened the file.
    fn is_forked(&self) -> bool {
        self.line.is_forked()
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

    /// Returns "wb".
    #[getter]
    fn mode(&self) -> &'static str {
        "wb"
    }

    /// Returns False.
    fn readable(&self) -> bool {
        false
    }

    /// Returns True.
    fn writable(&self) -> bool {
        true
    }

    /// Returns False: what was written is compressed already.
    fn seekable(&self) -> bool {
        false
    }

    /// Returns False.
    fn isatty(&self) -> PyResult<bool> {
        self.check_open().map(|()| false)
    }

    /// The number of the file below. The bytes that are written there have to be compressed.
    fn fileno(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.check_open()?;
        let mut number = None;
        self.with(py, |line| {
            let settled = line.settle(py)?;
            number = line.writer.as_ref().map(|writer| writer.get_ref().number(py)).transpose()?;
            Ok(settled)
        })?;
        number.ok_or_else(closed)
    }

    /// Raises io.UnsupportedOperation.
    #[pyo3(signature = (_size = None, /))]
    fn truncate(&self, py: Python<'_>, _size: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        Err(unsupported(py, "truncate"))
    }

    /// Warns that the file `above` this one, which is collected, was left open. Python's buffers call it.
    fn _dealloc_warn(&self, above: &Bound<'_, PyAny>) {
        if !self.closed() && !self.line.is_forked() {
            self.source.warn_of(above);
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.source.traverse(&visit)
    }

    fn __clear__(&self) {
        self.source.clear();
    }

    /// How many bytes were written, before compression.
    fn tell(&self) -> PyResult<u64> {
        self.check_open()?;
        Ok(self.written.load(Ordering::Relaxed))
    }

    /// Raises TypeError.
    fn __reduce__(&self) -> PyResult<()> {
        Err(unpicklable())
    }
}

impl RawWriter {
    fn check_open(&self) -> PyResult<()> {
        if self.closed() { Err(closed()) } else { Ok(()) }
    }

    /// Calls `f`, unless an earlier call has failed.
    fn with(&self, py: Python<'_>, f: impl FnOnce(&mut Line) -> PyResult<io::Result<()>>) -> PyResult<()> {
        self.line.with(py, |line| {
            if let Some(failed) = &line.failed {
                return Err(without_frames(py, failed));
            }
            f(line)?.map_err(|error| {
                let error = exception(py, error, self.source.path(py));
                line.failed = Some(without_frames(py, &error));
                // An exception that somebody keeps must keep no buffers.
                let writer = line.writer.take();
                py.detach(move || drop(writer));
                error
            })
        })
    }
}

impl Drop for RawWriter {
    fn drop(&mut self) {
        let is_forked = self.line.is_forked();
        let line = self.line.get_mut();
        let (writer, task) = (line.writer.take(), line.task.take());
        if is_forked {
            // Its threads are not in this process, so nothing can wait for them.
            mem::forget((writer, task));
        } else if let Some(writer) = writer {
            Python::attach(|py| py.detach(move || drop(writer)));
        }
    }
}

/// The first bytes of an object with a buffer, `most` of them at most.
fn first_of(data: &Bound<'_, PyAny>, most: usize) -> PyResult<PyBackedBytes> {
    let data = PyMemoryView::from(data)?.call_method1("cast", ("B",))?;
    if data.len()? <= most {
        return bytes_of(&data);
    }
    bytes_of(&data.get_item(PySlice::new(data.py(), 0, most as isize, 1))?)
}

/// The format that the suffix of a path stands for.
fn format_of(path: &Path) -> PyResult<Format> {
    Format::of_name(path).filter(|format| facts(*format).is_written).ok_or_else(|| {
        let suffixes: Vec<_> = Format::written().map(Format::suffix).collect();
        let expected = format!("expected a name that ends in one of {}", suffixes.join(", "));
        let message = format!("{expected}, found {}: use such a name, or pass a format", path.display());
        PyValueError::new_err(message)
    })
}

/// Whether files of this format may follow each other.
fn may_be_appended_to(format: Format) -> bool {
    !matches!(format, Format::Lzma | Format::Zlib | Format::Zip)
}

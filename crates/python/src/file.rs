//! The files below readers and writers: files of the system, and file objects of Python.

use std::ffi::CString;
use std::fs;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::mem;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use abz::Format;
use pyo3::exceptions::{PyBlockingIOError, PyResourceWarning, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use pyo3::{PyTraverseError, PyVisit};
use rustix::fs::{Mode, OFlags};

/// How long a call may run before it looks for signals.
const PATIENCE: Duration = Duration::from_millis(50);

/// An empty member of gzip (RFC 1952, section 2.3). A gzip file without any member has the same contents.
const EMPTY: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x03\0\0\0\0\0\0\0\0\0";

/// A file of compressed data. Only the thread that calls the reader or writer uses it, or one that it waits for.
pub(crate) struct File {
    inner: Inner,
    /// The bytes that are read in place of a file that has turned out to be empty.
    empty: Option<Cursor<&'static [u8]>>,
    /// Whether an empty file is one of gzip. Nothing was read of the file yet.
    may_be_empty: bool,
    /// Takes what is written, in place of the file object.
    later: Option<Arc<Later>>,
    /// When the last look for signals was.
    looked: Instant,
}

enum Inner {
    System(fs::File),
    Object {
        object: Object,
        /// The method that reads: one that does not wait for more bytes than there are, where the object has it.
        read: &'static str,
    },
}

impl File {
    /// Opens a file of the system. A signal ends the wait for the other end of a pipe if its handler raises an exception.
    pub(crate) fn open(flags: OFlags, path: &Path) -> io::Result<Self> {
        let mode = Mode::from_raw_mode(0o666);
        let file = patiently(|| Ok(rustix::fs::open(path, flags | OFlags::CLOEXEC, mode)?))?;
        Ok(File::new(Inner::System(file.into())))
    }

    /// Takes an object that has the methods of a binary file.
    pub(crate) fn of_object(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let is_buffered = object.is_instance(&object.py().import("io")?.getattr("BufferedReader")?)?;
        let read = if is_buffered { "read1" } else { "read" };
        let object = Object(Arc::new(Held(Mutex::new(Some(object.clone().unbind())))));
        Ok(File::new(Inner::Object { object, read }))
    }

    fn new(inner: Inner) -> Self {
        File { inner, empty: None, may_be_empty: false, later: None, looked: Instant::now() }
    }

    /// Lets other threads write to a file object: what they write is kept for the thread that calls, which carries it out.
    pub(crate) fn written_later(mut self) -> (Self, Option<Arc<Later>>) {
        if let Inner::Object { object, .. } = &self.inner {
            self.later = Some(Arc::new(Later { object: object.clone(), kept: Mutex::default() }));
        }
        let later = self.later.clone();
        (self, later)
    }

    /// Takes an empty file for one of gzip without contents, as the module `gzip` does.
    pub(crate) fn allowing_empty(self, is_allowed: bool) -> Self {
        File { may_be_empty: is_allowed, ..self }
    }

    /// The number of the file, or what the file object says.
    pub(crate) fn number(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match &self.inner {
            Inner::System(file) => Ok(file.as_raw_fd().into_pyobject(py)?.into_any().unbind()),
            Inner::Object { object, .. } => Ok(object.get(py)?.call_method0(intern!(py, "fileno"))?.unbind()),
        }
    }

    /// The part of its file that the reader or writer above keeps: the path as it was passed, or the file object.
    pub(crate) fn source(&self, file: &Bound<'_, PyAny>) -> Source {
        match &self.inner {
            Inner::System(_) => Source::Path(file.clone().unbind()),
            Inner::Object { object, .. } => Source::Object(object.clone()),
        }
    }

    /// Whether the file can be read at any position.
    pub(crate) fn is_seekable(&self, py: Python<'_>) -> PyResult<bool> {
        match &self.inner {
            Inner::System(file) => Ok(file.metadata()?.is_file()),
            Inner::Object { object, .. } => {
                let object = object.get(py)?;
                match object.getattr_opt(intern!(py, "seekable"))? {
                    Some(seekable) => seekable.call0()?.is_truthy(),
                    None => object.hasattr(intern!(py, "seek")),
                }
            }
        }
    }

    /// Whether a read that gives fewer bytes than were asked for is at the end of the file.
    pub(crate) fn never_pauses(&self) -> bool {
        matches!(&self.inner, Inner::System(file) if file.metadata().is_ok_and(|about| about.is_file()))
    }

    /// Lets Python handle the signals that have come, from time to time. An exception of a handler ends the call.
    fn look(&mut self) -> io::Result<()> {
        if self.looked.elapsed() >= PATIENCE {
            handle_signals()?;
            self.looked = Instant::now();
        }
        Ok(())
    }
}

/// The bytes to be written to a file object.
///
/// A thread that Python has not started must not enter the interpreter: the child of a fork at that moment would wait for it for ever
/// (CPython 3.11). So such a thread leaves its bytes here.
pub(crate) struct Later {
    object: Object,
    /// The bytes, and whether they are to be flushed.
    kept: Mutex<(Vec<u8>, bool)>,
}

impl Later {
    fn kept(&self) -> MutexGuard<'_, (Vec<u8>, bool)> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the bytes.
    pub(crate) fn carry_out(&self, py: Python<'_>) -> io::Result<()> {
        let (bytes, is_flushed) = mem::take(&mut *self.kept());
        let object = self.object.get(py)?;
        let mut left = &bytes[..];
        while !left.is_empty() {
            match write(&object, left)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                taken => left = &left[taken..],
            }
        }
        if is_flushed { Ok(flush(&object)?) } else { Ok(()) }
    }
}

/// A file object. Its reader or writer and the file below share one reference to it, which the garbage collector sees.
#[derive(Clone)]
pub(crate) struct Object(Arc<Held>);

struct Held(Mutex<Option<Py<PyAny>>>);

impl Object {
    fn get<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let held = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().map(|object| object.bind(py).clone()).ok_or_else(closed)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let object = self.0.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // Without the interpreter, PyO3 would put it into a queue with a lock, which a forked child may find locked.
        Python::try_attach(|_| drop(object));
    }
}

/// The part of its file that a reader or a writer keeps.
pub(crate) enum Source {
    /// The path as it was passed.
    Path(Py<PyAny>),
    Object(Object),
}

impl Source {
    /// The path, for messages.
    pub(crate) fn path<'py>(&self, py: Python<'py>) -> Option<&Bound<'py, PyAny>> {
        match self {
            Source::Path(path) => Some(path.bind(py)),
            Source::Object(_) => None,
        }
    }

    /// The path as it was passed, or the name of the file object.
    pub(crate) fn name(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self {
            Source::Path(path) => Ok(path.clone_ref(py)),
            Source::Object(object) => Ok(object.get(py)?.getattr("name")?.unbind()),
        }
    }

    /// Warns that `above`, which is collected, was left open with a file of its own.
    pub(crate) fn warn_of(&self, above: &Bound<'_, PyAny>) {
        let Source::Path(..) = self else { return };
        let py = above.py();
        let warned = || {
            let message = CString::new(format!("unclosed file {}", above.repr()?))?;
            PyErr::warn(py, &py.get_type::<PyResourceWarning>(), &message, 1)
        };
        if let Err(error) = warned() {
            error.write_unraisable(py, Some(above));
        }
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Source::Path(path) => visit.call(path),
            // A call that uses the object at the moment keeps it alive anyway.
            Source::Object(object) => match object.0.0.try_lock() {
                Ok(held) => held.as_ref().map_or(Ok(()), |object| visit.call(object)),
                Err(_) => Ok(()),
            },
        }
    }

    /// Lets the file object go, as the garbage collector asks.
    pub(crate) fn clear(&self) {
        if let Source::Object(object) = self {
            let held = object.0.0.lock().unwrap_or_else(PoisonError::into_inner).take();
            drop(held);
        }
    }
}

pub(crate) fn handle_signals() -> io::Result<()> {
    Ok(Python::attach(|py| py.check_signals())?)
}

/// Repeats a system call that a signal has interrupted, unless the handler of the signal raises an exception.
fn patiently<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => handle_signals()?,
            result => return result,
        }
    }
}

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.look()?;
        if let Some(empty) = &mut self.empty {
            return empty.read(buffer);
        }
        let len = match &mut self.inner {
            Inner::System(file) => patiently(|| file.read(buffer))?,
            Inner::Object { object, read: method } => {
                Python::attach(|py| Ok::<_, io::Error>(read(&object.get(py)?, method, buffer)?))?
            }
        };
        if mem::take(&mut self.may_be_empty) && len == 0 && !buffer.is_empty() {
            return self.empty.insert(Cursor::new(EMPTY)).read(buffer);
        }
        Ok(len)
    }
}

impl Write for File {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if let Some(later) = &self.later {
            let mut kept = later.kept();
            kept.0.try_reserve(data.len())?;
            kept.0.extend_from_slice(data);
            return Ok(data.len());
        }
        match &mut self.inner {
            Inner::System(file) => patiently(|| file.write(data)),
            Inner::Object { object, .. } => Python::attach(|py| Ok(write(&object.get(py)?, data)?)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(later) = &self.later {
            later.kept().1 = true;
            return Ok(());
        }
        let Inner::Object { object, .. } = &self.inner else { return Ok(()) };
        Python::attach(|py| Ok(flush(&object.get(py)?)?))
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if let Some(empty) = &mut self.empty {
            return empty.seek(to);
        }
        match &mut self.inner {
            Inner::System(file) => file.seek(to),
            Inner::Object { object, .. } => Python::attach(|py| {
                let (offset, whence) = match to {
                    SeekFrom::Start(offset) => (i128::from(offset), 0),
                    SeekFrom::Current(offset) => (offset.into(), 1),
                    SeekFrom::End(offset) => (offset.into(), 2),
                };
                let object = object.get(py)?;
                object.call_method1(intern!(py, "seek"), (offset, whence))?;
                // Some file objects return nothing from `seek`.
                Ok(object.call_method0(intern!(py, "tell"))?.extract()?)
            }),
        }
    }
}

/// Reads from a file object.
fn read(object: &Bound<'_, PyAny>, method: &str, buffer: &mut [u8]) -> PyResult<usize> {
    let py = object.py();
    let found = object.call_method1(method, (buffer.len(),))?;
    if found.is_none() {
        let paused = "the file object has no data at the moment: use one that waits for data";
        return Err(PyBlockingIOError::new_err(paused));
    }
    if found.is_instance_of::<PyString>() {
        let message = "expected bytes from read() of the file object, found str: open it in binary mode";
        return Err(PyTypeError::new_err(message));
    }
    let bytes = match found.cast_into::<PyBytes>() {
        Ok(bytes) => bytes,
        Err(other) => py.get_type::<PyBytes>().call1((other.into_inner(),))?.cast_into::<PyBytes>()?,
    };
    let bytes = bytes.as_bytes();
    let Some(target) = buffer.get_mut(..bytes.len()) else {
        let most = buffer.len();
        let message =
            format!("expected {most} bytes or fewer from read() of the file object, found {}", bytes.len());
        return Err(PyValueError::new_err(message));
    };
    target.copy_from_slice(bytes);
    Ok(bytes.len())
}

/// Writes to a file object. One that returns no number has taken all.
fn write(object: &Bound<'_, PyAny>, data: &[u8]) -> PyResult<usize> {
    let py = object.py();
    let taken = object.call_method1(intern!(py, "write"), (PyBytes::new(py, data),))?;
    let taken = if taken.is_none() { data.len() } else { taken.extract()? };
    if taken > data.len() {
        let most = data.len();
        let message = format!("expected {most} or less from write() of the file object, found {taken}");
        return Err(PyValueError::new_err(message));
    }
    Ok(taken)
}

/// Flushes a file object, if it can be.
fn flush(object: &Bound<'_, PyAny>) -> PyResult<()> {
    match object.getattr_opt(intern!(object.py(), "flush"))? {
        Some(flush) => flush.call0().map(drop),
        None => Ok(()),
    }
}

/// Whether `file` is a path, which `abz.open` passes as a string or as bytes, and not a file object.
pub(crate) fn is_path(file: &Bound<'_, PyAny>) -> bool {
    file.is_instance_of::<PyString>() || file.is_instance_of::<PyBytes>()
}

/// The path that `file` is, if it is one.
pub(crate) fn path_of(file: &Bound<'_, PyAny>) -> PyResult<Option<PathBuf>> {
    let decode = || file.py().import("os")?.call_method1("fsdecode", (file,))?.extract();
    is_path(file).then(decode).transpose()
}

/// The format that a path stands for, or the name of a file object, if it has one.
pub(crate) fn format_like(file: &Bound<'_, PyAny>) -> Option<Format> {
    let path = match path_of(file).ok()? {
        Some(path) => path,
        None => path_of(&file.getattr("name").ok()?).ok()??,
    };
    Format::of_name(&path)
}

/// The error of an object that is neither a path nor a file.
pub(crate) fn no_file(object: &Bound<'_, PyAny>, method: &str) -> PyErr {
    let found =
        object.get_type().name().map_or_else(|_| "another object".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("expected a path or a file object with a method {method}, found {found}"))
}

/// The error of a call of a closed file.
pub(crate) fn closed() -> PyErr {
    PyValueError::new_err("I/O operation on closed file")
}

/// The error of an operation that such a file does not have.
pub(crate) fn unsupported(py: Python<'_>, message: &'static str) -> PyErr {
    let error = py.import("io").and_then(|io| io.getattr("UnsupportedOperation")?.call1((message,)));
    error.map_or_else(|error| error, PyErr::from_value)
}

/// The error of an attempt to pickle an open file.
pub(crate) fn unpicklable() -> PyErr {
    PyTypeError::new_err("cannot pickle an open file: pickle its name, and open it there")
}

//! The errors of `abz` as exceptions of Python.

use std::ffi::CString;
use std::io;

use abz::Format;
use pyo3::create_exception;
use pyo3::exceptions::{PyEOFError, PyMemoryError, PyOSError, PyUserWarning, PyValueError};
use pyo3::prelude::*;

create_exception!(
    abz,
    BadFile,
    PyOSError,
    "The file is damaged, or its format is unknown. The message says where and what to do.\n\n\
     A file that ends too early raises EOFError instead."
);

/// Looks at the bytes that follow the last member of a file. If they are neither padding nor a member, a gzip file raises an
/// exception as in the module `gzip`, unless they are allowed; other files give a warning.
pub(crate) fn check_garbage(
    py: Python<'_>,
    (format, at): (Format, u64),
    is_allowed: bool,
    name: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    if is_allowed {
        return Ok(());
    }
    let name = match name.and_then(|name| name.str().ok()) {
        Some(name) => format!("{name}: "),
        None => String::new(),
    };
    let message = format!(
        "{name}expected the end of the file at offset {at}, found bytes that no member begins with: \
         pass allow_garbage=True if they are no contents"
    );
    if format == Format::Gzip {
        return Err(of_package(py, "BadGzipFile", message));
    }
    let message = CString::new(message.replace('\0', "\\0"))?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 1)
}

/// A copy of an exception without its traceback. The frames there keep all that their variables hold.
pub(crate) fn without_frames(py: Python<'_>, error: &PyErr) -> PyErr {
    let value = error.value(py);
    match py.import("copy").and_then(|copy| copy.call_method1("copy", (value,))) {
        Ok(copy) => PyErr::from_value(copy),
        Err(_) => PyOSError::new_err(value.to_string()),
    }
}

/// Whether a call that raises this may be made again: the file below has no data yet.
pub(crate) fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// The exception for an error of a file of this name, if it has one.
///
/// An exception that a file object has raised is that exception. An error of the system is an `OSError` with its number, the
/// damage of a file is [`BadFile`] or `EOFError`, and a wrong setting is `ValueError`.
pub(crate) fn exception(py: Python<'_>, error: io::Error, name: Option<&Bound<'_, PyAny>>) -> PyErr {
    let kind = error.kind();
    let mut class = None;
    let error = match error.downcast::<abz::Error>() {
        Ok(abz::Error::Read(inner) | abz::Error::Write(inner)) => return exception(py, inner, name),
        // The error of an index.
        Ok(abz::Error::File(path, inner)) => {
            let Ok(path) = path.into_os_string().into_pyobject(py);
            return exception(py, (*inner).into(), Some(path.as_any()));
        }
        Ok(error) => {
            class = class_of(&error, kind);
            io::Error::new(kind, error)
        }
        Err(error) => error,
    };
    if error.get_ref().is_some_and(|inner| inner.is::<PyErr>()) {
        return error.into();
    }
    if let Some(number) = error.raw_os_error() {
        return of_system(py, number, name).unwrap_or_else(|error| error);
    }
    let message = match name.and_then(|name| name.str().ok()) {
        Some(name) => format!("{name}: {error}"),
        None => error.to_string(),
    };
    match kind {
        io::ErrorKind::InvalidData => match class {
            Some(class) => of_package(py, class, message),
            None => BadFile::new_err(message),
        },
        io::ErrorKind::UnexpectedEof => match class {
            Some(class) => of_package(py, class, message),
            None => PyEOFError::new_err(message),
        },
        io::ErrorKind::InvalidInput => PyValueError::new_err(message),
        io::ErrorKind::OutOfMemory => PyMemoryError::new_err(message),
        _ => PyOSError::new_err(message),
    }
}

/// The name of the class of `abz` for damage of a format, if it has one. That is also the class of the standard module.
fn class_of(error: &abz::Error, kind: io::ErrorKind) -> Option<&'static str> {
    let is_cut = kind == io::ErrorKind::UnexpectedEof;
    if matches!(error, abz::Error::Unknown(_)) {
        Some("UnknownFormat")
    } else if matches!(error, abz::Error::Short(_)) {
        Some("ShortFile")
    } else if error.damage::<abz::gzip::DecodeError>().is_some() {
        (!is_cut).then_some("BadGzipFile")
    } else if error.damage::<abz::xz::DecodeError>().is_some() {
        Some(if is_cut { "_CutXzFile" } else { "BadXzFile" })
    } else if error.damage::<abz::bzip2::DecodeError>().is_some() {
        is_cut.then_some("_CutBzip2File")
    } else {
        None
    }
}

/// An exception of a class that the package defines in Python.
fn of_package(py: Python<'_>, class: &str, message: String) -> PyErr {
    let error = py.import("abz").and_then(|package| package.getattr(class)?.call1((message,)));
    error.map_or_else(|error| error, PyErr::from_value)
}

/// The `OSError` of an error number. Python makes it an instance of the subclass for that number.
fn of_system(py: Python<'_>, number: i32, name: Option<&Bound<'_, PyAny>>) -> PyResult<PyErr> {
    let message = py.import("os")?.call_method1("strerror", (number,))?;
    let error = py.get_type::<PyOSError>().call1((number, message, name))?;
    Ok(PyErr::from_value(error))
}

//! Printing to standard output.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};

use abz::program::descriptors::{StandardStream, close, was_closed};

use super::problem::{CLOSED, Problem, UNSTORED};
use crate::command::system::interrupt;
use crate::command::system::patient::Patient;

/// Standard output as a file, once it is used. It is closed once: the system tells only the first who closes a file
/// that what was written cannot be stored.
static FILE: Mutex<Option<Arc<File>>> = Mutex::new(None);

/// Returns standard output as a file, without the buffer of [`io::Stdout`].
pub(crate) fn file() -> io::Result<Arc<File>> {
    let mut file = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    match &*file {
        Some(file) => Ok(file.clone()),
        None => {
            let new = Arc::new(File::from(io::stdout().as_fd().try_clone_to_owned()?));
            Ok(file.insert(new).clone())
        }
    }
}

/// Closes standard output, if it was used.
///
/// # Errors
///
/// If what was written cannot be stored.
pub(crate) fn end() -> Result<(), Problem> {
    let file = FILE.lock().unwrap_or_else(PoisonError::into_inner).take();
    match file.and_then(Arc::into_inner).map(close) {
        Some(Err(error)) => Err(Problem::of_file("standard output", UNSTORED, &error)),
        _ => Ok(()),
    }
}

/// Writes to standard output, and flushes it.
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Problem> {
    if was_closed(StandardStream::Output) {
        return Err(Problem::error("standard output", CLOSED));
    }
    let mut stdout = Patient(io::stdout().lock());
    file().and_then(|_| write(&mut stdout)).and_then(|()| stdout.flush()).map_err(|error| {
        interrupt::end_if_broken_pipe(&error);
        Problem::of_file("standard output", "cannot be written to", &error)
    })
}

//! Printing to standard output.

use std::io::{self, Write};

use abz::descriptors::{StandardStream, was_closed};

use super::problem::{CLOSED, Problem};
use crate::command::system::interrupt;
use crate::command::system::patient::Patient;

/// Writes to standard output, and flushes it.
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Problem> {
    if was_closed(StandardStream::Output) {
        return Err(Problem::error("standard output", CLOSED));
    }
    let mut stdout = Patient(io::stdout().lock());
    write(&mut stdout).and_then(|()| stdout.flush()).map_err(|error| {
        interrupt::end_if_broken_pipe(&error);
        Problem::of_file("standard output", "cannot be written to", &error)
    })
}

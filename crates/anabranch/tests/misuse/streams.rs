//! The mistakes that one makes first with the builder.

use std::io::{self, BufRead};
use std::rc::Rc;

use anabranch::Stream;

/// The error of a later call is not the stream's.
fn two_errors() -> Result<u32, io::Error> {
    let lines = io::Cursor::new("1\n2").lines();
    Stream::try_from_iter(lines).try_map(|line| line.parse::<u32>()).sum()
}

fn parse(line: String) -> Result<u32, std::num::ParseIntError> {
    line.parse()
}

/// The same, by the name of a function.
fn error_of_a_function() -> Result<u32, io::Error> {
    let lines = io::Cursor::new("1\n2").lines();
    Stream::try_from_iter(lines).try_map(parse).sum()
}

/// The error of the end is not the stream's.
fn error_of_the_end() -> Result<(), io::Error> {
    let lines = io::Cursor::new("1\n2").lines();
    Stream::try_from_iter(lines).try_for_each(|line| line.parse::<u32>().map(drop))
}

/// The lock of standard input belongs to one thread.
fn locked_input() -> io::Result<usize> {
    Stream::try_from_iter(io::stdin().lock().lines()).map(|line| line.len()).sum()
}

/// So does a reference count that is not atomic.
fn counted() -> usize {
    let one = Rc::new(1);
    Stream::from_iter((0..9).map(move |n| n + *one)).sum()
}

/// A stream that cannot fail has no error.
fn error_of_what_cannot_fail() -> usize {
    Stream::from_iter(0..9usize).map_err(|error| error).sum()
}

fn main() {}

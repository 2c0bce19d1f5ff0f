//! The input of a program: a file, a pipe or memory.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::{Error, Result};

/// A bar that shows on a terminal how far a program has come.
#[derive(Debug, Clone)]
pub struct Progress(ProgressBar);

impl Progress {
    /// Creates a bar that is never shown.
    pub fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    /// Creates a bar on standard error, if this is a terminal. `total` is the size of the input in bytes, if it is
    /// known.
    pub fn new(total: Option<u64>) -> Self {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
        let template = match total {
            Some(_) => "{bar:30} {percent:>3} %  {bytes} of {total_bytes}  {bytes_per_sec}  {eta} left",
            None => "{spinner} {bytes}  {bytes_per_sec}  {elapsed}",
        };
        // The template is a constant, and a wrong one only leaves the default style.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Creates a bar for a number of steps in place of bytes.
    pub fn steps(total: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos} of {len}  {eta} left") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Adds `amount` bytes that were read, or steps that were done.
    pub fn advance(&self, amount: u64) {
        self.0.inc(amount);
    }

    /// Removes the bar.
    pub fn end(&self) {
        self.0.finish_and_clear();
    }
}

/// A reader of a program's input from beginning to end. It counts the bytes, so that an error can state its offset.
pub struct Input<'a> {
    name: String,
    reader: Box<dyn Read + Send + 'a>,
    offset: u64,
    progress: Progress,
}

impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input")
            .field("name", &self.name)
            .field("offset", &self.offset)
            .finish_non_exhaustive()
    }
}

impl<'a> Input<'a> {
    /// Opens the file at `path`, or standard input if `path` is `-`. If `is_shown`, a terminal shows how much was read.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn open(path: &Path, is_shown: bool) -> Result<Self> {
        let (name, reader, total): (_, Box<dyn Read + Send>, _) = if path == Path::new("-") {
            ("standard input".to_owned(), Box::new(io::stdin()), None)
        } else {
            let name = path.display().to_string();
            let file = File::open(path).map_err(|error| Error::io(&name, "cannot open the input", error))?;
            let length = file.metadata().ok().filter(|data| data.is_file()).map(|data| data.len());
            (name, Box::new(file), length)
        };
        let progress = if is_shown { Progress::new(total) } else { Progress::hidden() };
        Ok(Self { name, reader, offset: 0, progress })
    }

    /// Creates an input that reads from `reader`. Errors call it `name`.
    pub fn from_reader(name: &str, reader: impl Read + Send + 'a) -> Self {
        Self { name: name.into(), reader: Box::new(reader), offset: 0, progress: Progress::hidden() }
    }

    /// Returns the name of the file, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of bytes that were read.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads until `bytes` is full or the input ends. Returns how many bytes were read.
    ///
    /// # Errors
    /// If the input cannot be read.
    pub fn fill(&mut self, bytes: &mut [u8]) -> Result<usize> {
        let mut full = 0;
        while full < bytes.len() {
            match self.reader.read(&mut bytes[full..]) {
                Ok(0) => break,
                Ok(more) => {
                    full += more;
                    self.offset += more as u64;
                    self.progress.advance(more as u64);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    let what = format!("cannot read behind byte {}", self.offset);
                    return Err(Error::io(&self.name, &what, error));
                }
            }
        }
        Ok(full)
    }

    /// Creates an error at `offset` bytes from the beginning of the input.
    pub fn error_at(&self, offset: u64, what: impl Into<String>) -> Error {
        Error::at(&self.name, offset, what)
    }
}

impl Drop for Input<'_> {
    fn drop(&mut self) {
        self.progress.end();
    }
}

impl Read for Input<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(bytes)?;
        self.offset += read as u64;
        self.progress.advance(read as u64);
        Ok(read)
    }
}

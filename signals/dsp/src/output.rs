//! The output of a program: a file, a pipe or memory.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use crate::{Error, Result};

/// A writer of a program's output. A regular file appears under its name only when the output is
/// [finished](Output::finish), so a program that fails leaves no part of a file.
pub struct Output<'a> {
    name: String,
    to: To<'a>,
}

enum To<'a> {
    /// A new regular file, and its final name.
    File(BufWriter<NamedTempFile>, PathBuf),
    /// A device or pipe that has a name, or another thing that cannot be replaced.
    Device(BufWriter<File>),
    Stdout(BufWriter<io::Stdout>),
    Writer(Box<dyn Write + Send + 'a>),
}

impl fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").field("name", &self.name).finish_non_exhaustive()
    }
}

const BUFFER_BYTES: usize = 64 << 10;

impl<'a> Output<'a> {
    /// Creates the file at `path`, or takes standard output if `path` is `-`.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn create(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            let to = To::Stdout(BufWriter::with_capacity(BUFFER_BYTES, io::stdout()));
            return Ok(Self { name: "standard output".into(), to });
        }
        let name = path.display().to_string();
        let failed = |error| Error::io(&name, "cannot create the output", error);
        let to = match fs::metadata(path) {
            Ok(data) if !data.is_file() => {
                let device = OpenOptions::new().write(true).open(path).map_err(failed)?;
                To::Device(BufWriter::with_capacity(BUFFER_BYTES, device))
            }
            _ => {
                let folder =
                    path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
                let file = unfinished(folder).map_err(failed)?;
                To::File(BufWriter::with_capacity(BUFFER_BYTES, file), path.to_owned())
            }
        };
        Ok(Self { name, to })
    }

    /// Creates an output that writes to `writer`. Errors call it `name`.
    pub fn from_writer(name: &str, writer: impl Write + Send + 'a) -> Self {
        Self { name: name.into(), to: To::Writer(Box::new(writer)) }
    }

    /// Returns the name of the file, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether [`Seek`] works, so that the beginning can be written again.
    pub fn can_seek(&self) -> bool {
        matches!(self.to, To::File(..))
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.write_all(bytes).map_err(|error| self.failed(error))
    }

    /// Converts an error of the system while writing to the error of the program.
    pub fn failed(&self, error: io::Error) -> Error {
        Error::io(&self.name, "cannot write", error)
    }

    /// Writes what is buffered, and gives a regular file its name.
    ///
    /// # Errors
    /// If the output cannot be written, or the file cannot get its name.
    pub fn finish(mut self) -> Result<()> {
        self.flush().map_err(|error| self.failed(error))?;
        if let To::File(file, path) = self.to {
            let failed = |error| Error::io(&self.name, "cannot give the output its name", error);
            let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
            file.persist(path).map_err(|error| failed(error.error))?;
        }
        Ok(())
    }
}

/// The temporary names of the files that this process has created. A file that is finished has another name.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the files that are not finished, and calls `end`, which ends the process. No new file is created meanwhile.
#[cfg(unix)]
pub(crate) fn remove_unfinished(end: impl FnOnce()) {
    let files = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for file in &*files {
        // A finished file no longer has this name.
        let _ = fs::remove_file(file);
    }
    end();
}

/// A new file in `folder`, with the permissions of files that are created by name.
fn unfinished(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".dsp-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The mask of the process applies to these, as it does for every new file.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut files = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    let file = builder.tempfile_in(folder)?;
    // The current folder may have changed when a signal comes.
    files.push(std::path::absolute(file.path())?);
    Ok(file)
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            To::File(file, _) => file.write(bytes),
            To::Device(device) => device.write(bytes),
            To::Stdout(stdout) => stdout.write(bytes),
            To::Writer(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::File(file, _) => file.flush(),
            To::Device(device) => device.flush(),
            To::Stdout(stdout) => stdout.flush(),
            To::Writer(writer) => writer.flush(),
        }
    }
}

impl Seek for Output<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.to {
            To::File(file, _) => file.seek(to),
            To::Device(_) | To::Stdout(_) | To::Writer(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

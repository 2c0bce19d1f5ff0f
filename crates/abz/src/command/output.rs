//! How an output gets to its place whole: it is written under another name in the same folder, takes over the
//! attributes of the input, and is renamed when it is complete.

use std::fmt;
use std::fs::{self, File, FileTimes, Metadata, Permissions};
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use super::input::Input;
use super::interrupt::Unfinished;
use super::options::{Action, Options};
use super::problem::Problem;
use super::target::Target;

/// Where bytes are written.
#[derive(Debug)]
pub(super) enum Output {
    /// To be renamed.
    Temporary(Temporary),
    /// Standard output, or a device or pipe that was there already: what is written is out.
    Direct { name: String, file: File },
    /// Nowhere.
    Nowhere,
}

/// A file that does not have its name yet. It is removed if it is dropped before [`Output::commit`].
#[derive(Debug)]
pub(super) struct Temporary {
    /// Some until it is renamed or removed.
    file: Option<NamedTempFile>,
    target: PathBuf,
    overwrite: bool,
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Output::Temporary(temporary) => temporary.target.display().fmt(f),
            Output::Direct { name, .. } => f.write_str(name),
            Output::Nowhere => f.write_str("nothing"),
        }
    }
}

impl Output {
    /// Opens the output for `target`.
    pub(super) fn open(target: Target, input: &Input, options: &Options) -> Result<Output, Problem> {
        match target {
            Target::Nowhere => Ok(Output::Nowhere),
            Target::Stdout => open_stdout(options),
            Target::File(target) => open_file(target, input, options),
        }
    }

    /// Gives the complete output the attributes of `input` and its name. Attributes that it cannot have are told
    /// as a warning, in `Ok`.
    pub(super) fn commit(self, input: &Input) -> Result<Option<Problem>, Problem> {
        let Output::Temporary(mut temporary) = self else { return Ok(None) };
        let subject = temporary.target.display().to_string();
        let attributes = match input.metadata.is_file() {
            true => temporary.take_over(&input.metadata),
            false => Ok(()),
        };
        temporary.rename().map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(&temporary.target),
            _ => Problem::of_file(&subject, "cannot be put in its place", &error),
        })?;
        Ok(attributes.err().map(|error| {
            Problem::warning(&subject, format_args!("could not get the attributes of its input: {error}"))
        }))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Temporary(temporary) => temporary.file().write(bytes),
            Output::Direct { file, .. } => file.write(bytes),
            Output::Nowhere => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        // Files have no buffer of ours.
        Ok(())
    }
}

impl Temporary {
    fn file(&self) -> &File {
        self.file.as_ref().expect("it is there until it is renamed").as_file()
    }

    /// Takes over owner and group as far as that is allowed, permissions and times.
    ///
    /// Permissions come after the group: where the group cannot be taken over, it gets no right that others do not
    /// have, for it is another group than the one that the rights were meant for. Rights to run as the owner are
    /// not taken over: the contents are others.
    fn take_over(&self, from: &Metadata) -> io::Result<()> {
        let file = self.file();
        let mut mode = from.mode() & 0o777;
        if fchown(file, None, Some(from.gid())).is_err() {
            mode &= 0o707 | (mode & 0o007) << 3;
        }
        file.set_permissions(Permissions::from_mode(mode))?;
        // Only the super-user may give files away: all others keep what they made, as with gzip.
        let _ = fchown(file, Some(from.uid()), None);
        file.set_times(FileTimes::new().set_accessed(from.accessed()?).set_modified(from.modified()?))
    }

    fn rename(&mut self) -> io::Result<()> {
        let file = self.file.take().expect("it is renamed once");
        let path = file.path().to_owned();
        let mut unfinished = Unfinished::lock();
        let renamed = match self.overwrite {
            true => file.persist(&self.target),
            false => file.persist_noclobber(&self.target),
        };
        unfinished.forget(&path);
        renamed.map(drop).map_err(|error| error.error)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            let path = file.path().to_owned();
            let mut unfinished = Unfinished::lock();
            drop(file);
            unfinished.forget(&path);
        }
    }
}

fn open_stdout(options: &Options) -> Result<Output, Problem> {
    let name = "standard output".to_owned();
    let stdout = io::stdout();
    if options.action == Action::Compress && stdout.is_terminal() && !options.force {
        return Err(Problem::error(
            name,
            "compressed data is not written to a terminal: send it to a file or a pipe, or use -f to force it",
        ));
    }
    // A file, because the standard library's own standard output looks for lines in what it is given.
    match stdout.as_fd().try_clone_to_owned() {
        Ok(file) => Ok(Output::Direct { name, file: file.into() }),
        Err(error) => Err(Problem::of_file(name, "cannot be written to", &error)),
    }
}

fn open_file(target: PathBuf, input: &Input, options: &Options) -> Result<Output, Problem> {
    let cannot = |error| Problem::of_file(target.display(), "cannot be made", &error);
    match fs::metadata(&target) {
        Ok(found) if found.is_dir() => {
            return Err(Problem::error(target.display(), "is a directory: name a file to write to"));
        }
        // A device or a pipe is written to, and not replaced.
        Ok(found) if !found.is_file() => {
            let file = File::options().write(true).open(&target).map_err(cannot)?;
            return Ok(Output::Direct { name: target.display().to_string(), file });
        }
        _ => {}
    }
    // Also a symbolic link to nowhere exists.
    if !options.force && fs::symlink_metadata(&target).is_ok() {
        return Err(exists(&target));
    }
    // Whoever may not read the input may not read this either while it is made.
    let mode = if input.metadata.is_file() { 0o600 } else { 0o666 };
    let folder = match target.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut unfinished = Unfinished::lock();
    let file = Builder::new()
        .prefix(".abz-")
        .suffix(".tmp")
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder)
        .map_err(cannot)?;
    unfinished.add(file.path());
    Ok(Output::Temporary(Temporary { file: Some(file), target, overwrite: options.force }))
}

fn exists(target: &Path) -> Problem {
    Problem::warning(target.display(), "already exists -- not overwritten (use -f to overwrite it)")
}

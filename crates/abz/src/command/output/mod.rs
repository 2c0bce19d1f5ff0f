//! Output files: each is written under a temporary name in the same folder, gets the attributes of the input, and is
//! renamed when it is complete.

pub(crate) mod mirror;
pub(crate) mod prompt;
pub(crate) mod target;

use std::fmt;
use std::fs::{File, FileTimes, Metadata, Permissions};
use std::io::{self, IsTerminal, Read, Seek, Write};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use rustix::fs::{Mode, OFlags, fcntl_getfl};

pub(crate) use self::target::STDOUT;
use self::target::{Existing, Target};
use super::input::{Input, special_bits};
use super::request::{Made, Outputs, Sparse};
use crate::command::messages::problem::{CLOSED, Problem, UNSTORED};
use crate::command::messages::stdout;
use crate::command::system::file_id::FileId;
use crate::command::system::holes::Holes;
use crate::command::system::patient::Patient;
use crate::command::system::temporary::{Unnamed, Unplaced};
use abz::program::descriptors::{StandardStream, close, was_closed};

/// The permissions of a new file that everybody may read, before the umask applies.
pub(crate) const USUAL: u32 = 0o666;
/// The permissions of a file that only its owner may read.
pub(crate) const PRIVATE: u32 = 0o600;

/// Returns the permissions of the output of `input` until it gets those of the input: nobody may read it who may not
/// read the input.
pub(crate) fn rights_meanwhile(input: &Input) -> u32 {
    match input.metadata.mode() & 0o044 {
        _ if !input.metadata.is_file() => USUAL,
        0o044 => 0o644,
        _ => PRIVATE,
    }
}

/// The destination of written bytes.
#[derive(Debug)]
pub(crate) enum Output {
    /// A file that is renamed when complete.
    Temporary(Temporary),
    /// Standard output, or an existing device or pipe. Written bytes cannot be taken back.
    Direct(Direct),
    /// Memory, until it is the turn of this output.
    Memory(Vec<u8>),
    /// Written bytes are dropped.
    Nowhere,
}

/// The attributes that a file gets when it is complete.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Attributes<'a> {
    /// The defaults of new files.
    Usual,
    /// The attributes of the input, if that is a regular file.
    Of(&'a Input),
    /// These permissions, as far as the umask allows, and this time.
    Given { mode: u32, modified: SystemTime },
}

/// A file under a temporary name. It is removed if dropped before [`Output::commit`].
#[derive(Debug)]
pub(crate) struct Temporary {
    /// `Some` until the file is renamed.
    file: Option<Unnamed>,
    target: PathBuf,
    overwrite: bool,
    /// `None` if zeros are written instead of holes.
    holes: Option<Holes>,
    /// Parts must be written in order, since the file may have contents already.
    is_in_order: bool,
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Output::Temporary(temporary) => temporary.target.display().fmt(f),
            Output::Direct(direct) => f.write_str(&direct.name),
            Output::Memory(_) => f.write_str(STDOUT),
            Output::Nowhere => f.write_str("nothing"),
        }
    }
}

impl Output {
    /// Opens the output for `target`, which must not be the file that is read. The file has the permissions `mode`,
    /// less the umask, until it gets its attributes.
    pub(crate) fn open(
        target: Target,
        outputs: &Outputs,
        read: FileId,
        mode: u32,
    ) -> Result<Output, Problem> {
        let existing = target.spare(read)?;
        Output::open_over((target, existing), outputs, mode, outputs.force)
    }

    /// As [`open`](Self::open), for the output of `input`.
    pub(crate) fn open_for(input: &Input, target: Target, outputs: &Outputs) -> Result<Output, Problem> {
        Output::open(target, outputs, FileId::of(&input.metadata), rights_meanwhile(input))
    }

    /// As [`open`](Self::open), but replaces an existing file if `overwrite` is set. The caller has found it with
    /// [`Target::spare`], and it is not an input.
    pub(crate) fn open_over(
        (target, existing): (Target, Existing),
        outputs: &Outputs,
        mode: u32,
        overwrite: bool,
    ) -> Result<Output, Problem> {
        match target {
            Target::Nowhere => Ok(Output::Nowhere),
            Target::Stdout => Output::open_stdout(outputs),
            Target::File(target) => open_file((target, existing), outputs, mode, overwrite),
        }
    }

    /// Opens standard output.
    pub(crate) fn open_stdout(outputs: &Outputs) -> Result<Output, Problem> {
        let name = STDOUT.to_owned();
        if was_closed(StandardStream::Output) {
            return Err(Problem::error(name, CLOSED));
        }
        if outputs.made == Made::Compressed && io::stdout().is_terminal() && !outputs.force {
            return Err(Problem::error(
                name,
                "compressed data is not written to a terminal: send it to a file or a pipe, or use -f to force it",
            ));
        }
        // `std::io::Stdout` would search the data for line feeds.
        match stdout::file() {
            Ok(file) => {
                let holes = match outputs.sparse == Sparse::Everywhere && outputs.made == Made::Plain {
                    true => at_its_end(&file).map(Holes::from),
                    false => None,
                };
                Ok(Output::Direct(Direct { name, file: Some(file), holes }))
            }
            Err(error) => Err(Problem::of_file(name, "cannot be written to", &error)),
        }
    }

    /// Requires that the output is written in order.
    pub(crate) fn in_order(mut self) -> Self {
        if let Output::Temporary(temporary) = &mut self {
            temporary.is_in_order = true;
        }
        self
    }

    /// Returns the file, if its parts may be written in any order, and whether it gets holes for zeros.
    pub(crate) fn parts(&self) -> Option<(&File, bool)> {
        match self {
            Output::Temporary(temporary) if !temporary.is_in_order => {
                Some((temporary.file(), temporary.holes.is_some()))
            }
            _ => None,
        }
    }

    /// Returns the position at which the next bytes are written, or `None` if the output is not a temporary file.
    pub(crate) fn position(&self) -> io::Result<Option<u64>> {
        match self {
            Output::Temporary(temporary) => temporary.file().stream_position().map(Some),
            _ => Ok(None),
        }
    }

    /// Returns a reader of the bytes that were written to a temporary file from this position on.
    pub(crate) fn written_from(&self, at: u64) -> Written<'_> {
        Written { output: self, at }
    }

    /// Writes `len` zeros, or leaves a hole.
    pub(crate) fn write_zeros(&mut self, mut len: u64) -> io::Result<()> {
        if let Output::Temporary(Temporary { holes: Some(holes), .. }) = self {
            return holes.skip(len);
        }
        static ZEROS: [u8; 64 << 10] = [0; 64 << 10];
        while len > 0 {
            let some = len.min(ZEROS.len() as u64);
            self.write_all(&ZEROS[..some as usize])?;
            len -= some;
        }
        Ok(())
    }

    /// Gives the complete output its attributes and its name, and waits for the disk if required. Attributes that
    /// cannot be set are a warning.
    pub(crate) fn commit(self, attributes: Attributes<'_>, outputs: &Outputs) -> Result<(), Problem> {
        let mut temporary = match self {
            Output::Temporary(temporary) => temporary,
            Output::Direct(mut direct) => {
                let finished = direct.finish();
                finished
                    .map_err(|error| Problem::of_file(&direct.name, "its length cannot be set", &error))?;
                match if outputs.sync { direct.file().sync_all() } else { Ok(()) } {
                    // A pipe or a terminal cannot be synchronised.
                    Err(error) if error.kind() != io::ErrorKind::InvalidInput => {
                        return Err(Problem::of_file(&direct.name, "cannot be synchronised", &error));
                    }
                    _ => {}
                }
                return direct.close();
            }
            _ => return Ok(()),
        };
        let target = temporary.target.clone();
        let subject = &target.display();
        // This comes before setting the times, since it changes them.
        temporary.finish().map_err(|error| Problem::of_file(subject, "its length cannot be set", &error))?;
        let mut unlike = None;
        let attributes = match attributes {
            Attributes::Given { mode, modified } => temporary.set(mode, modified),
            Attributes::Of(input) if input.metadata.is_file() => {
                let restores = outputs.restores_names && outputs.made != Made::Compressed;
                let restored = if restores { input.stored_time() } else { None };
                temporary.take_over(&input.metadata, outputs.behaviour.special_bits.kept, restored).map(
                    |mode| {
                        let lost = special_bits(input.metadata.mode() & !mode);
                        unlike = lost.filter(|_| !outputs.keep || outputs.behaviour.is_foreign());
                    },
                )
            }
            Attributes::Of(_) | Attributes::Usual => Ok(()),
        };
        let synced = if outputs.sync { temporary.file().sync_all() } else { Ok(()) };
        synced.map_err(|error| Problem::of_file(subject, "cannot be synchronised", &error))?;
        temporary.rename().map_err(|unplaced| match unplaced {
            Unplaced::Close(error) => Problem::of_file(subject, UNSTORED, &error),
            Unplaced::Rename(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                exists(&target, outputs)
            }
            Unplaced::Rename(error) => Problem::of_file(subject, "cannot be put in its place", &error),
        })?;
        if outputs.sync {
            // The name is stored in the folder, which has to be written too.
            File::open(folder_of(&target))
                .and_then(|folder| folder.sync_all())
                .map_err(|error| Problem::of_file(subject, "its folder cannot be synchronised", &error))?;
        }
        attributes.map_err(|error| {
            Problem::warning(subject, format_args!("its attributes could not be set: {error}")).afterwards()
        })?;
        match outputs.behaviour.special_bits.lost.zip(unlike) {
            None => Ok(()),
            Some((severity, what)) => {
                Err(Problem::new(severity, subject, format_args!("is not {what} any more")).afterwards())
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Temporary(temporary) => temporary.write(bytes),
            Output::Direct(direct) => direct.write(bytes),
            Output::Memory(memory) => memory.write(bytes),
            Output::Nowhere => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        // Files are written without a buffer.
        Ok(())
    }
}

/// An existing file, device or pipe. A hole at its end is completed when it is dropped.
#[derive(Debug)]
pub(crate) struct Direct {
    name: String,
    /// `None` when it is closed. Other outputs share standard output.
    file: Option<Arc<File>>,
    /// `None` if zeros are written instead of holes.
    holes: Option<Holes>,
}

impl Direct {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match (&mut self.holes, &self.file) {
            (Some(holes), Some(file)) => holes.write(file, bytes),
            _ => Patient(self.file()).write(bytes),
        }
    }

    fn file(&self) -> &File {
        self.file.as_ref().expect("it is open until it is complete")
    }

    /// Closes the file, unless it is standard output, which is closed at the end of the program.
    fn close(mut self) -> Result<(), Problem> {
        match self.file.take().and_then(Arc::into_inner).map(close) {
            Some(Err(error)) => Err(Problem::of_file(&self.name, UNSTORED, &error)),
            _ => Ok(()),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match (&mut self.holes, &self.file) {
            (Some(holes), Some(file)) => holes.finish(file),
            _ => Ok(()),
        }
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

/// Returns the size of a regular file whose position is at its end, and which is not opened for appending.
fn at_its_end(mut file: &File) -> Option<u64> {
    let appends = fcntl_getfl(file).ok()?.contains(OFlags::APPEND);
    let metadata = file.metadata().ok().filter(|metadata| metadata.is_file() && !appends)?;
    file.stream_position().ok().filter(|at| *at == metadata.len())
}

/// Reads back what was written to a file, at offsets, so that the writer's position does not change.
#[derive(Debug)]
pub(crate) struct Written<'a> {
    output: &'a Output,
    at: u64,
}

impl Read for Written<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let Output::Temporary(temporary) = self.output else { return Ok(0) };
        let len = temporary.file().read_at(bytes, self.at)?;
        self.at += len as u64;
        Ok(len)
    }
}

impl Temporary {
    fn file(&self) -> &File {
        self.file.as_ref().expect("it is there until it is renamed").file()
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match (&mut self.holes, &self.file) {
            (Some(holes), Some(file)) => holes.write(file.file(), bytes),
            _ => self.file().write(bytes),
        }
    }

    /// Extends the file by a hole at its end.
    fn finish(&mut self) -> io::Result<()> {
        self.holes.take().map_or(Ok(()), |mut holes| holes.finish(self.file()))
    }

    /// Sets the owner and group as far as allowed, the permissions and the times to those of `from`.
    ///
    /// If the group cannot be set, the group gets only the permissions that others have, since it is not the group
    /// that they were meant for. Special bits in `kept` are set only if owner and group are those of the input.
    /// Returns the resulting mode.
    fn take_over(&self, from: &Metadata, kept: u32, restored: Option<SystemTime>) -> io::Result<u32> {
        let file = self.file();
        let made = file.metadata()?;
        let mut mode = from.mode() & 0o777;
        if made.gid() != from.gid() && fchown(file, None, Some(from.gid())).is_err() {
            mode &= 0o707 | (mode & 0o007) << 3;
        }
        if made.mode() & 0o7777 != mode {
            file.set_permissions(Permissions::from_mode(mode))?;
        }
        if made.uid() != from.uid() {
            // Only the superuser may change the owner. For others the owner stays, as in gzip.
            let _ = fchown(file, Some(from.uid()), None);
        }
        if from.mode() & kept != 0 {
            // Changing the owner clears these bits.
            let made = file.metadata()?;
            if (made.uid(), made.gid()) == (from.uid(), from.gid()) {
                mode |= from.mode() & kept;
                file.set_permissions(Permissions::from_mode(mode))?;
            }
        }
        let modified = restored.map_or_else(|| from.modified(), Ok)?;
        file.set_times(FileTimes::new().set_accessed(from.accessed()?).set_modified(modified))?;
        Ok(mode)
    }

    /// Sets the permissions, less the umask, and the time.
    fn set(&self, mode: u32, modified: SystemTime) -> io::Result<()> {
        let file = self.file();
        file.set_permissions(Permissions::from_mode(mode & !umask()))?;
        file.set_times(FileTimes::new().set_modified(modified))
    }

    fn rename(&mut self) -> Result<(), Unplaced> {
        let file = self.file.take().expect("it is renamed once");
        file.rename(&self.target, self.overwrite)
    }
}

fn open_file(
    (target, existing): (PathBuf, Existing),
    outputs: &Outputs,
    mode: u32,
    overwrite: bool,
) -> Result<Output, Problem> {
    let cannot = |error| Problem::of_file(target.display(), "cannot be created", &error);
    // A dangling symbolic link exists too.
    if let Some(existing) = existing {
        match existing {
            Ok(found) if found.is_dir() => {
                return Err(Problem::error(target.display(), "is a directory: name a file to write to"));
            }
            // A device or a pipe is opened rather than replaced.
            Ok(found) if !found.is_file() => {
                let file = File::options().write(true).open(&target).map_err(cannot)?;
                let name = target.display().to_string();
                return Ok(Output::Direct(Direct { name, file: Some(Arc::new(file)), holes: None }));
            }
            // This also holds for another hard link, or a symbolic link.
            Ok(found) if outputs.needed.is_some() && outputs.needed == Some(FileId::of(&found)) => {
                let message = "is the file of --patch-from, which is needed to apply the patch, and would be overwritten: \
                               name another file to write to";
                return Err(Problem::error(target.display(), message));
            }
            _ if overwrite => {}
            _ => return Err(exists(&target, outputs)),
        }
    }
    let folder = folder_of(&target);
    let file = Unnamed::make(folder, mode).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Problem::error(
            target.display(),
            format_args!("cannot be created: there is no folder {}; create it first", folder.display()),
        ),
        _ => cannot(error),
    })?;
    let is_sparse = outputs.sparse != Sparse::Nowhere && outputs.made == Made::Plain;
    let holes = is_sparse.then(Holes::default);
    Ok(Output::Temporary(Temporary { file: Some(file), target, overwrite, holes, is_in_order: false }))
}

/// Returns the permissions that new files do not get.
pub(crate) fn umask() -> u32 {
    static UMASK: OnceLock<u32> = OnceLock::new();
    // Asking for it sets it, so a file that another thread makes meanwhile is private. Such files get their permissions later.
    *UMASK.get_or_init(|| {
        let mask = rustix::process::umask(Mode::from_raw_mode(0o077));
        rustix::process::umask(mask);
        mask.bits()
    })
}

/// Returns the folder that contains `path`.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

pub(crate) fn exists(target: &Path, outputs: &Outputs) -> Problem {
    let message = "already exists -- not overwritten (use -f to overwrite it)";
    Problem::new(outputs.behaviour.severities.exists, target.display(), message)
}

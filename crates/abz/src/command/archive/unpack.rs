//! Extraction of untrusted archives.
//!
//! Nothing is created outside of the folder: names that lead out are refused, and no symbolic link in the folder is
//! followed, whether the archive created it or not. Each file gets its name when it is complete. If several members
//! have the same name, the last one remains. Devices and pipes are refused. Owners, setuid and setgid bits are not
//! restored.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, FileTimes, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_OMIT, utimensat};

use super::entries::{Entries, Entry, Kind, Piece};
use super::names;
use crate::command::messages::Messages;
use crate::command::messages::problem::Problem;
use crate::command::output::target::Target;
use crate::command::output::{Attributes, Output, PRIVATE, USUAL, exists, umask};
use crate::command::request::{Extract, Outputs};
use crate::command::system::file_id::FileId;
use crate::command::system::quote::quoted;

/// Extracts the members of an archive to a folder.
pub(super) struct Unpack<'a> {
    outputs: &'a Outputs,
    folder: &'a Path,
    /// The archive itself, which no member may replace.
    archive: FileId,
    messages: &'a mut Messages,
    /// The folders created, with the modes and times that they get once all files are in them. One that is no member
    /// keeps its time.
    folders: BTreeMap<PathBuf, (u32, Option<SystemTime>)>,
    /// Everything else created. A later member of the same name may replace it.
    made: HashSet<PathBuf>,
}

/// The reason why a member was not extracted.
enum Refused {
    Entry(Problem),
    /// The rest of the archive cannot be read.
    Archive(io::Error),
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Refused::Entry(problem)
    }
}

impl<'a> Unpack<'a> {
    pub(super) fn new(request: &'a Extract, archive: FileId, messages: &'a mut Messages) -> Self {
        let Extract { outputs, folder, .. } = request;
        Unpack { outputs, folder, archive, messages, folders: BTreeMap::new(), made: HashSet::new() }
    }

    /// Extracts all members of an archive. Refused members are reported, and the others are extracted.
    ///
    /// # Errors
    ///
    /// If the archive cannot be read, or is not a tar archive.
    pub(super) fn run(mut self, archive: impl Read) -> io::Result<()> {
        let result = self.entries(archive);
        // Creating files changes the time of their folder, and may need its permissions. Inner folders come first.
        for (path, (mode, time)) in self.folders.into_iter().rev() {
            let done = File::open(&path).and_then(|folder| {
                folder.set_permissions(Permissions::from_mode(mode & !umask()))?;
                match time {
                    Some(time) => folder.set_times(FileTimes::new().set_modified(time)),
                    None => Ok(()),
                }
            });
            if let Err(error) = done {
                let message = format_args!("its permissions and time could not be set: {error}");
                self.messages.add(Err(Problem::warning(quoted(&path), message).afterwards()));
            }
        }
        result
    }

    fn entries(&mut self, archive: impl Read) -> io::Result<()> {
        let mut entries = Entries::new(archive);
        while let Some(entry) = entries.next()? {
            match self.entry(&entry, &mut entries) {
                Ok(()) => {}
                Err(Refused::Entry(problem)) => self.messages.add(Err(problem.afterwards())),
                Err(Refused::Archive(error)) => return Err(error),
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: &Entry, entries: &mut Entries<impl Read>) -> Result<(), Refused> {
        let shown = quoted(OsStr::from_bytes(&entry.name));
        let refused = |message: &str| Problem::error(&shown, format_args!("{message} -- refused"));
        if let Some(problem) = &entry.problem {
            return Err(refused(problem).into());
        }
        if entry.kind == Kind::Label {
            return Ok(());
        }
        let path = names::inside(&entry.name).ok_or_else(|| refused(names::LEADS_OUT))?;
        if path == Path::new("") {
            return match entry.kind {
                Kind::Folder => Ok(()),
                _ => Err(refused("has no name").into()),
            };
        }
        let target = self.folder.join(&path);
        match entry.kind {
            Kind::Folder => {
                if self.made.remove(&target) {
                    let cannot = |error| Problem::of_file(quoted(&target), "cannot be replaced", &error);
                    fs::remove_file(&target).map_err(cannot)?;
                }
                self.make_folders(&path)?;
                if let Some(folder) = self.folders.get_mut(&target) {
                    *folder = (entry.mode, Some(entry.modified));
                    // Until all files are in it, its owner may write to it, and others may do no more than at the end.
                    let meanwhile = (entry.mode | 0o700) & !umask() | 0o700;
                    let cannot =
                        |error| Problem::of_file(quoted(&target), "its permissions cannot be set", &error);
                    fs::set_permissions(&target, Permissions::from_mode(meanwhile)).map_err(cannot)?;
                }
            }
            Kind::File => {
                self.make_parents(&path)?;
                self.make_file(entries, &target, entry)?;
                self.made.insert(target);
            }
            Kind::Symlink | Kind::HardLink => {
                if entry.link.is_empty() {
                    return Err(refused("is a link without a target").into());
                }
                let link = Path::new(OsStr::from_bytes(&entry.link));
                self.make_parents(&path)?;
                let cannot = |error| Problem::of_file(quoted(&target), "cannot be created", &error);
                if entry.kind == Kind::Symlink {
                    self.make_room(&target)?;
                    symlink(link, &target).map_err(cannot)?;
                    if let Err(error) = set_time(&target, entry.modified) {
                        let message = format_args!("its time could not be set: {error}");
                        self.messages.add(Err(Problem::warning(quoted(&target), message).afterwards()));
                    }
                } else {
                    let other = names::inside(&entry.link)
                        .ok_or_else(|| refused("is a link that leads out of the folder"))?;
                    self.check_folders(other.parent().unwrap_or(Path::new("")))?;
                    let other = self.folder.join(other);
                    // A hard link to a symbolic link is another symbolic link, and is not followed either.
                    let kind = fs::symlink_metadata(&other).map_err(cannot)?.file_type();
                    if !kind.is_file() && !kind.is_symlink() {
                        return Err(refused("is a link to something that is not a file").into());
                    }
                    // A link to itself exists already.
                    if other == target {
                        return Ok(());
                    }
                    self.make_room(&target)?;
                    fs::hard_link(other, &target).map_err(cannot)?;
                }
                self.made.insert(target);
            }
            Kind::Label => {}
            Kind::Device => return Err(refused("is a device").into()),
            Kind::Pipe => return Err(refused("is a pipe").into()),
            Kind::Unknown => return Err(refused("is of an unknown type").into()),
        }
        Ok(())
    }

    fn make_file(
        &mut self,
        entries: &mut Entries<impl Read>,
        target: &Path,
        entry: &Entry,
    ) -> Result<(), Refused> {
        // Remove a device or a link first, so that nothing is written to it or through it.
        if fs::symlink_metadata(target).is_ok_and(|found| !found.is_file()) {
            self.make_room(target)?;
        }
        let overwrite = self.outputs.force || self.made.contains(target);
        // While it is being written, the file must not be readable by more users than in the end.
        let mode = if entry.mode & 0o044 == 0o044 { USUAL } else { PRIVATE };
        let target_file = Target::File(target.to_owned());
        let existing = target_file.spare(self.archive)?;
        let mut output = Output::open_over((target_file, existing), self.outputs, mode, overwrite)?;
        while let Some(piece) = entries.next_piece().map_err(Refused::Archive)? {
            let written = match piece {
                Piece::Data(bytes) => output.write_all(bytes),
                Piece::Hole(len) => output.write_zeros(len),
            };
            written.map_err(|error| Problem::of_file(quoted(target), "writing failed", &error))?;
        }
        output.commit(Attributes::Given { mode: entry.mode, modified: entry.modified }, self.outputs)?;
        Ok(())
    }

    /// Creates the parent folders of `path`.
    fn make_parents(&mut self, path: &Path) -> Result<(), Problem> {
        path.parent().map_or(Ok(()), |parent| self.make_folders(parent))
    }

    /// Creates a folder and its parents. A later member may say that others may not look into them, so only their owner
    /// may until then.
    fn make_folders(&mut self, path: &Path) -> Result<(), Problem> {
        let mut folder = self.folder.to_owned();
        for component in path.components() {
            folder.push(component);
            match fs::symlink_metadata(&folder) {
                Ok(found) if found.is_dir() => {}
                Ok(_) => return Err(no_folder(&folder)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    DirBuilder::new()
                        .mode(0o700)
                        .create(&folder)
                        .map_err(|error| Problem::of_file(quoted(&folder), "cannot be created", &error))?;
                    self.folders.insert(folder.clone(), (0o777, None));
                }
                Err(error) => return Err(Problem::of_file(quoted(&folder), "cannot be created", &error)),
            }
        }
        Ok(())
    }

    /// Checks that all components of a path are folders, and not links.
    fn check_folders(&self, path: &Path) -> Result<(), Problem> {
        let mut folder = self.folder.to_owned();
        for component in path.components() {
            folder.push(component);
            if !fs::symlink_metadata(&folder).is_ok_and(|found| found.is_dir()) {
                return Err(no_folder(&folder));
            }
        }
        Ok(())
    }

    /// Removes the file at `target` if `--force` is given or if an earlier member created it.
    fn make_room(&mut self, target: &Path) -> Result<(), Problem> {
        let Ok(found) = fs::symlink_metadata(target) else { return Ok(()) };
        let cannot = |error| Problem::of_file(quoted(target), "cannot be replaced", &error);
        if found.is_dir() && self.folders.contains_key(target) {
            // This fails if the folder is not empty.
            fs::remove_dir(target).map_err(cannot)?;
            self.folders.remove(target);
            return Ok(());
        }
        if found.is_file() && FileId::of(&found) == self.archive {
            return Err(Target::File(target.to_owned()).is_read());
        }
        if !found.is_dir() && (self.outputs.force || self.made.contains(target)) {
            return fs::remove_file(target).map_err(cannot);
        }
        Err(exists(target, self.outputs))
    }
}

/// Sets the time of a symbolic link.
fn set_time(link: &Path, modified: SystemTime) -> io::Result<()> {
    let (seconds, nanoseconds) = match modified.duration_since(UNIX_EPOCH) {
        Ok(since) => (since.as_secs().cast_signed(), since.subsec_nanos()),
        // Unix times count nanoseconds forward from the second before.
        Err(before) => match (before.duration().as_secs().cast_signed(), before.duration().subsec_nanos()) {
            (seconds, 0) => (-seconds, 0),
            (seconds, nanoseconds) => (-seconds - 1, 1_000_000_000 - nanoseconds),
        },
    };
    let last_access = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    let last_modification = Timespec { tv_sec: seconds, tv_nsec: nanoseconds.into() };
    let times = Timestamps { last_access, last_modification };
    Ok(utimensat(CWD, link, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// The problem of a path component that is not a folder. A link to a folder counts as such, and is not followed.
fn no_folder(path: &Path) -> Problem {
    Problem::error(quoted(path), "is not a folder, and the archive has a member in it -- refused")
}

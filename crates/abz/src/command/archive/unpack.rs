//! Files of the bytes of an archive that nobody trusts.
//!
//! Whatever the archive says, nothing is made outside of the folder: no name leads out of it, and no link in it is ever
//! followed, whether the archive made it or it was there before. Each file is written under another name and gets its own
//! when it is whole. Devices and pipes are refused; owners, and rights to run as one, are not taken over.

use std::ffi::OsStr;
use std::fs::{self, File, FileTimes, Permissions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tar::{Archive, Entry, EntryType};

use super::super::console::Told;
use super::super::options::Options;
use super::super::output::{Attributes, Output, exists};
use super::super::problem::Problem;
use super::super::target::Target;
use super::names;

/// Makes files in a folder.
pub(super) struct Unpack<'a> {
    options: &'a Options,
    folder: &'a Path,
    told: &'a mut Told,
    /// Folders that were made, with the rights and the times that they get when all is in them.
    folders: Vec<(PathBuf, u32, SystemTime)>,
}

/// Why an entry was not made.
enum Refused {
    Entry(Problem),
    /// The archive cannot be read on.
    Archive(io::Error),
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Refused::Entry(problem)
    }
}

impl<'a> Unpack<'a> {
    pub(super) fn new(options: &'a Options, folder: &'a Path, told: &'a mut Told) -> Self {
        Unpack { options, folder, told, folders: Vec::new() }
    }

    /// Makes all files of an archive. Of what is refused it is told, and the others are made.
    ///
    /// # Errors
    ///
    /// If the archive cannot be read, or is none.
    pub(super) fn run(mut self, archive: impl Read) -> io::Result<()> {
        let result = self.entries(archive);
        // What is in a folder changes its time, and may need its rights: the innermost come first.
        for (path, mode, time) in self.folders.into_iter().rev() {
            let done = File::open(&path).and_then(|folder| {
                // It was made with all rights that are allowed.
                folder.set_permissions(Permissions::from_mode(mode & folder.metadata()?.mode()))?;
                folder.set_times(FileTimes::new().set_modified(time))
            });
            if let Err(error) = done {
                let message = format_args!("could not get its rights and its time: {error}");
                self.told.add(Err(Problem::warning(path.display(), message).afterwards()));
            }
        }
        result
    }

    fn entries(&mut self, archive: impl Read) -> io::Result<()> {
        for entry in Archive::new(archive).entries()? {
            match self.entry(&mut entry?) {
                Ok(()) => {}
                Err(Refused::Entry(problem)) => self.told.add(Err(problem.afterwards())),
                Err(Refused::Archive(error)) => return Err(error),
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: &mut Entry<impl Read>) -> Result<(), Refused> {
        let name = entry.path_bytes().into_owned();
        let shown = String::from_utf8_lossy(&name).into_owned();
        let refused = |message: &str| Problem::error(&shown, format_args!("{message} -- refused"));
        let path = names::inside(&name).ok_or_else(|| refused(names::LEADS_OUT))?;
        let header = entry.header();
        let mode = header.mode().map_err(Refused::Archive)? & 0o777;
        let time =
            UNIX_EPOCH.checked_add(Duration::from_secs(header.mtime().unwrap_or(0))).unwrap_or(UNIX_EPOCH);
        let kind = header.entry_type();
        if path == Path::new("") {
            return match kind {
                EntryType::Directory => Ok(()),
                _ => Err(refused("has no name").into()),
            };
        }
        let target = self.folder.join(&path);
        match kind {
            EntryType::Directory => {
                if self.make_folders(&path)? {
                    self.folders.push((target, mode, time));
                }
            }
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                self.make_parents(&path)?;
                self.make_file(entry, target, mode, time)?;
            }
            EntryType::Symlink | EntryType::Link => {
                let link = entry.link_name_bytes().ok_or_else(|| refused("is a link to nothing"))?;
                self.make_parents(&path)?;
                self.make_room(&target)?;
                let cannot = |error| Problem::of_file(target.display(), "cannot be made", &error);
                if kind == EntryType::Symlink {
                    symlink(OsStr::from_bytes(&link), &target).map_err(cannot)?;
                } else {
                    let other = names::inside(&link)
                        .ok_or_else(|| refused("is a link that leads out of the folder"))?;
                    self.check_folders(other.parent().unwrap_or(Path::new("")))?;
                    let other = self.folder.join(other);
                    let is_file = fs::symlink_metadata(&other).map_err(cannot)?.is_file();
                    if !is_file {
                        return Err(refused("is a link to what is no file").into());
                    }
                    fs::hard_link(other, &target).map_err(cannot)?;
                }
            }
            EntryType::XGlobalHeader => {}
            EntryType::Char | EntryType::Block => return Err(refused("is a device").into()),
            EntryType::Fifo => return Err(refused("is a pipe").into()),
            _ => return Err(refused("is of no kind that is known").into()),
        }
        Ok(())
    }

    fn make_file(
        &mut self,
        entry: &mut Entry<impl Read>,
        target: PathBuf,
        mode: u32,
        time: SystemTime,
    ) -> Result<(), Refused> {
        // Nothing is written to a device or through a link that is there.
        if fs::symlink_metadata(&target).is_ok_and(|found| !found.is_file()) {
            self.make_room(&target)?;
        }
        let mut output = Output::open(Target::File(target), self.options, false)?;
        let mut left = entry.size();
        let mut buffer = vec![0; 128 << 10];
        loop {
            let read = match entry.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.map_err(Refused::Archive)?,
            };
            if read == 0 {
                break;
            }
            left = left.saturating_sub(read as u64);
            let written = io::Write::write_all(&mut output, &buffer[..read]);
            written.map_err(|error| Problem::of_file(&output, "writing failed", &error))?;
        }
        if left > 0 {
            return Err(Refused::Archive(io::ErrorKind::UnexpectedEof.into()));
        }
        output.commit(Attributes::Given { mode, modified: time }, self.options)?;
        Ok(())
    }

    /// Makes the folders in which `path` is to lie.
    fn make_parents(&self, path: &Path) -> Result<(), Problem> {
        match path.parent() {
            Some(parent) => self.make_folders(parent).map(drop),
            None => Ok(()),
        }
    }

    /// Makes a folder and those above it; true if it was not there before.
    fn make_folders(&self, path: &Path) -> Result<bool, Problem> {
        let mut folder = self.folder.to_owned();
        let mut is_new = false;
        for component in path.components() {
            folder.push(component);
            is_new = false;
            match fs::symlink_metadata(&folder) {
                Ok(found) if found.is_dir() => {}
                Ok(_) => return Err(no_folder(&folder)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    fs::create_dir(&folder)
                        .map_err(|error| Problem::of_file(folder.display(), "cannot be made", &error))?;
                    is_new = true;
                }
                Err(error) => return Err(Problem::of_file(folder.display(), "cannot be made", &error)),
            }
        }
        Ok(is_new)
    }

    /// Looks whether all on the way to a folder are folders.
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

    /// Sees to it that nothing has the name of a link, or takes it away with force.
    fn make_room(&self, target: &Path) -> Result<(), Problem> {
        match fs::symlink_metadata(target) {
            Err(_) => Ok(()),
            Ok(found) if self.options.force && !found.is_dir() => fs::remove_file(target)
                .map_err(|error| Problem::of_file(target.display(), "cannot be replaced", &error)),
            Ok(_) => Err(exists(target, self.options)),
        }
    }
}

/// A link is not followed, whoever made it.
fn no_folder(path: &Path) -> Problem {
    Problem::error(path.display(), "is no folder, and something in the archive should be in it -- refused")
}

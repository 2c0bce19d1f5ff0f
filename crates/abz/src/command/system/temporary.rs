//! Files under temporary names.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use abz::program::descriptors::close;

use super::file_id::FileId;
use super::interrupt::Change;

/// The start and end of temporary names.
const PREFIX: &str = ".abz-";
const SUFFIX: &str = ".tmp";

/// The number of names that are tried.
const TRIES: u32 = 1 << 16;

/// A file under a temporary name. It is removed if dropped before [`rename`](Self::rename).
#[derive(Debug)]
pub(crate) struct Unnamed {
    /// `None` when it is closed.
    file: Option<File>,
    path: PathBuf,
    /// The file has been renamed.
    is_named: bool,
}

impl Unnamed {
    /// Creates a file in `folder` with the permissions `mode`, less the umask.
    pub(crate) fn make(folder: &Path, mode: u32) -> io::Result<Self> {
        let change = Change::begin();
        for _ in 0..TRIES {
            // Each `RandomState` has a random seed.
            let chance = RandomState::new().build_hasher().finish();
            let path = folder.join(format!("{PREFIX}{:06x}{SUFFIX}", chance >> 40));
            let copy = path.clone();
            change.prepare();
            match File::options().read(true).write(true).create_new(true).mode(mode).open(&path) {
                Ok(file) => {
                    change.add(copy);
                    return Ok(Unnamed { file: Some(file), path, is_named: false });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    pub(crate) fn file(&self) -> &File {
        self.file.as_ref().expect("it is open until it is renamed")
    }

    /// Closes the file and renames it within its folder, over an existing file if `overwrite` is set. A file that
    /// cannot be closed may be incomplete, and does not get its name.
    pub(crate) fn rename(mut self, target: &Path, overwrite: bool) -> Result<(), Unplaced> {
        if let Some(file) = self.file.take() {
            close(file).map_err(Unplaced::Close)?;
        }
        self.take_name(target, overwrite).map_err(Unplaced::Rename)
    }

    fn take_name(&mut self, target: &Path, overwrite: bool) -> io::Result<()> {
        let change = Change::begin();
        match overwrite {
            true => fs::rename(&self.path, target)?,
            false => rename_to_new(&self.path, target)?,
        }
        change.forget(&self.path);
        self.is_named = true;
        Ok(())
    }
}

impl Drop for Unnamed {
    fn drop(&mut self) {
        if !self.is_named {
            let change = Change::begin();
            let _ = fs::remove_file(&self.path);
            change.forget(&self.path);
        }
    }
}

/// The reason why a file did not get its name.
#[derive(Debug)]
pub(crate) enum Unplaced {
    /// It could not be closed.
    Close(io::Error),
    /// It could not be renamed.
    Rename(io::Error),
}

/// Renames a file to a name that must not exist.
fn rename_to_new(path: &Path, target: &Path) -> io::Result<()> {
    match renameat_with(CWD, path, CWD, target, RenameFlags::NOREPLACE) {
        Err(error) if is_unsupported(error) => link_to_new(path, target),
        renamed => Ok(renamed?),
    }
}

/// Renames a file to a name that must not exist, on a system that cannot do this in one step: for a moment the file
/// has both names.
fn link_to_new(path: &Path, target: &Path) -> io::Result<()> {
    match rustix::fs::link(path, target) {
        Ok(()) => fs::remove_file(path),
        Err(error) if is_unsupported(error) => rename_over_own(path, target),
        Err(error) => Err(error.into()),
    }
}

/// Renames a file to a name that must not exist, on a file system without hard links: takes the name with an empty
/// file, and replaces that one only.
fn rename_over_own(path: &Path, target: &Path) -> io::Result<()> {
    let own = FileId::of(&File::options().write(true).create_new(true).open(target)?.metadata()?);
    let is_own = || fs::symlink_metadata(target).is_ok_and(|found| FileId::of(&found) == own);
    if !is_own() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(path, target).inspect_err(|_| {
        if is_own() {
            let _ = fs::remove_file(target);
        }
    })
}

/// Returns `true` for the errors of systems and file systems that do not support an operation. Some say that it is not
/// permitted; whether that is the reason shows in the next attempt.
fn is_unsupported(error: Errno) -> bool {
    matches!(error, Errno::NOSYS | Errno::INVAL | Errno::NOTSUP | Errno::PERM | Errno::MLINK | Errno::XDEV)
}

/// Returns `true` for the name of an incomplete output, which is never an input.
pub(crate) fn is_temporary(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(PREFIX.as_bytes()) && name.ends_with(SUFFIX.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gets_its_name_or_is_gone_and_replaces_another_only_if_it_may() {
        let folder = tempfile::tempdir().unwrap();
        let names = || {
            let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<_> = names.collect();
            names.sort();
            names
        };
        let target = folder.path().join("x");
        let unnamed = Unnamed::make(folder.path(), 0o600).unwrap();
        assert!(names().iter().all(|name| is_temporary(name)) && names().len() == 1);
        drop(unnamed);
        assert!(names().is_empty());
        Unnamed::make(folder.path(), 0o600).unwrap().rename(&target, false).unwrap();
        assert_eq!(names(), ["x"]);
        fs::write(&target, "old").unwrap();
        let refused = Unnamed::make(folder.path(), 0o600).unwrap().rename(&target, false);
        assert!(
            matches!(refused, Err(Unplaced::Rename(error)) if error.kind() == io::ErrorKind::AlreadyExists)
        );
        assert_eq!((names(), fs::read(&target).unwrap()), (vec!["x".into()], b"old".to_vec()));
        Unnamed::make(folder.path(), 0o600).unwrap().rename(&target, true).unwrap();
        assert_eq!((names(), fs::read(&target).unwrap()), (vec!["x".into()], vec![]));
    }

    #[test]
    fn each_way_to_rename_replaces_nothing() {
        for rename in [rename_to_new, link_to_new, rename_over_own] {
            let folder = tempfile::tempdir().unwrap();
            let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
            fs::write(&from, "new").unwrap();
            rename(&from, &to).unwrap();
            assert_eq!((fs::read(&to).unwrap(), from.exists()), (b"new".to_vec(), false));
            fs::write(&from, "newer").unwrap();
            assert_eq!(rename(&from, &to).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            assert_eq!((fs::read(&to).unwrap(), from.exists()), (b"new".to_vec(), true));
            // A link that leads nowhere is a name, too.
            let dangling = folder.path().join("dangling");
            std::os::unix::fs::symlink("nowhere", &dangling).unwrap();
            assert_eq!(rename(&from, &dangling).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            assert!(rename(&folder.path().join("none"), &folder.path().join("other")).is_err());
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
        }
    }
}

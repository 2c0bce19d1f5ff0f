//! Files under temporary names.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::interrupt::Change;

/// The start and end of temporary names.
const PREFIX: &str = ".abz-";
const SUFFIX: &str = ".tmp";

/// The number of names that are tried.
const TRIES: u32 = 1 << 16;

/// A file under a temporary name. It is removed if dropped before [`rename`](Self::rename).
#[derive(Debug)]
pub(crate) struct Unnamed {
    file: File,
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
                    return Ok(Unnamed { file, path, is_named: false });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Renames the file within its folder, over an existing file if `overwrite` is set.
    pub(crate) fn rename(mut self, target: &Path, overwrite: bool) -> io::Result<()> {
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

/// Renames a file to a name that must not exist.
fn rename_to_new(path: &Path, target: &Path) -> io::Result<()> {
    match renameat_with(CWD, path, CWD, target, RenameFlags::NOREPLACE) {
        // The kernel or the file system does not support this operation. A second hard link for a moment is as safe.
        Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => {
            fs::hard_link(path, target)?;
            fs::remove_file(path)
        }
        renamed => Ok(renamed?),
    }
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
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!((names(), fs::read(&target).unwrap()), (vec!["x".into()], b"old".to_vec()));
        Unnamed::make(folder.path(), 0o600).unwrap().rename(&target, true).unwrap();
        assert_eq!((names(), fs::read(&target).unwrap()), (vec!["x".into()], vec![]));
    }
}

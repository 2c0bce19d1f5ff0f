//! The identity of a file, independent of its name.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The identity of a file: its device and inode number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileId(u64, u64);

impl FileId {
    /// Returns the identity of the file at `path`, if it exists.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|found| FileId::of(&found))
    }

    /// Returns the identity of the file with this metadata.
    pub(crate) fn of(metadata: &Metadata) -> Self {
        FileId(metadata.dev(), metadata.ino())
    }
}

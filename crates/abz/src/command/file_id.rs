//! Which file it is, whatever its name is.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A file, whatever its name is: its device, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FileId(u64, u64);

impl FileId {
    /// The file of this name, if there is one.
    pub(super) fn at(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|found| FileId::of(&found))
    }

    /// The file of which this is known.
    pub(super) fn of(metadata: &Metadata) -> Self {
        FileId(metadata.dev(), metadata.ino())
    }
}

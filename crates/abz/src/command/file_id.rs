//! Which file it is, whatever its name is.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// A file, whatever its name is: its device, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileId(u64, u64);

impl FileId {
    /// The file of which this is known.
    pub(super) fn of(metadata: &Metadata) -> Self {
        FileId(metadata.dev(), metadata.ino())
    }
}

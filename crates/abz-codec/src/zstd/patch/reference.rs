//! The file that a patch refers to.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

use zstd_safe::DCtx;

use super::super::{DEFAULT_WINDOW_LIMIT, MAX_WINDOW_LOG};

/// The file that a patch refers to, any bytes. Clones share them.
#[derive(Clone, PartialEq, Eq)]
pub struct Reference {
    /// The bytes, with a zero before them so that they never look like a trained dictionary.
    pub(super) bytes: Arc<Vec<u8>>,
}

impl Reference {
    /// The largest size in bytes, that of the largest window.
    pub const MAX_LEN: u64 = 1 << MAX_WINDOW_LOG;

    /// Creates a reference from the bytes of the file.
    pub fn new(bytes: &[u8]) -> Self {
        Reference { bytes: Arc::new(std::iter::once(&0).chain(bytes).copied().collect()) }
    }

    /// Creates a reference from the bytes that `reader` gives. If their number is `len`, they are never in memory
    /// twice.
    ///
    /// # Errors
    ///
    /// If they cannot be read, if there is no memory, or if there are more than [`MAX_LEN`](Reference::MAX_LEN).
    pub fn read(reader: impl Read, len: u64) -> io::Result<Self> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(1 + len.min(Reference::MAX_LEN) as usize)?;
        bytes.push(0);
        reader.take(Reference::MAX_LEN + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > 1 + Reference::MAX_LEN {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "expected at most 2 GiB, found more"));
        }
        Ok(Reference { bytes: Arc::new(bytes) })
    }

    /// Returns the size of the file in bytes.
    pub fn len(&self) -> u64 {
        self.bytes.len() as u64 - 1
    }

    /// Returns whether the file is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the largest window that is accepted by default, in bytes: enough for a file of up to twice the size.
    pub fn window_limit(&self) -> u64 {
        DEFAULT_WINDOW_LIMIT.max(2 * self.len().next_power_of_two()).min(1 << MAX_WINDOW_LOG)
    }

    /// Loads it into a decoder for the frames that follow. The decoder copies the bytes.
    pub(in crate::zstd) fn load(&self, context: &mut DCtx<'_>) -> Result<(), usize> {
        context.load_dictionary(&self.bytes).map(drop)
    }
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reference").field("len", &self.len()).finish()
    }
}

/// Returns the logarithm to base 2 of the smallest window for so many bytes.
pub(super) fn window_log(contents: u64) -> u32 {
    contents.checked_ilog2().map_or(0, |log| log + 1).clamp(10, MAX_WINDOW_LOG)
}

//! The checksum of frames.

use std::fmt;
use std::hash::Hasher;

use twox_hash::XxHash64;

/// The checksum of a frame of several pieces, computed as they are read. The pieces must come in order.
///
/// ```
/// use abz_codec::zstd::Checksum;
///
/// let mut checksum = Checksum::new();
/// checksum.add(b"hel");
/// assert_eq!(checksum.add(b"lo"), 0x889f_6da3);
/// ```
#[derive(Clone, Default)]
pub struct Checksum {
    state: XxHash64,
}

impl Checksum {
    /// Creates the checksum of empty contents.
    pub fn new() -> Self {
        Checksum { state: XxHash64::with_seed(0) }
    }

    /// Adds the next contents. Returns the low half of the XXH64 of all contents so far.
    pub fn add(&mut self, contents: &[u8]) -> u32 {
        self.state.write(contents);
        self.state.finish() as u32
    }
}

impl fmt::Debug for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Checksum").field(&(self.state.finish() as u32)).finish()
    }
}

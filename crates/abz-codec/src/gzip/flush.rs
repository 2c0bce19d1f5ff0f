//! Deflate compression of contents that are flushed in short pieces. libdeflate compresses each piece by itself.

use std::fmt;

use zlib_rs::{Deflate, DeflateFlush, Status};

/// The base 2 logarithm of the window in bytes, the largest that deflate has.
const WINDOW_BITS: u8 = 15;

/// The highest level of zlib.
const HIGHEST: u32 = 9;

/// The number of bytes of output for which room is made at a time.
const ROOM: usize = 4 << 10;

/// A stream of deflate blocks. Each piece may refer to the pieces before it, and can be decoded without those after it.
pub(super) struct Flushed(Deflate);

impl Flushed {
    /// Begins a stream, which refers to nothing before it, at a level of libdeflate.
    pub(super) fn new(level: u32) -> Self {
        Flushed(Deflate::new(level.min(HIGHEST) as i32, false, WINDOW_BITS))
    }

    /// Returns the blocks of the next piece. They end at a byte boundary.
    pub(super) fn piece(&mut self, contents: &[u8]) -> Vec<u8> {
        let (from, mut bytes, mut len) = (self.0.total_in(), Vec::new(), 0);
        loop {
            bytes.resize(len + ROOM.max(contents.len() / 2), 0);
            let (taken, given) = ((self.0.total_in() - from) as usize, self.0.total_out());
            let status = self.0.compress(&contents[taken..], &mut bytes[len..], DeflateFlush::SyncFlush);
            assert!(matches!(status, Ok(Status::Ok | Status::BufError)), "the stream goes on: {status:?}");
            len += (self.0.total_out() - given) as usize;
            // A flush is complete if it leaves room.
            if len < bytes.len() {
                bytes.truncate(len);
                return bytes;
            }
        }
    }
}

impl fmt::Debug for Flushed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flushed").finish_non_exhaustive()
    }
}

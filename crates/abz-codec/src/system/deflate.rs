//! The compressor of libdeflate. The safe bindings (`libdeflater`) panic if there is no memory for one; this returns an
//! error.

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

use libdeflate_sys::{
    libdeflate_alloc_compressor, libdeflate_compressor, libdeflate_deflate_compress,
    libdeflate_deflate_compress_bound, libdeflate_free_compressor,
};

use crate::memory::NoMemory;

/// A compressor for deflate streams of one level.
pub(crate) struct Compressor {
    raw: NonNull<libdeflate_compressor>,
}

// SAFETY: a compressor owns its memory, which is not bound to a thread, and all methods that change it take `&mut
// self`.
unsafe impl Send for Compressor {}

impl Compressor {
    /// Creates a compressor of a level, 0 to 12.
    ///
    /// # Errors
    ///
    /// If there is no memory for it.
    ///
    /// # Panics
    ///
    /// If `level` is above 12.
    pub(crate) fn new(level: u32) -> Result<Self, NoMemory> {
        assert!(level <= 12, "level {level} is not one of 0 to 12");
        // SAFETY: the level is valid. The result is a compressor or null.
        let raw = unsafe { libdeflate_alloc_compressor(level as c_int) };
        // The size of its tables in libdeflate 1.26, rounded up.
        let needed = if level < 10 { 1 << 20 } else { 10 << 20 };
        NonNull::new(raw).map(|raw| Compressor { raw }).ok_or(NoMemory { needed })
    }

    /// Returns the largest size of a stream for `len` bytes of contents, in bytes.
    pub(crate) fn bound(&mut self, len: usize) -> usize {
        // SAFETY: `raw` is a compressor, as `new` made it.
        unsafe { libdeflate_deflate_compress_bound(self.raw.as_ptr(), len) }
    }

    /// Compresses `data` to a stream in `out`. Returns its size in bytes, or `None` if it does not fit.
    pub(crate) fn compress(&mut self, data: &[u8], out: &mut [u8]) -> Option<usize> {
        let (from, to) = (data.as_ptr().cast::<c_void>(), out.as_mut_ptr().cast::<c_void>());
        // SAFETY: `raw` is a compressor, as `new` made it; it reads `data.len()` bytes of `data`, and writes at most
        // `out.len()` to `out`.
        let len = unsafe { libdeflate_deflate_compress(self.raw.as_ptr(), from, data.len(), to, out.len()) };
        (len > 0).then_some(len)
    }
}

impl Drop for Compressor {
    fn drop(&mut self) {
        // SAFETY: `new` made it, and it is not used any more.
        unsafe { libdeflate_free_compressor(self.raw.as_ptr()) }
    }
}

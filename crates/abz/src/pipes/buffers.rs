//! Buffers for pieces of input.

use anabranch::Recycler;

/// The number of bytes read at once.
pub(super) const INPUT: usize = 128 * 1024;

/// Buffers for [`Inputs`](super::inputs::Inputs), of which at most `keep` idle ones are kept.
pub(crate) fn buffers(keep: usize) -> Recycler<Vec<u8>> {
    Recycler::new(keep, || vec![0; INPUT])
}

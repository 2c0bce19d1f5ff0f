//! A number that stands for a sequence of items.

use std::fmt;

/// A number that depends on every bit of a sequence of items, and on their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    /// The digest of no items.
    pub const EMPTY: Self = Self(0xcbf2_9ce4_8422_2325);

    /// Appends an item.
    #[inline]
    pub(super) fn append(&mut self, bits: u64) {
        self.0 = (self.0 ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    /// Appends numbers.
    pub(super) fn append_all(&mut self, numbers: &[f32]) {
        numbers.iter().for_each(|number| self.append(number.to_bits().into()));
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

//! The result of a recovery.

use std::io::Write;
use std::ops::Range;

use abz_codec::salvage::Reason;

/// The result of [`Recovery::run`](crate::Recovery::run).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// The number of non-empty parts written.
    pub parts: u64,
    /// The number of bytes of contents written.
    pub bytes: u64,
    /// The number of zeros written for missing contents.
    pub filled: u64,
    /// The number of gaps: 0 if the file is undamaged.
    pub gaps: u64,
    /// The number of bytes of the compressed file that belong to no written part.
    pub lost: u64,
}

/// A gap: a place in a file where data is missing or damaged.
#[derive(Debug)]
pub struct Gap {
    /// The range in the compressed file, in bits. It is empty where the file ends too early, or where undamaged parts
    /// do not fit together.
    pub bits: Range<u64>,
    /// The offset in the output at which the missing contents, or the zeros for them, belong.
    pub at: u64,
    /// The size of the missing contents in bytes, if the file records it. It is not verified.
    pub missing: Option<u64>,
    /// The number of zeros written in their place.
    pub filled: u64,
    /// A description of what was expected at the start of the gap, and what was found.
    pub reason: Reason,
}

impl Gap {
    /// Returns the range in the compressed file in bytes, rounded outward.
    pub fn bytes(&self) -> Range<u64> {
        self.bits.start / 8..self.bits.end.div_ceil(8)
    }
}

/// The output of a recovery, and the function that receives its gaps.
pub(crate) struct To<'a> {
    pub(crate) output: &'a mut (dyn Write + Send),
    pub(crate) tell: &'a mut (dyn FnMut(Gap) + Send),
}

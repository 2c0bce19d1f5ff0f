//! The results of a recovery.

use std::io::Write;
use std::ops::Range;

use abz_codec::salvage::Reason;

/// The result of [`Recovery::run`](crate::program::Recovery::run).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// The number of parts with contents that were written.
    pub parts: u64,
    /// The size of their contents in bytes.
    pub bytes: u64,
    /// The number of zeros written in place of missing contents.
    pub filled: u64,
    /// The number of gaps: 0 if the file is undamaged.
    pub gaps: u64,
    /// The number of bytes of the compressed file from which nothing was written.
    pub lost: u64,
}

/// A gap: a place in a file where data is missing or damaged.
#[derive(Debug)]
pub struct Gap {
    /// The range in the compressed file, in bits. It is empty if the file ends too early, or if all parts are right but
    /// do not fit together.
    pub bits: Range<u64>,
    /// The offset in the output, in bytes, of the missing contents or of the zeros in their place.
    pub at: u64,
    /// The size of the missing contents in bytes, if the file records it. It is not verified.
    pub missing: Option<u64>,
    /// The number of zeros written in their place.
    pub filled: u64,
    /// The description of the damage at its start: what was expected and what was found.
    pub reason: Reason,
}

impl Gap {
    /// The range in the compressed file, in bytes. It includes bytes that the gap covers only in part.
    pub fn bytes(&self) -> Range<u64> {
        self.bits.start / 8..self.bits.end.div_ceil(8)
    }
}

/// The receivers of the contents and of the gaps.
pub(crate) struct To<'a> {
    pub(crate) output: &'a mut (dyn Write + Send),
    pub(crate) tell: &'a mut (dyn FnMut(Gap) + Send),
}

//! What comes of a recovery.

use std::io::Write;
use std::ops::Range;

use abz_codec::salvage::Reason;

/// What [`Recovery::run`](crate::Recovery::run) did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Parts with contents that were written.
    pub parts: u64,
    /// Bytes of theirs.
    pub bytes: u64,
    /// Zeros that were written instead of what is missing.
    pub filled: u64,
    /// Places where something is missing or wrong: 0 if the file is whole.
    pub gaps: u64,
    /// Bytes of the compressed file that belong to nothing that was written.
    pub lost: u64,
}

/// A place in a file where something is missing or wrong.
#[derive(Debug)]
pub struct Gap {
    /// Where in the compressed file, in bits. It is empty where something ends too early, or where all parts are right and do
    /// not fit together.
    pub bits: Range<u64>,
    /// Where in the output what is missing would be, or is in zeros.
    pub at: u64,
    /// The size of the missing contents in bytes, if the file tells it. It is not verified.
    pub missing: Option<u64>,
    /// How many zeros stand for them.
    pub filled: u64,
    /// What was expected where it begins, and what was found.
    pub reason: Reason,
}

impl Gap {
    /// Where in the compressed file, in bytes: all of which it has a bit.
    pub fn bytes(&self) -> Range<u64> {
        self.bits.start / 8..self.bits.end.div_ceil(8)
    }
}

/// Where all goes.
pub(crate) struct To<'a> {
    pub(crate) output: &'a mut (dyn Write + Send),
    pub(crate) tell: &'a mut (dyn FnMut(Gap) + Send),
}

//! What a file is decoded from and to, and how.

use std::io::{Read, Write};
use std::sync::atomic::AtomicU64;

use crate::conduct::Conduct;
use crate::decompress::Decompression;
use crate::tools::Tools;

/// What a file is decoded from and to, and how.
pub(crate) struct Run<'a> {
    pub(crate) how: &'a Decompression,
    pub(crate) conduct: &'a Conduct<'a>,
    pub(crate) input: &'a mut (dyn Read + Send),
    pub(crate) output: &'a mut (dyn Write + Send),
    /// Gets the number of the first member that is not as large as its header says; 0 if there is none.
    pub(crate) mistaken: &'a AtomicU64,
}

/// The same on one thread.
pub(crate) struct RunAlone<'a> {
    pub(crate) how: &'a Decompression,
    pub(crate) tools: &'a mut Tools,
    pub(crate) input: &'a mut dyn Read,
    pub(crate) output: &'a mut dyn Write,
    pub(crate) mistaken: &'a AtomicU64,
}

//! The arguments of a format's decoder.

use std::io::{Read, Write};
use std::sync::atomic::AtomicU64;

use crate::decompress::Decompression;
use crate::run_options::RunOptions;
use crate::tools::Tools;

/// The settings, input and output of a decompression.
pub(crate) struct Run<'a> {
    pub(crate) how: &'a Decompression,
    pub(crate) options: &'a RunOptions<'a>,
    pub(crate) input: &'a mut (dyn Read + Send),
    pub(crate) output: &'a mut (dyn Write + Send),
    /// Set to the number of the first member whose size differs from the one in its header; 0 if there is none.
    pub(crate) mistaken: &'a AtomicU64,
}

/// The settings, input and output of a decompression on one thread.
pub(crate) struct RunAlone<'a> {
    pub(crate) how: &'a Decompression,
    pub(crate) tools: &'a mut Tools,
    pub(crate) input: &'a mut dyn Read,
    pub(crate) output: &'a mut dyn Write,
    pub(crate) mistaken: &'a AtomicU64,
}

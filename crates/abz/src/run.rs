//! The arguments of decoding one file.

use std::io::{Read, Write};
use std::sync::atomic::AtomicU64;

use crate::decompress::Decompression;
use crate::run_options::RunOptions;
use crate::tools::Tools;

/// The arguments of decoding one file.
pub(crate) struct Run<'a> {
    pub(crate) how: &'a Decompression,
    pub(crate) options: &'a RunOptions<'a>,
    pub(crate) input: &'a mut (dyn Read + Send),
    pub(crate) output: &'a mut (dyn Write + Send),
    /// Receives the number of the first member whose size differs from the one in its header; 0 if there is none.
    pub(crate) mistaken: &'a AtomicU64,
}

/// The arguments of decoding one file on one thread.
pub(crate) struct RunAlone<'a> {
    pub(crate) how: &'a Decompression,
    pub(crate) tools: &'a mut Tools,
    pub(crate) input: &'a mut dyn Read,
    pub(crate) output: &'a mut dyn Write,
    pub(crate) mistaken: &'a AtomicU64,
}

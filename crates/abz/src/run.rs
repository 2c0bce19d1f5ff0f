//! The arguments of decoding one file.

use std::io::{Read, Write};
use std::sync::atomic::AtomicU64;

use crate::decompression::Decompression;
use crate::run_options::RunOptions;

/// The arguments of decoding one file.
pub(crate) struct Run<'a> {
    pub(crate) how: &'a Decompression,
    pub(crate) options: &'a RunOptions<'a>,
    pub(crate) input: &'a mut (dyn Read + Send),
    pub(crate) output: &'a mut (dyn Write + Send),
    /// Receives the number of the first member whose size differs from the one in its header; 0 if there is none.
    pub(crate) mistaken: &'a AtomicU64,
}

//! The results of `--bench`.

use abz::Format;

/// The number of bytes of a file that are measured; the slowest levels take a minute for it.
pub(super) const MOST: u64 = 64 << 20;

/// The result for one format at one level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) format: Format,
    pub(super) level: u32,
    pub(super) compressed: usize,
    pub(super) compress: Cost,
    pub(super) decompress: Cost,
}

/// The cost of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    pub(super) seconds: f64,
    /// The peak memory beside the data, in bytes; `None` if the system does not report it.
    pub(super) memory: Option<u64>,
}

/// The results for one file.
#[derive(Debug)]
pub(super) struct Bench {
    pub(super) name: String,
    /// The number of bytes measured, and the size of the file if known.
    pub(super) taken: usize,
    pub(super) len: Option<u64>,
    pub(super) workers: usize,
    pub(super) rows: Vec<Row>,
}

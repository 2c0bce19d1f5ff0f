//! What was measured.

use abz::Written;

/// No more of a file is taken, in bytes: the slowest levels take a minute for it.
pub(super) const MOST: u64 = 64 << 20;

/// What one format at one level makes of the data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) format: Written,
    pub(super) level: u32,
    pub(super) compressed: usize,
    pub(super) compress: Cost,
    pub(super) decompress: Cost,
}

/// What a run took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    pub(super) seconds: f64,
    /// What the process needed at most beside the data, in bytes; `None` where the system does not tell.
    pub(super) memory: Option<u64>,
}

/// What was measured of one file.
#[derive(Debug)]
pub(super) struct Bench {
    pub(super) name: String,
    /// How much of it was taken, and how large it is if that is known.
    pub(super) taken: usize,
    pub(super) len: Option<u64>,
    pub(super) workers: usize,
    pub(super) rows: Vec<Row>,
}

//! How compressed files are read.

use abz_codec::parts::Giving;
use abz_codec::{lzip, xz, zstd};

use crate::speculation::Speculation;

/// How to decompress any file of the formats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decompression {
    /// Threads that work, the caller's among them; at least 1. [`at_work`](crate::at_work) says how many do so at once.
    pub workers: usize,
    /// What a file of lzip may have.
    pub lzip: lzip::Strictness,
    /// The most memory to take, in bytes and about, if there shall be a limit: where files may ask for more, fewer workers
    /// decode, and then none.
    pub memory_limit: Option<u64>,
    /// What is not looked at in a file of xz.
    pub xz: xz::Leniency,
    /// How frames of zstd are read.
    pub zstd: zstd::Decoding,
    /// Whether pieces of one member of gzip are decoded by all workers.
    pub speculation: Speculation,
    /// When contents are given out of which only a part is there, or not everything is verified.
    pub giving: Giving,
    /// What follows the last member of a file is ignored even if another member begins in it, as gzip and bzip2 do it. Otherwise
    /// that is an error, because the contents of that member would be lost.
    pub loose_trailing: bool,
}

/// What [`Decompression::run`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decompressed {
    /// Bytes of input.
    pub read: u64,
    /// Bytes of output.
    pub written: u64,
    /// The offset in the input of bytes after the last member that are neither a member nor zeros, if there are
    /// any. The data before them is whole and right.
    pub garbage_at: Option<u64>,
    /// Of a file of gzip, the number of the first member that is not as large as the extra field of its header seems to say, if
    /// there is one. That is no fault: from there on no such size is believed.
    pub mistaken: Option<u64>,
}

impl Default for Decompression {
    /// As many workers as the process may use cores. The input may pause.
    fn default() -> Self {
        Decompression {
            workers: anabranch::default_workers(),
            lzip: lzip::Strictness::default(),
            memory_limit: None,
            xz: xz::Leniency::default(),
            zstd: zstd::Decoding::default(),
            speculation: Speculation::default(),
            giving: Giving { prompt: true, verified: false },
            loose_trailing: false,
        }
    }
}

impl Decompression {
    /// How many workers may decode gzip or bzip2 within the limit of memory: one takes, with what waits for it, less than
    /// 16 MiB.
    pub fn workers_within(&self) -> usize {
        let most = self.memory_limit.map_or(u64::MAX, |limit| limit >> 24);
        self.workers.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1)
    }
}

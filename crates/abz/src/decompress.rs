//! The settings and the result of a decompression.

use abz_codec::parts::Giving;
use abz_codec::{lzip, xz, zstd};

use crate::speculation::Speculation;

/// Settings for decompressing files of any supported format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decompression {
    /// The number of worker threads, including the caller's; at least 1. [`at_work`](crate::at_work) returns how many
    /// of them run at once.
    pub workers: usize,
    /// How strictly lzip files are checked.
    pub lzip: lzip::Strictness,
    /// The approximate memory limit in bytes, if any. If a file requires more, fewer workers decode it; if one
    /// worker still requires more, decoding fails.
    pub memory_limit: Option<u64>,
    /// The checks that are skipped in xz files.
    pub xz: xz::Leniency,
    /// The window limit, dictionary and other settings for zstd frames.
    pub zstd: zstd::Decoding,
    /// When all workers decode pieces of one gzip member.
    pub speculation: Speculation,
    /// When decoded data is written before its whole part has arrived or has been verified.
    pub giving: Giving,
    /// Ignores bytes after the last member even if they contain the start of another member, as gzip and bzip2 do. If
    /// `false`, that is an error, because the contents of that member would be lost.
    pub loose_trailing: bool,
}

/// The result of [`Decompression::run`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decompressed {
    /// The number of bytes read.
    pub read: u64,
    /// The number of bytes written.
    pub written: u64,
    /// The offset in the input at which bytes that are neither a member nor zeros follow the last member, if any. The
    /// data before them is complete and verified.
    pub garbage_at: Option<u64>,
    /// For gzip, the number of the first member whose size differs from the one that its header's extra field seems
    /// to record, if any. This is no error: the sizes in later headers are then ignored.
    pub mistaken: Option<u64>,
}

impl Default for Decompression {
    /// A worker for each core that the process may use; output is prompt, as if the input may pause.
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
    /// Returns how many workers may decode gzip or bzip2 within the memory limit: one worker and its waiting output
    /// need less than 16 MiB.
    pub fn workers_within(&self) -> usize {
        let most = self.memory_limit.map_or(u64::MAX, |limit| limit >> 24);
        self.workers.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1)
    }
}

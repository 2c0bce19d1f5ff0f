//! The settings of a decompression.

use abz_codec::access::Decoder;
use abz_codec::parts::Giving;
#[cfg(feature = "zstd")]
use abz_codec::zstd;
#[cfg(feature = "lzma")]
use abz_codec::{lzip, xz};

use crate::run_options::cores;
use crate::speculation::Speculation;

/// The settings of a decompression, for files of any format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decompression {
    /// The number of threads that work, including the caller's; at least 1. [`at_work`](crate::at_work) says how many
    /// work at once.
    pub workers: usize,
    /// The checks on lzip files beyond those of their contents.
    #[cfg(feature = "lzma")]
    pub lzip: lzip::Strictness,
    /// An approximate limit of memory in bytes, if there is to be one. Fewer workers decode a file that needs more; a
    /// file that needs more even with one worker is an error.
    pub memory_limit: Option<u64>,
    /// The checks of xz files to leave out.
    #[cfg(feature = "lzma")]
    pub xz: xz::Leniency,
    /// The window limit, dictionary and other settings for zstd frames.
    #[cfg(feature = "zstd")]
    pub zstd: zstd::Decoding,
    /// Whether all workers decode pieces of one gzip member.
    pub speculation: Speculation,
    /// When incomplete or unverified contents are given out.
    pub giving: Giving,
    /// Ignores garbage after the last member even if another member begins in it, as gzip and bzip2 do. Otherwise that
    /// is an error, because the contents of that member would be lost.
    pub loose_trailing: bool,
}

/// The result of [`Decompression::run`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decompressed {
    /// The number of bytes read.
    pub read: u64,
    /// The number of bytes written.
    pub written: u64,
    /// The offset in the input, in bytes, of garbage after the last member, if there is any: bytes that are neither a
    /// member nor zeros. The contents before it are whole and right.
    pub garbage_at: Option<u64>,
    /// The offset in the input, in bytes, of zeros that fill the rest of it, if the format itself knows no padding, as
    /// bzip2 and zstd.
    pub padding_at: Option<u64>,
    /// The number of the first gzip member whose size differs from the one that the extra field of its header seems to
    /// record, if there is one. That is no error. Such sizes are ignored from there on.
    pub mistaken: Option<u64>,
}

impl Default for Decompression {
    /// As many workers as the process may use cores, no memory limit, and contents given out promptly when the input
    /// pauses.
    fn default() -> Self {
        Decompression {
            workers: cores(),
            #[cfg(feature = "lzma")]
            lzip: lzip::Strictness::default(),
            memory_limit: None,
            #[cfg(feature = "lzma")]
            xz: xz::Leniency::default(),
            #[cfg(feature = "zstd")]
            zstd: zstd::Decoding::default(),
            speculation: Speculation::default(),
            giving: Giving { prompt: true, verified: false },
            loose_trailing: false,
        }
    }
}

impl Decompression {
    /// The number of workers that may decode gzip or bzip2 within the memory limit. Each takes less than 16 MiB,
    /// including the blocks that wait for it.
    pub fn workers_within(&self) -> usize {
        let most = self.memory_limit.map_or(u64::MAX, |limit| limit >> 24);
        self.workers.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1)
    }

    /// A decoder of parts of a file.
    pub(crate) fn part_decoder(&self) -> Decoder {
        #[cfg(feature = "zstd")]
        return Decoder::new(&self.zstd);
        #[cfg(not(feature = "zstd"))]
        Decoder::default()
    }

    /// Allows what only a second reading can decode, members of lzip with late flushes. Returns whether that is new.
    pub(crate) fn allow_late_flushes(&mut self) -> bool {
        #[cfg(feature = "lzma")]
        return !std::mem::replace(&mut self.lzip.late_flushes, true);
        #[cfg(not(feature = "lzma"))]
        false
    }
}

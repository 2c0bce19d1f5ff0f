//! Compression: plain data in, a compressed file out. Its settings, and its run.

use std::io::{Read, Write};

#[cfg(feature = "gzip")]
use abz_codec::gzip::{Layout, Origin};
#[cfg(feature = "lzma")]
use abz_codec::xz;
#[cfg(feature = "zstd")]
use abz_codec::zstd::{self, Encoding};
use anabranch::{Plan, Pool};

use crate::error::Error;
use crate::format::Format;
use crate::pipes;
use crate::positional::{Reading, Writing};
use crate::run_options::{RunOptions, cores};

/// The smallest dictionary that a memory limit leads to, in bytes; also the step by which dictionaries shrink.
const LEAST_ADJUSTED: u32 = 1 << 20;

/// The settings of a compression. All of them but `workers` affect the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compression {
    /// The format of the output, one of [`Format::written`].
    pub format: Format,
    /// The level, one of [`Format::levels`].
    pub level: u32,
    /// A negative level of zstd, without its sign, that replaces `level`: 1 to [`MAX_FAST`](Compression::MAX_FAST).
    /// Greater numbers are faster and make larger files.
    pub fast: Option<u32>,
    /// The number of bytes of input in a block, at least 1; for gzip at most
    /// [`gzip::MAX_BLOCK`](crate::gzip::MAX_BLOCK). By default, it depends on the format and the level. For bzip2, the
    /// level always sets it.
    pub block_size: Option<usize>,
    /// Cuts blocks at places that their contents determine, instead of after equal sizes. A change of the input then
    /// changes the output only around it ([`Cutter::by_content`](abz_codec::Cutter::by_content)). bzip2 and `.lzma` ignore it.
    pub rsyncable: bool,
    /// The layout of gzip files. Bioinformatics uses BGZF: members of at most 64 KiB, which record no name and no time.
    /// [`Format::Zlib`] and [`Format::Zip`] set their own layouts.
    #[cfg(feature = "gzip")]
    pub layout: Layout,
    /// Settings of lzip and xz beside their levels.
    #[cfg(feature = "lzma")]
    pub lzma: Lzma,
    /// Settings of zstd frames.
    #[cfg(feature = "zstd")]
    pub zstd: Encoding,
    /// The name and the time that a gzip file records.
    #[cfg(feature = "gzip")]
    pub origin: Origin,
    /// The size of the input in bytes, if it is known. The header of a zstd frame records it, which some readers need.
    /// If the input turns out to be larger, all of it is compressed nevertheless. If it turns out to be smaller and the
    /// header records the size, that is an error. A patch of zstd needs the exact size.
    pub contents: Option<u64>,
    /// The number of threads that work, including the caller's; at least 1. No more work at once than the process may use
    /// processors, or two if that is one.
    pub workers: usize,
}

/// Settings of the formats of LZMA beside a level.
#[cfg(feature = "lzma")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lzma {
    /// The size of the dictionary in bytes, 4 KiB to 512 MiB: how far back matches are looked for. By default, the
    /// level sets it.
    pub dictionary_size: Option<u32>,
    /// The match length in bytes at which the search ends, 5 to 273, for lzip. By default, the level sets it.
    pub match_length: Option<u32>,
    /// Takes more time to make files of the same level a little smaller, for xz and `.lzma`.
    pub extreme: bool,
    /// The check of each block, for xz.
    pub check: xz::Check,
    /// The settings that replace those of the level, for xz and `.lzma`.
    pub tuning: xz::Tuning,
}

/// The result of [`compress`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compressed {
    /// The number of bytes read.
    pub read: u64,
    /// The number of bytes written.
    pub written: u64,
}

impl Default for Compression {
    /// gzip at level 6, blocks of 1.25 MiB, no name or time, and as many workers as the process may use cores. Without gzip,
    /// another [format](Format::default) at its default level.
    fn default() -> Self {
        Compression {
            format: Format::default(),
            level: Format::default().default_level(),
            fast: None,
            block_size: None,
            rsyncable: false,
            #[cfg(feature = "gzip")]
            layout: Layout::default(),
            #[cfg(feature = "lzma")]
            lzma: Lzma::default(),
            #[cfg(feature = "zstd")]
            zstd: Encoding::default(),
            #[cfg(feature = "gzip")]
            origin: Origin::default(),
            contents: None,
            workers: cores(),
        }
    }
}

impl Compression {
    /// The largest value of [`fast`](Compression::fast): how far the levels of zstd go below 0.
    #[cfg(feature = "zstd")]
    pub const MAX_FAST: u32 = zstd::LEVELS.start().unsigned_abs();

    /// Reduces the number of workers until about `limit` bytes of memory are enough for them and their blocks.
    ///
    /// # Errors
    ///
    /// If `limit` is too low for one worker. The error is the number of bytes that one worker needs.
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub(crate) fn limit_memory(&mut self, limit: u64) -> Result<(), u64> {
        loop {
            match self.memory() {
                needed if needed <= limit => return Ok(()),
                needed if self.workers == 1 => return Err(needed),
                _ => self.workers -= 1,
            }
        }
    }

    /// The size of the LZMA dictionary in bytes, if the format has one.
    pub(crate) fn dictionary(&self) -> Option<u32> {
        self.writes().dictionary(self)
    }

    /// Sets the size of the LZMA dictionary in bytes, for a format that has one.
    pub(crate) fn set_dictionary(&mut self, _size: u32) {
        #[cfg(feature = "lzma")]
        (self.lzma.dictionary_size = Some(_size));
    }

    /// The approximate memory of the compression in bytes: that of its encoders, and that of the blocks in memory at
    /// once.
    pub(crate) fn memory(&self) -> u64 {
        let (writes, blocks) = (self.writes(), self.window() as u64 * self.block_len() as u64);
        writes.encoders(self) as u64 * writes.memory(self) + blocks
    }

    /// The settings of the stream.
    pub(crate) fn threads<'a>(&self, pool: Option<&'a Pool>) -> pipes::Threads<'a> {
        let window = self.window();
        pipes::Threads { workers: self.workers.min(window), window, pool }
    }

    /// The maximum size of a block in bytes, with these settings.
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub(crate) fn block_len(&self) -> usize {
        self.writes().block_len(self)
    }

    /// The maximum number of blocks in memory at once: two for each worker that is at work, of which one is being
    /// encoded and one waits. lzip and xz, whose blocks are large, have one for each worker and one that waits; xz with
    /// one worker has one.
    pub(crate) fn window(&self) -> usize {
        self.writes().most_blocks(self)
    }
}

/// Compresses all of `input` and writes one compressed file to `output`.
///
/// ```
/// use abz::{Compression, compress};
///
/// let mut file = Vec::new();
/// let done = compress(&[7; 5_000_000][..], &mut file, &Compression { level: 9, ..Compression::default() })?;
/// assert_eq!((done.read, done.written), (5_000_000, file.len() as u64));
/// # Ok::<(), abz::Error>(())
/// ```
///
/// # Errors
///
/// If the input cannot be read or the output cannot be written. The output is then incomplete.
///
/// # Panics
///
/// If a setting is out of its range.
pub fn compress(
    input: impl Read + Send,
    output: impl Write + Send,
    settings: &Compression,
) -> Result<Compressed, Error> {
    compress_with(input, output, settings, RunOptions::default())
}

/// As [`compress`], with the threads, progress and report that `options` sets.
///
/// # Errors
///
/// As [`compress`].
///
/// # Panics
///
/// As [`compress`].
pub fn compress_with(
    mut input: impl Read + Send,
    mut output: impl Write + Send,
    settings: &Compression,
    options: RunOptions<'_>,
) -> Result<Compressed, Error> {
    compress_io(Reading::Stream(&mut input), Writing::Stream(&mut output), settings, options)
}

/// As [`compress_with`], with input and output as streams or at offsets; the compressed bytes are the same. Workers read the
/// blocks of gzip at their offsets. Blocks of other formats, and blocks cut by content, begin where the one before ends, and
/// are read one after another.
///
/// # Errors
///
/// As [`compress`].
///
/// # Panics
///
/// As [`compress`], and if `output` is [`Writing::Positional`] for a format that cannot be written at offsets.
pub fn compress_io(
    input: Reading<'_>,
    output: Writing<'_>,
    settings: &Compression,
    options: RunOptions<'_>,
) -> Result<Compressed, Error> {
    let (writes, is_in_order) = (settings.writes(), matches!(output, Writing::Stream(_)));
    assert!(is_in_order || writes.is_written_at(), "{} is written in order", settings.format);
    match options.tools {
        Some(_) if settings.workers > 1 => {
            compress_io(input, output, &Compression { workers: 1, ..settings.clone() }, options)
        }
        _ => writes.compress(settings, &options, input.shortened(), output),
    }
}

/// The plan of [`compress`], without running it.
///
/// # Panics
///
/// If a setting is out of its range.
pub fn plan_to_compress(settings: &Compression) -> Plan {
    settings.writes().plan_to_write(settings)
}

/// Reduces the number of workers until about `limit` bytes of memory are enough for them and their blocks. If one worker needs
/// more, lzip and xz also get smaller blocks if no size was set, and then a smaller dictionary, in steps of 1 MiB as in xz. That
/// changes the output. Returns the size of the dictionary in bytes, before and after, if it was reduced.
///
/// # Errors
///
/// If `limit` is too low for one worker with a dictionary of 1 MiB, or without one if the format has none. The
/// error is the number of bytes that would be enough.
///
/// # Panics
///
/// If a setting is out of its range.
pub fn limit_memory_and_dictionary(
    settings: &mut Compression,
    limit: u64,
) -> Result<Option<(u32, u32)>, u64> {
    let Err(needed) = settings.limit_memory(limit) else { return Ok(None) };
    let Some(before) = settings.dictionary() else { return Err(needed) };
    let wanted = settings.clone();
    let mut dictionary = before;
    loop {
        settings.set_dictionary(dictionary);
        if wanted.block_size.is_none() {
            // A block smaller than the dictionary makes no use of all of it.
            let least = (dictionary as usize).max(1 << 20);
            settings.block_size = None;
            let usual = settings.block_len().max(least);
            settings.block_size = Some(least);
            let left = limit.saturating_sub(settings.memory()) / settings.window() as u64;
            settings.block_size = Some(usual.min(least + left as usize));
        }
        if settings.memory() <= limit {
            return Ok((dictionary < before).then_some((before, dictionary)));
        }
        if dictionary <= LEAST_ADJUSTED {
            let least = settings.memory();
            *settings = wanted;
            return Err(least);
        }
        dictionary = (dictionary - 1) & !(LEAST_ADJUSTED - 1);
    }
}

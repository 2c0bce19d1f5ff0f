//! Decompression: a compressed file in, plain data out. Its settings, and its run.

use std::io::{Read, Write};

use abz_codec::Remedy;
use abz_codec::access::Decoder;
use abz_codec::parts::Giving;
#[cfg(feature = "zstd")]
use abz_codec::zstd;
#[cfg(feature = "lzma")]
use abz_codec::{lzip, xz};
use anabranch::Plan;

use crate::count::{Counted, Rest};
use crate::error::Error;
use crate::format::Format;
use crate::positional::{ReadAt, WriteAt};
use crate::run_options::{RunOptions, cores};
use crate::speculation::Speculation;

/// The settings of a decompression, for files of any format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decompression {
    /// The number of threads that work, including the caller's; at least 1. No more work at once than the process may use
    /// processors, or two if that is one.
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

/// The result of [`decompress`].
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
    /// As [`decompress_with`], for trait objects, so that the pipelines are compiled once.
    pub(crate) fn carry(
        &self,
        options: RunOptions<'_>,
        input: &mut (dyn Read + Send),
        output: &mut (dyn Write + Send),
    ) -> Result<Decompressed, Error> {
        if options.tools.is_some() && self.workers > 1 {
            return Decompression { workers: 1, ..self.clone() }.carry(options, input, output);
        }
        let mut input = Counted::new(input);
        let (format, mut whole) = Format::sniff(&mut input).map_err(Error::Read)?;
        // The default format, gzip, reports the error of a file in no known format.
        let done = format.unwrap_or_default().decode(self, &options, &mut whole, output)?;
        drop(whole);
        Ok(Decompressed { read: input.bytes, ..done })
    }

    /// The number of workers that may decode gzip or bzip2 within the memory limit. Each takes less than 16 MiB,
    /// including the blocks that wait for it.
    pub(crate) fn workers_within(&self) -> usize {
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

/// Writes the contents of the compressed file `input` to `output`. The format is detected from its first bytes.
///
/// All workers decode the parts of a file in parallel where the format allows it:
///
/// - gzip: blocks with marks, as this crate writes them, and members whose headers record their size, as in BGZF.
///   Other members are decoded one after another, each by one worker or in pieces by all: see
///   [`Speculation`](crate::Speculation).
/// - bzip2: all blocks, whichever program wrote them.
/// - lzip: members of at most 8 MiB, or twice their dictionary if that is more, but never above 64 MiB.
/// - xz: blocks whose headers record their sizes, of at most 8 MiB, or three times their dictionary if that is
///   more, but never above 192 MiB.
/// - zstd: pieces of frames, as this crate writes them, and frames that pzstd wrote or whose headers record their
///   size, each of at most 32 MiB of contents.
///
/// One worker decodes anything else, while others read, verify and write.
///
/// ```
/// use abz::{Compression, Decompression, compress, decompress};
///
/// let (mut file, mut contents) = (Vec::new(), Vec::new());
/// compress(&b"a branch of a river"[..], &mut file, &Compression::default())?;
/// decompress(&file[..], &mut contents, &Decompression::default())?;
/// assert_eq!(contents, b"a branch of a river");
/// # Ok::<(), abz::Error>(())
/// ```
///
/// # Errors
///
/// If the input cannot be read, is damaged or of no known format, or the output cannot be written. The contents
/// before the fault have been written then, and are right, except those of a damaged gzip member that does not
/// record where its parts lie: these may be wrong.
///
/// # Panics
///
/// If there are no workers.
pub fn decompress(
    input: impl Read + Send,
    output: impl Write + Send,
    settings: &Decompression,
) -> Result<Decompressed, Error> {
    decompress_with(input, output, settings, RunOptions::default())
}

/// As [`decompress`], with the threads, progress and report that `options` sets.
///
/// # Errors
///
/// As [`decompress`].
///
/// # Panics
///
/// As [`decompress`].
pub fn decompress_with(
    mut input: impl Read + Send,
    mut output: impl Write + Send,
    settings: &Decompression,
    options: RunOptions<'_>,
) -> Result<Decompressed, Error> {
    settings.carry(options, &mut input, &mut output)
}

/// Decompresses a gzip file that records where each block or member is, as every file of several blocks by this
/// crate does. Each worker reads members at their offsets, decodes them, and writes the contents at theirs.
/// Returns `None` if the file records no such offsets or is damaged: `output` then holds wrong bytes, and
/// [`decompress_with`] has to decode the file again to write the correct contents and report the
/// damage.
///
/// # Errors
///
/// If the input cannot be read or the output cannot be written.
///
/// # Panics
///
/// If there are no workers.
pub fn decompress_at(
    input: &dyn ReadAt,
    output: &dyn WriteAt,
    settings: &Decompression,
    options: RunOptions<'_>,
) -> Result<Option<Decompressed>, Error> {
    let format = Format::at(input).map_err(Error::Read)?;
    format.unwrap_or_default().reads().decompress_at(settings, &options, input, output)
}

/// The plan of [`decompress`] for a file of a format, without running it.
pub fn plan_to_decompress(settings: &Decompression, format: Format) -> Plan {
    format.reads().plan_to_read(settings)
}

/// Decodes a file that can be read twice, such as a regular file. `first` decodes it from its start. If that fails
/// because the file has to be [read twice](Remedy::RegularFile), `again` decodes it from its start as well, with
/// the decompression that it is given. The bytes that `first` has written are not written again. `again` returns
/// `None` if the file cannot be read twice after all.
///
/// ```
/// use abz::program::in_two_tries;
/// use abz::{Compression, Decompression, compress, decompress};
///
/// let (mut file, mut contents) = (Vec::new(), Vec::new());
/// compress(&b"a branch of a river"[..], &mut file, &Compression::default())?;
/// in_two_tries(
///     &Decompression::default(),
///     &mut contents,
///     |how, output| decompress(&file[..], output, how),
///     |how, output| Some(decompress(&file[..], output, how)),
/// )?;
/// assert_eq!(contents, b"a branch of a river");
/// # Ok::<(), abz::Error>(())
/// ```
///
/// # Errors
///
/// The error of the last try.
pub fn in_two_tries<T>(
    settings: &Decompression,
    output: &mut (dyn Write + Send),
    first: impl FnOnce(&Decompression, &mut (dyn Write + Send)) -> Result<T, Error>,
    again: impl FnOnce(&Decompression, &mut (dyn Write + Send)) -> Option<Result<T, Error>>,
) -> Result<T, Error> {
    let mut counted = Counted::new(&mut *output);
    let done = first(settings, &mut counted);
    let known = counted.bytes;
    if let Err(Error::Damaged(damage)) = &done
        && damage.remedy() == Remedy::RegularFile
    {
        let mut how = settings.clone();
        how.allow_late_flushes();
        return again(&how, &mut Rest { left: known, output }).unwrap_or(done);
    }
    done
}

//! Indices of files: made by one pass over the whole file, so that later runs need to decode parts of it only.

use std::io::{self, Write};

use abz_codec::access::Index;
#[cfg(all(doc, feature = "gzip"))]
use abz_codec::gzip::find_parts;
use anabranch::Plan;

use crate::count::Rest;
#[cfg(doc)]
use crate::decompression::decompress_with;
use crate::decompression::{Decompressed, Decompression, in_two_tries};
use crate::error::Error;
use crate::format::Format;
use crate::formats::reads::ByIndex;
use crate::index_builder::Indexed;
use crate::positional::Along;
use crate::positional::ReadAt;
use crate::run_options::RunOptions;
use crate::zeros;

/// Makes an [`Index`] of a compressed file, for [`copy_span`](crate::access::copy_span). It decodes and verifies the whole
/// file.
///
/// The index lists the parts that the file itself records. For bzip2 these are the blocks. One thread decodes any
/// other gzip file, and divides it into parts of at least `spacing` bytes of contents ([`find_parts`]). Other
/// files, as most that `zstd` writes, have no parts, because decoding can begin only at their start.
///
/// # Errors
///
/// As [`decompress`](crate::decompress).
///
/// # Panics
///
/// If there are no workers.
pub fn make_index(
    input: &dyn ReadAt,
    spacing: u64,
    settings: &Decompression,
    options: RunOptions<'_>,
) -> Result<Index, Error> {
    decompress_indexing(input, spacing, &mut io::sink(), settings, options).map(|(_, index)| index)
}

/// Decompresses a file to `output`, as [`decompress_with`] does, and makes the same [`Index`] as
/// [`make_index`] on the way.
///
/// ```
/// use abz::program::{RunOptions, decompress_indexed, decompress_indexing};
/// use abz::{Decompression, decompress};
///
/// # let mut file = Vec::new();
/// # abz::compress(&b"a branch of a river"[..], &mut file, &abz::Compression::default())?;
/// let (mut contents, mut again) = (Vec::new(), Vec::new());
/// let (settings, options) = (Decompression::default(), RunOptions::default());
/// let (done, index) = decompress_indexing(&file, 1 << 20, &mut contents, &settings, options)?;
/// assert_eq!(done.written, index.contents());
///
/// // A file of one large member is now decoded by all workers.
/// if decompress_indexed(&file, &index, &mut again, &settings, options)?.is_none() {
///     decompress(&file[..], &mut again, &settings)?;
/// }
/// assert_eq!(again, contents);
/// # Ok::<(), abz::Error>(())
/// ```
///
/// # Errors
///
/// As [`decompress`](crate::decompress).
///
/// # Panics
///
/// If there are no workers.
pub fn decompress_indexing(
    input: &dyn ReadAt,
    spacing: u64,
    output: &mut (dyn Write + Send),
    settings: &Decompression,
    options: RunOptions<'_>,
) -> Result<(Decompressed, Index), Error> {
    let format = Format::at(input).map_err(Error::Read)?.unwrap_or_default();
    let decode = |how: &Decompression, output: &mut (dyn Write + Send)| {
        format.reads().index(how, options, input, spacing, output)
    };
    let found = in_two_tries(settings, output, decode, |how, output| Some(decode(how, output)))?;
    output.flush().map_err(Error::Write)?;
    let Indexed { parts, contents, lines, mut garbage_at, mistaken } = found;
    let index = Index::new(&mut Along::new(input), parts, contents, lines).map_err(Error::Read)?;
    let padding_at = match garbage_at {
        Some(at) if format.reads().may_be_padded() && zeros::fill(input, at).map_err(Error::Read)? => {
            garbage_at.take()
        }
        _ => None,
    };
    let done = Decompressed { read: input.size(), written: contents, garbage_at, padding_at, mistaken };
    Ok((done, index))
}

/// Decompresses a file to `output`, as [`decompress_with`] does, using its index: all workers
/// decode the parts of a gzip member that does not record where its blocks are. The returned `bool` is `false` if
/// the index turned out to be wrong. Returns `None`, having written nothing, if the index does not help with this
/// file.
///
/// A wrong index does no harm, because everything in it is checked: each part has to begin at the bit at which the
/// one before it ended, and after the same contents. If a check fails, the file is decoded from its start without
/// the index, and only the remaining contents are written. The same happens at a member that records its size or
/// where its blocks lie.
///
/// # Errors
///
/// As [`decompress`](crate::decompress).
///
/// # Panics
///
/// If there are no workers.
pub fn decompress_indexed(
    input: &dyn ReadAt,
    index: &Index,
    output: &mut (dyn Write + Send),
    settings: &Decompression,
    options: RunOptions<'_>,
) -> Result<Option<(Decompressed, bool)>, Error> {
    let format = Format::at(input).map_err(Error::Read)?.unwrap_or_default();
    let parts = index.parts();
    let (written, may_be_right) =
        match format.reads().decompress_indexed(settings, &options, input, parts, &mut *output)? {
            ByIndex::Unused => return Ok(None),
            ByIndex::Done(done) => return Ok(Some((done, true))),
            ByIndex::Refuted { written } => (written, false),
            ByIndex::LeftOff { written } => (written, true),
        };
    let mut rest = Rest { left: written, output };
    let done = settings.carry(options, &mut Along::new(input), &mut rest)?;
    Ok(Some((done, may_be_right)))
}

/// Returns the plan that [`decompress_indexed`] would execute for a file of this
/// format, or `None` if the index does not help.
pub fn plan_to_decompress_indexed(settings: &Decompression, format: Format, index: &Index) -> Option<Plan> {
    format.reads().plan_to_read_indexed(settings, index.parts())
}

/// Checks that an index is that of a file.
pub(crate) fn check(index: &Index, file: &mut Along<'_>) -> Result<(), Error> {
    if index.fits(file).map_err(Error::Read)? {
        return Ok(());
    }
    let message = "expected the index of this file, found that of another: make it again";
    Err(Error::Read(io::Error::new(io::ErrorKind::InvalidData, message)))
}

//! The size of a file's contents, found without decoding it.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use super::layout::MAX_COMPRESSED;
use super::mark::{MARK_LEN, Mark, find_marks, mark_at};
use super::walk::{Entry, walk};
use super::{EMPTY_DEFLATE, Index, IndexError, TRAILER_LEN};
use crate::access::{Kind, Layout, Part};
use crate::glance::glance;

/// The number and the size of the members of a file, as they state them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The number of members, or of blocks with marks, that have contents.
    pub members: u64,
    /// The size of the contents in bytes, by headers and trailers.
    pub uncompressed: u64,
}

impl Survey {
    /// Reads the header and the trailer of each member of `file`. Returns `None` if a member does not state its size,
    /// or if a check fails: only decoding tells the size then. The index at the end of the file is not used. It moves
    /// the file's position.
    ///
    /// ```
    /// use abz_codec::gzip::{Encoder, Layout, Survey, Writer};
    /// use abz_codec::Blocks;
    /// use std::io::Cursor;
    ///
    /// let mut encoder = Encoder::new(6);
    /// let mut file = Writer::new(Vec::new(), Layout::default());
    /// for block in Blocks::new(&b"abcdefgh"[..], 3) {
    ///     file.write(&encoder.encode(&block?)?)?;
    /// }
    /// let survey = Survey::of(&mut Cursor::new(file.finish()?))?;
    /// assert_eq!(survey, Some(Survey { members: 3, uncompressed: 8 }));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn of<F: Read + Seek>(file: &mut F) -> io::Result<Option<Survey>> {
        let mut survey = Survey::default();
        let is_right = walk(file, |member| {
            survey.members += u64::from(member.uncompressed > 0);
            survey.uncompressed += u64::from(member.uncompressed);
        })?;
        Ok(is_right.then_some(survey))
    }
}

/// Returns the members with contents as parts that can be decoded by themselves. They come from the index at the end of
/// the file, or from the members themselves if there is no valid index; `None` if neither gives them. It moves the
/// file's position.
///
/// # Errors
///
/// If the file cannot be read.
pub fn parts<F: Read + Seek>(file: &mut F) -> io::Result<Option<Vec<Part>>> {
    let index = match Index::read(file) {
        Err(IndexError::Io(error)) => return Err(error),
        Ok(Some(index)) => Some(index),
        Ok(None) | Err(_) => Index::of_members(file)?,
    };
    let Some(index) = index else { return Ok(None) };
    let mut layout = Layout::default();
    for (number, entry) in (1..).zip(index.entries()) {
        let Entry { offset, compressed, uncompressed, .. } = *entry;
        layout.push(Kind::GzipMembers, number, offset, compressed.into(), uncompressed.into());
    }
    Ok(layout.finish())
}

/// Finds the last mark of a file that ends with a member with marks, and its offset. The end of the file follows its
/// block.
pub(super) fn last_mark<F: Read + Seek>(file: &mut F, size: u64) -> io::Result<Option<(u64, Mark)>> {
    const END: u64 = (EMPTY_DEFLATE.len() + TRAILER_LEN) as u64;
    let least = size.saturating_sub(MARK_LEN as u64 + MAX_COMPRESSED + END);
    // Going backwards reads little more than the last block has.
    let (mut bytes, mut to) = ([0; LAST_LOOK + MARK_LEN - 1], size);
    while to > least {
        let from = to.saturating_sub(LAST_LOOK as u64).max(least);
        let look = (to - from) as usize + MARK_LEN - 1;
        let found = glance(file, from, &mut bytes[..look])?;
        for at in find_marks(found) {
            let place = from + at as u64;
            if let Some(mark) = Mark::parse(&found[at..])
                && place + mark.size() as u64 + END == size
            {
                return Ok(Some((place, mark)));
            }
        }
        to = from;
    }
    Ok(None)
}

/// The number of places at which the last mark is sought at once.
const LAST_LOOK: usize = 32 << 10;

/// Finds the blocks that contain any of these bytes of the contents, as parts that can be decoded one by one, and the
/// size of all contents. Only the marks near the bytes are read.
///
/// Returns `None` if the file is not a single member whose marks state their offsets, or if a mark is wrong. Moves the
/// position of the file.
///
/// # Errors
///
/// If the file cannot be read.
pub fn parts_around<F: Read + Seek>(
    file: &mut F,
    bytes: &Range<u64>,
) -> io::Result<Option<(Vec<Part>, u64)>> {
    let size = file.seek(SeekFrom::End(0))?;
    let Some((last_at, last)) = last_mark(file, size)? else { return Ok(None) };
    // If the last mark states its own offset in the file, the member begins at the start of the file.
    let Some(last_start) = last.start.filter(|_| last.offset == Some(last_at)) else { return Ok(None) };
    let total = last_start + u64::from(last.len);
    let is_right = |at: u64, mark: &Mark| {
        let lies_before = mark.start.is_some_and(|start| start <= last_start);
        mark.offset == Some(at) && mark.member == last.member && lies_before
    };
    let wanted = bytes.start.min(total.saturating_sub(1));
    let found = match last_start <= wanted {
        true => Some((last_at, last)),
        false => find_block(file, wanted, (last_at, last_start), is_right)?,
    };
    let Some((mut at, mut mark)) = found else { return Ok(None) };
    let mut parts = Vec::new();
    loop {
        let Some(start) = mark.start else { return Ok(None) };
        let contents = start..start + u64::from(mark.len);
        let bits = 8 * at..8 * (at + mark.size() as u64);
        let end = contents.end;
        // Nobody uses the number of the member, which is unknown here.
        parts.push(Part { kind: Kind::GzipMembers, number: 1, bits, contents, known: None });
        if end >= bytes.end || end >= total {
            return Ok(Some((parts, total)));
        }
        at += mark.size() as u64;
        match mark_at(file, at)? {
            Some(next) if is_right(at, &next) && next.start == Some(end) => mark = next,
            _ => return Ok(None),
        }
    }
}

/// The distance to the wanted byte, in blocks, from which on the blocks before it are visited one by one.
const NEAR: u64 = 64;

/// Finds the block with the byte `wanted` of the contents, or the last block before it that can be found. `end` is the
/// offset of a later mark, and the start of its block in the contents.
///
/// Looks alternately at the place where the block would be if all blocks compressed alike, and in the middle of the
/// range. Uneven blocks therefore cost at most twice as many reads as a bisection.
fn find_block<F: Read + Seek>(
    file: &mut F,
    wanted: u64,
    end: (u64, u64),
    is_right: impl Fn(u64, &Mark) -> bool,
) -> io::Result<Option<(u64, Mark)>> {
    let mut found: Option<(u64, Mark)> = None;
    // The mark lies in `low..high`. Each bound is an offset in the file and the offset of its contents.
    let (mut low, mut high) = ((0, 0), end);
    let (mut size, mut bisects) = (0, false);
    while low.0 < high.0 && low.1 <= wanted {
        let is_near = found.is_some_and(|(_, mark)| wanted - low.1 < NEAR * u64::from(mark.len));
        let is_next = |mark: &Mark| is_right(low.0, mark) && mark.start == Some(low.1);
        if is_near && let Some(mark) = mark_at(file, low.0)?.filter(is_next) {
            found = Some((low.0, mark));
            low = (low.0 + mark.size() as u64, low.1 + u64::from(mark.len));
            continue;
        }
        let from = if is_near {
            low.0
        } else if bisects {
            low.0 + (high.0 - low.0) / 2
        } else {
            let share = (wanted - low.1) as f64 / high.1.saturating_sub(low.1).max(1) as f64;
            let place = low.0 + ((high.0 - low.0) as f64 * share) as u64;
            // The block begins before the place of its byte.
            place.min(high.0 - 1).saturating_sub(size).max(low.0)
        };
        bisects = !is_near && !bisects;
        let next = next_mark(file, from, high.0, &is_right)?;
        match next.and_then(|(at, mark)| Some((at, mark, mark.start?))) {
            Some((at, mark, start)) => {
                size = mark.size() as u64;
                if start <= wanted {
                    found = Some((at, mark));
                    low = (at + size, start + u64::from(mark.len));
                } else {
                    high = (from, start);
                }
            }
            None => high.0 = from,
        }
    }
    Ok(found)
}

/// Finds the first valid mark that begins in the range `from..to` of the file.
fn next_mark<F: Read + Seek>(
    file: &mut F,
    mut from: u64,
    to: u64,
    is_right: impl Fn(u64, &Mark) -> bool,
) -> io::Result<Option<(u64, Mark)>> {
    let mut look = 64 << 10;
    let mut bytes = Vec::new();
    while from < to {
        bytes.resize(look + MARK_LEN, 0);
        let found = glance(file, from, &mut bytes)?;
        for at in find_marks(found) {
            let place = from + at as u64;
            if let Some(mark) = Mark::parse(&found[at..]).filter(|mark| is_right(place, mark)) {
                return Ok(Some((place, mark)).filter(|(place, _)| *place < to));
            }
        }
        from += look as u64;
        look = (2 * look).min(1 << 20);
    }
    Ok(None)
}

//! Walking through a file from member to member, by the sizes that they state.

use std::io::{self, Read, Seek, SeekFrom};

use crc32fast::Hasher;

use super::mark::{MARK_LEN, Mark, mark_at};
use super::{EMPTY_DEFLATE, HEADER_LIMIT, Header, TRAILER_LEN, u32_at};
use crate::glance::{bytes_at, glance};

/// A member, or a block with a mark, in an [`Index`](super::Index).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The offset of the member in the compressed file.
    pub offset: u64,
    /// The size of the member in the compressed file, in bytes.
    pub compressed: u32,
    /// The offset of its contents in the contents of the file.
    pub start: u64,
    /// The size of its contents in bytes.
    pub uncompressed: u32,
}

/// Calls `each` with every member of a file, also with empty ones, and with every block of members with marks. Returns
/// `false` if a member does not state its size, or if a check fails.
pub(super) fn walk<F: Read + Seek>(file: &mut F, mut each: impl FnMut(Entry)) -> io::Result<bool> {
    let end = file.seek(SeekFrom::End(0))?;
    let (mut offset, mut start, mut expects_more) = (0, 0, true);
    while offset < end {
        let Some((header, header_len)) = read_header(file, offset)? else { return Ok(false) };
        let Some(extent) = header.extent() else {
            let Some((next, len)) = walk_marks(file, offset + header_len as u64, start, &mut each)? else {
                return Ok(false);
            };
            (offset, start, expects_more) = (next, len, false);
            continue;
        };
        let compressed = extent.compressed;
        let len = u64::from(compressed);
        if len < (header_len + EMPTY_DEFLATE.len() + TRAILER_LEN) as u64 || len > end - offset {
            return Ok(false);
        }
        let uncompressed = u32::from_le_bytes(bytes_at(file, offset + len - 4)?);
        if extent.uncompressed.is_some_and(|said| said != uncompressed) {
            return Ok(false);
        }
        each(Entry { offset, compressed, start, uncompressed });
        expects_more = extent.more;
        offset += len;
        start += u64::from(uncompressed);
    }
    Ok(!expects_more)
}

/// Calls `each` with every block of a member with marks, the first of which is at byte `at` of the file. `before` is
/// the size of the contents before the member. Returns the offset of the next member and of its contents, or `None` if
/// a check fails.
fn walk_marks<F: Read + Seek>(
    file: &mut F,
    mut at: u64,
    before: u64,
    each: &mut impl FnMut(Entry),
) -> io::Result<Option<(u64, u64)>> {
    let (mut len, mut number, mut sum) = (0, None, Hasher::new());
    let mut bytes = [0; MARK_LEN];
    loop {
        let found = glance(file, at, &mut bytes)?;
        let Some(mark) = Mark::parse(found) else { break };
        if !mark.follows(len, *number.get_or_insert(mark.member)) {
            return Ok(None);
        }
        let (offset, start) = (at, before + len);
        each(Entry { offset, compressed: mark.size() as u32, start, uncompressed: mark.len });
        sum.combine(&Hasher::new_with_initial_len(mark.crc32, mark.len.into()));
        len += u64::from(mark.len);
        at += mark.size() as u64;
    }
    const END: usize = EMPTY_DEFLATE.len() + TRAILER_LEN;
    let mut end = [0; END];
    let found = glance(file, at, &mut end)?;
    let is_right = found.len() == END
        && found.starts_with(&EMPTY_DEFLATE)
        && u32_at(found, 2) == sum.finalize()
        && u32_at(found, 6) == len as u32;
    Ok((is_right && number.is_some()).then_some((at + END as u64, before + len)))
}

/// Reads the header at byte `at`. Returns it with its length.
fn read_header<F: Read + Seek>(file: &mut F, at: u64) -> io::Result<Option<(Header, usize)>> {
    let mut bytes = Vec::new();
    // Headers of members that state their size are short, except for a long name or a part of the index.
    for wanted in [128, HEADER_LIMIT] {
        bytes.clear();
        file.seek(SeekFrom::Start(at))?;
        file.by_ref().take(wanted as u64).read_to_end(&mut bytes)?;
        if let Some(parsed) = Header::parse(&bytes).unwrap_or(None) {
            return Ok(Some(parsed));
        }
    }
    Ok(None)
}

/// Returns whether a file begins with a member whose blocks have marks.
pub(super) fn begins_marked<F: Read + Seek>(file: &mut F) -> io::Result<bool> {
    let Some((_, header_len)) = read_header(file, 0)? else { return Ok(false) };
    Ok(mark_at(file, header_len as u64)?.is_some())
}

/// Returns whether a file that begins with `start` may state where its parts are: its first header has an extra field,
/// or a mark follows it. `None` if more bytes of the file are needed to decide.
pub fn tells_parts(start: &[u8]) -> Option<bool> {
    let Ok(parsed) = Header::parse(start) else { return Some(false) };
    let (header, len) = parsed?;
    let behind = &start[len..];
    let may_be_marked = behind.len() < MARK_LEN && Mark::may_begin(behind);
    match !header.extra.is_empty() || Mark::parse(behind).is_some() {
        false if may_be_marked => None,
        known => Some(known),
    }
}

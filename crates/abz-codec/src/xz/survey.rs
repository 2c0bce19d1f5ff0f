//! The size of a file's contents, found without decoding it.

use std::io::{self, Read, Seek, SeekFrom};

use super::header::{
    FOOTER_LEN, MAGIC, MAX_NUMBER_LEN, STREAM_HEADER_LEN, index_len_of, parse_stream_header,
};
use super::index::Index;
use crate::access::{Kind, Layout, Part};
use crate::glance::bytes_at;

/// The number of bytes that are read at once.
const INPUT: usize = 64 * 1024;

/// The offset of the check's number in a stream's header.
const CHECK_AT: usize = 7;

/// The largest padding that is searched, in bytes.
const MOST_PADDING: u64 = 64 * 1024;

/// The number and the size of the blocks of a file, as its indices state them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The number of streams.
    pub streams: u64,
    /// The number of blocks in all streams.
    pub blocks: u64,
    /// The size of the contents in bytes.
    pub uncompressed: u64,
    /// The checks of the streams: bit *n* is set if one has the check with the number *n* (xz file format 1.2.1,
    /// section 2.1.1.2).
    pub checks: u16,
    /// The size of the padding behind streams in bytes.
    pub padding: u64,
}

impl Survey {
    /// Reads the index of each stream of `file`, from the last to the first. Returns `None` if a check fails, or if it
    /// is a `.lzma` file: only decoding tells the size then. It moves the file's position.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn of<F: Read + Seek>(file: &mut F) -> io::Result<Option<Survey>> {
        let mut survey = Survey::default();
        let padding = walk(file, Index::default, |_, header, index| {
            let records = index.records();
            survey.streams += 1;
            survey.checks |= 1 << (header[CHECK_AT] & 15);
            survey.blocks += records.count();
            survey.uncompressed = survey.uncompressed.saturating_add(records.uncompressed());
        })?;
        Ok(padding.map(|padding| Survey { padding, ..survey }))
    }
}

/// Calls `each` with the offset, the header and the index of every stream of a file, from the last to the first.
/// Returns the size of all padding, or `None` if a check fails or there is no stream.
fn walk<F: Read + Seek>(
    file: &mut F,
    empty: fn() -> Index,
    mut each: impl FnMut(u64, &[u8; STREAM_HEADER_LEN], Index),
) -> io::Result<Option<u64>> {
    let mut end = file.seek(SeekFrom::End(0))?;
    let (mut any, mut padding) = (false, 0);
    while end > 0 {
        if end < (STREAM_HEADER_LEN + FOOTER_LEN) as u64 {
            return Ok(None);
        }
        let footer: [u8; FOOTER_LEN] = bytes_at(file, end - FOOTER_LEN as u64)?;
        if footer[8..] == [0; 4] {
            padding += 4;
            if padding > MOST_PADDING {
                return Ok(None);
            }
            end -= 4;
            continue;
        }
        let Ok(len) = index_len_of(&footer) else { return Ok(None) };
        let Some(index_at) = end.checked_sub(FOOTER_LEN as u64 + len) else { return Ok(None) };
        let Some(index) = read_index(file, index_at, len, empty())? else { return Ok(None) };
        let before = index.records().padded().saturating_add(STREAM_HEADER_LEN as u64);
        let Some(start) = index_at.checked_sub(before) else { return Ok(None) };
        let header: [u8; STREAM_HEADER_LEN] = bytes_at(file, start)?;
        if !header.starts_with(&MAGIC) {
            return Ok(None);
        }
        any = true;
        each(start, &header, index);
        end = start;
    }
    Ok(any.then_some(padding))
}

/// Returns the blocks with contents as parts that can be decoded by themselves; `None` if there is no [`Survey`] or a
/// check is unknown. It moves the file's position.
///
/// # Errors
///
/// If the file cannot be read.
pub fn parts<F: Read + Seek>(file: &mut F) -> io::Result<Option<Vec<Part>>> {
    let mut streams = Vec::new();
    let padding = walk(file, Index::keeping, |start, header, index| {
        streams.push((start, parse_stream_header(header), index));
    })?;
    if padding.is_none() {
        return Ok(None);
    }
    let mut layout = Layout::default();
    for (stream, (start, check, index)) in (1..).zip(streams.into_iter().rev()) {
        let Ok(check) = check else { return Ok(None) };
        let mut at = start + STREAM_HEADER_LEN as u64;
        for (number, &(unpadded, uncompressed)) in (1..).zip(index.records().list()) {
            layout.push(
                Kind::XzBlock { check, stream },
                number,
                at,
                unpadded.next_multiple_of(4),
                uncompressed,
            );
            at += unpadded.next_multiple_of(4);
        }
    }
    Ok(layout.finish())
}

/// Reads the index of `len` bytes at byte `at` of the file.
fn read_index<F: Read + Seek>(
    file: &mut F,
    at: u64,
    len: u64,
    mut index: Index,
) -> io::Result<Option<Index>> {
    file.seek(SeekFrom::Start(at))?;
    let mut input = file.take(len);
    let mut bytes = Vec::new();
    loop {
        let before = bytes.len();
        input.by_ref().take(INPUT as u64).read_to_end(&mut bytes)?;
        let mut rest = &bytes[..];
        match index.read(&mut rest) {
            Ok(true) if rest.is_empty() && index.len == len => return Ok(Some(index)),
            Ok(false) if bytes.len() > before && rest.len() <= 2 * MAX_NUMBER_LEN => {}
            _ => return Ok(None),
        }
        bytes = rest.to_vec();
    }
}

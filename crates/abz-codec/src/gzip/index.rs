//! The index at the end of a file: the place of each member in the file, and of its contents.

use std::io::{self, Read, Seek, SeekFrom};

use libdeflater::crc32;

use super::error::IndexError;
use super::header::push_subfield;
use super::layout::Encoded;
use super::walk::{Entry, begins_marked, walk};
use super::{EMPTY_DEFLATE, Extent, Header, TRAILER_LEN, u32_at, u64_at};
use crate::glance::bytes_at;

/// The largest number of members that one part of the index describes: an extra field has at most 65,535 bytes (RFC
/// 1952, section 2.3.1.1). With the default block size a part follows every 7.8 GiB.
pub const PART_MEMBERS: usize = 8_000;

/// The letters of this crate's subfield; the [module's documentation](super) describes the format.
const ID: [u8; 2] = *b"AI";
/// The size in bytes of those fields that do not depend on the number of members: ordinal, checksum, size.
const FIXED_LEN: usize = 16;
/// The size of the entry of a member in bytes.
const ENTRY_LEN: usize = 8;
/// The length of the end of a part: its size (4 bytes), empty deflate data, a trailer of zeros.
const TAIL_LEN: usize = 4 + EMPTY_DEFLATE.len() + TRAILER_LEN;
/// The largest size of a part of the index, in bytes.
const MAX_PART_LEN: u64 = 66_000;

/// Collects the entries of the index while the members of a file are written.
#[derive(Debug, Default)]
pub(super) struct IndexBuilder {
    /// The number of members that earlier parts describe.
    first: u64,
    /// The compressed and uncompressed sizes of the members since then.
    sizes: Vec<(u32, u32)>,
    /// Whether a member stated that another one follows.
    wanted: bool,
}

impl IndexBuilder {
    /// Adds a member that was written. Returns the part of the index that must be written now, if there is one.
    pub(super) fn push(&mut self, member: &Encoded) -> Option<Vec<u8>> {
        self.wanted |= member.more;
        self.sizes.push((member.bytes.len() as u32, member.uncompressed));
        (self.wanted && self.sizes.len() == PART_MEMBERS).then(|| self.part(true))
    }

    /// Returns the last part, if the file has an index.
    pub(super) fn finish(&mut self) -> Option<Vec<u8>> {
        self.wanted.then(|| self.part(false))
    }

    fn part(&mut self, more: bool) -> Vec<u8> {
        let part = part(self.first, &self.sizes, more);
        self.first += self.sizes.len() as u64;
        self.sizes.clear();
        part
    }
}

/// Returns the empty member that carries a part of the index.
fn part(first: u64, sizes: &[(u32, u32)], more: bool) -> Vec<u8> {
    let member = |len: u32| {
        let mut extra = Vec::new();
        Extent { compressed: len, uncompressed: Some(0), more }.push_to(&mut extra);
        let mut data = first.to_le_bytes().to_vec();
        for (compressed, uncompressed) in sizes {
            data.extend(compressed.to_le_bytes());
            data.extend(uncompressed.to_le_bytes());
        }
        data.extend(crc32(&data).to_le_bytes());
        data.extend(len.to_le_bytes());
        push_subfield(&mut extra, ID, &data);

        let mut bytes = Vec::new();
        Header { extra, ..Header::default() }.write(&mut bytes);
        bytes.extend(EMPTY_DEFLATE);
        bytes.extend([0; TRAILER_LEN]);
        bytes
    };
    // The number that the member has in two places does not change its length.
    let len = member(0).len();
    member(len as u32)
}

/// The place of each member with contents of a file, as its index states it. The checksums of the index were verified,
/// and its sizes add up to the size of the file. The members may still contradict it: compare their sizes with the
/// index before you rely on either.
///
/// ```
/// use abz_codec::{Blocks, gzip};
/// use std::io::Cursor;
///
/// let mut encoder = gzip::Encoder::new(6).layout(gzip::Layout::Members);
/// let mut file = gzip::Writer::new(Vec::new(), gzip::Layout::Members);
/// for block in Blocks::new(&b"abcdefgh"[..], 3) {
///     file.write(&encoder.encode(&block?)?)?;
/// }
/// let index = gzip::Index::read(&mut Cursor::new(file.finish()?))?.expect("several blocks have an index");
/// assert_eq!(index.uncompressed(), 8);
/// assert_eq!(index.containing(4).map(|entry| (entry.start, entry.uncompressed)), Some((3, 3)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    entries: Vec<Entry>,
}

impl Index {
    /// Reads the index at the end of `file`; `None` if there is none, as in a file of one block or of another program.
    /// It moves the file's position.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or if a part of the index is damaged or contradicts the file; see [`IndexError`].
    /// Concatenated files are refused: the index at the end describes only the last one, so its members do not begin at
    /// the start of the file.
    pub fn read<F: Read + Seek>(file: &mut F) -> Result<Option<Index>, IndexError> {
        let mut end = file.seek(SeekFrom::End(0))?;
        let Some(last) = read_part(file, end)? else { return Ok(None) };
        // From the last part to the first: sizes with the members' ordinals falling, offsets not yet known.
        let mut parts = vec![last];
        loop {
            let part = parts.last().expect("it begins with one and grows");
            let members: u64 = part.sizes.iter().map(|&(compressed, _)| u64::from(compressed)).sum();
            let damaged = |expected, found| IndexError::Damaged { offset: part.offset, expected, found };
            let Some(begin) = part.offset.checked_sub(members) else {
                return Err(damaged("members of no more bytes than lie before it", members));
            };
            match (part.first, begin) {
                (0, 0) => break,
                (0, _) => return Err(damaged("the first member at byte 0 of the file", begin)),
                _ => {}
            }
            end = begin;
            let before = read_part(file, end)?
                .ok_or(damaged("an earlier part before its first member", part.first))?;
            if before.first.checked_add(before.sizes.len() as u64) != Some(part.first) {
                return Err(damaged("a first member that follows those of the earlier part", part.first));
            }
            parts.push(before);
        }

        let mut entries = Vec::with_capacity(parts.iter().map(|part| part.sizes.len()).sum());
        let (mut offset, mut start) = (0, 0);
        for part in parts.iter().rev() {
            for &(compressed, uncompressed) in &part.sizes {
                entries.push(Entry { offset, compressed, start, uncompressed });
                offset += u64::from(compressed);
                start += u64::from(uncompressed);
            }
            offset += part.len;
        }
        Ok(Some(Index { entries }))
    }

    /// Builds an index from the marks of `file`, if it consists of one member with marks, as an
    /// [`Encoder`](super::Encoder) usually makes, or of several. It moves the file's position.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn of_marks<F: Read + Seek>(file: &mut F) -> io::Result<Option<Index>> {
        match begins_marked(file)? {
            true => Index::of_members(file),
            false => Ok(None),
        }
    }

    /// Builds an index from the sizes that the members of `file`, or the marks in them, state; the end of the file
    /// needs no index. Members of BGZF state their sizes, too. Returns `None` if a member does not state its size, or
    /// if a check fails. It moves the file's position.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn of_members<F: Read + Seek>(file: &mut F) -> io::Result<Option<Index>> {
        let mut entries = Vec::new();
        let is_right = walk(file, |member| {
            if member.uncompressed > 0 {
                entries.push(member);
            }
        })?;
        Ok(is_right.then_some(Index { entries }))
    }

    /// Returns the members, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the size of the file's contents in bytes.
    pub fn uncompressed(&self) -> u64 {
        self.entries.last().map_or(0, |entry| entry.start + u64::from(entry.uncompressed))
    }

    /// Returns the member whose contents include the byte at `position` of the file's contents, if there is such a
    /// byte.
    pub fn containing(&self, position: u64) -> Option<&Entry> {
        let after = self.entries.partition_point(|entry| entry.start <= position);
        let entry = &self.entries[after.checked_sub(1)?];
        (position - entry.start < u64::from(entry.uncompressed)).then_some(entry)
    }
}

/// A part of the index that was read.
struct PartRead {
    offset: u64,
    len: u64,
    first: u64,
    sizes: Vec<(u32, u32)>,
}

/// Reads the part of the index that ends at byte `end` of the file; `None` if none ends there.
fn read_part<F: Read + Seek>(file: &mut F, end: u64) -> Result<Option<PartRead>, IndexError> {
    let Some(tail_at) = end.checked_sub(TAIL_LEN as u64) else { return Ok(None) };
    let tail: [u8; TAIL_LEN] = bytes_at(file, tail_at)?;
    let len = u64::from(u32_at(&tail, 0));
    if tail[4..6] != EMPTY_DEFLATE || tail[6..] != [0; TRAILER_LEN] || len > MAX_PART_LEN || len > end {
        return Ok(None);
    }
    let offset = end - len;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = vec![0; len as usize];
    file.read_exact(&mut bytes)?;
    let Ok(Some((header, header_len))) = Header::parse(&bytes) else { return Ok(None) };
    let Some((ID, data)) = header.subfields().last() else { return Ok(None) };

    let damaged = |expected, found| Err(IndexError::Damaged { offset, expected, found });
    if data.len() < FIXED_LEN || !(data.len() - FIXED_LEN).is_multiple_of(ENTRY_LEN) {
        return damaged("a table of 16 + 8n bytes", data.len() as u64);
    }
    if (header_len + EMPTY_DEFLATE.len() + TRAILER_LEN) as u64 != len {
        return damaged("a member without data of another length", len);
    }
    let (table, checksum_and_len) = data.split_at(data.len() - 8);
    if crc32(table) != u32_at(checksum_and_len, 0) {
        return damaged("a table with the CRC-32 that follows it", crc32(table).into());
    }
    let (first, sizes) = table.split_at(8);
    let sizes = sizes.chunks_exact(ENTRY_LEN).map(|entry| (u32_at(entry, 0), u32_at(entry, 4))).collect();
    Ok(Some(PartRead { offset, len, first: u64_at(first, 0), sizes }))
}

//! The size of a file's contents, found without decoding it.

use std::io::{self, Read, Seek, SeekFrom};

use super::header::{MAGIC, Trailer, dictionary};
use super::{EMPTY_LEN, HEADER_LEN, Strictness, TRAILER_LEN};
use crate::access::{Kind, Layout, Part};
use crate::glance::bytes_at;

/// The number and the size of the members of a file, as their trailers state them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The number of members.
    pub members: u64,
    /// The size of the contents in bytes, by the trailers.
    pub uncompressed: u64,
    /// The largest dictionary in bytes.
    pub dictionary: u32,
}

impl Survey {
    /// Reads the trailer and the header of each member of `file`, from the last to the first. Returns `None` if a check
    /// fails, or if other bytes follow the last member: only decoding tells the size then. It moves the file's
    /// position.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn of<F: Read + Seek>(file: &mut F) -> io::Result<Option<Survey>> {
        let mut survey = Survey::default();
        let is_right = walk(file, |member| {
            survey.members += 1;
            survey.uncompressed += member.uncompressed;
            survey.dictionary = survey.dictionary.max(member.dictionary);
        })?;
        Ok(is_right.then_some(survey))
    }
}

/// The members of a file and the number of bytes behind the last one, as `lzip -l` lists them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The members, in order.
    pub members: Vec<Extent>,
    /// The number of bytes behind the last member.
    pub trailing: u64,
}

impl Contents {
    /// Finds the members as [`Survey::of`] does, but looks for the last member in front of other bytes. Returns `None`
    /// also if these bytes look like a member that is cut, or damaged according to `strictness`.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn of<F: Read + Seek>(file: &mut F, strictness: Strictness) -> io::Result<Option<Contents>> {
        let size = file.seek(SeekFrom::End(0))?;
        let Some(end) = last_end(file, size)? else { return Ok(None) };
        let mut behind = Vec::new();
        file.seek(SeekFrom::Start(end))?;
        file.take(MAGIC.len() as u64).read_to_end(&mut behind)?;
        let alike = behind.iter().zip(MAGIC).filter(|(found, magic)| *found == magic).count();
        let is_cut = !behind.is_empty() && alike == behind.len();
        let is_damaged = behind.len() == MAGIC.len() && alike > 1 && !strictness.loose_trailing;
        let mut members = Vec::new();
        if is_cut || is_damaged || !walk_from(file, end, |member| members.push(member))? {
            return Ok(None);
        }
        members.reverse();
        Ok(Some(Contents { members, trailing: size - end }))
    }
}

/// Returns the offset at which the last member of a file of `size` bytes ends: no member ends behind it.
fn last_end<F: Read + Seek>(file: &mut F, size: u64) -> io::Result<Option<u64>> {
    /// The number of bytes that are searched at once.
    const LOOK: u64 = 64 << 10;
    // A file that does not begin with a member has none.
    if size < EMPTY_LEN as u64 || header_at(file, 0)?.is_none() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let mut end = size;
    while end >= EMPTY_LEN as u64 {
        let start = end.saturating_sub(LOOK);
        // The number of a member that ends at `start` lies in the part that was searched, or in the next one.
        let from = start.saturating_sub(size_of::<u64>() as u64);
        bytes.resize((end - from) as usize, 0);
        file.seek(SeekFrom::Start(from))?;
        file.read_exact(&mut bytes)?;
        for (at, number) in bytes.windows(size_of::<u64>()).enumerate().rev() {
            let behind = from + (at + number.len()) as u64;
            let len = u64::from_le_bytes(number.try_into().expect("it has eight bytes"));
            if (EMPTY_LEN as u64..=behind).contains(&len) && header_at(file, behind - len)?.is_some() {
                return Ok(Some(behind));
            }
        }
        end = start;
    }
    Ok(None)
}

/// Returns the dictionary size of the member that begins at `offset`, if one does.
fn header_at<F: Read + Seek>(file: &mut F, offset: u64) -> io::Result<Option<u32>> {
    let header: [u8; HEADER_LEN] = bytes_at(file, offset)?;
    Ok(dictionary(&header).ok().filter(|_| header.starts_with(&MAGIC)))
}

/// The place of a member, by its trailer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The offset of the member's first byte in the file.
    pub offset: u64,
    /// The size of the member in bytes.
    pub compressed: u64,
    /// The size of the member's contents in bytes.
    pub uncompressed: u64,
    /// The size of the member's dictionary in bytes.
    pub dictionary: u32,
}

/// Calls `each` with every member of a file, from the last to the first. The sum of their sizes does not overflow.
/// Returns `false` if a check fails, or if there is no member.
fn walk<F: Read + Seek>(file: &mut F, each: impl FnMut(Extent)) -> io::Result<bool> {
    let end = file.seek(SeekFrom::End(0))?;
    walk_from(file, end, each)
}

/// Does the same for the members that end at or before byte `end`.
fn walk_from<F: Read + Seek>(file: &mut F, mut end: u64, mut each: impl FnMut(Extent)) -> io::Result<bool> {
    let (mut contents, mut any) = (0u64, false);
    while end > 0 {
        if end < EMPTY_LEN as u64 {
            return Ok(false);
        }
        let trailer = Trailer::read(&bytes_at(file, end - TRAILER_LEN as u64)?);
        if !(EMPTY_LEN as u64..=end).contains(&trailer.member_size) {
            return Ok(false);
        }
        end -= trailer.member_size;
        let Some(dictionary) = header_at(file, end)? else { return Ok(false) };
        let Some(sum) = contents.checked_add(trailer.data_size) else { return Ok(false) };
        contents = sum;
        any = true;
        each(Extent {
            offset: end,
            compressed: trailer.member_size,
            uncompressed: trailer.data_size,
            dictionary,
        });
    }
    Ok(any)
}

/// Returns the members with contents as parts that can be decoded by themselves; `None` if there is no [`Survey`]. It
/// moves the file's position.
///
/// # Errors
///
/// If the file cannot be read.
pub fn parts<F: Read + Seek>(file: &mut F) -> io::Result<Option<Vec<Part>>> {
    let mut parts = Vec::new();
    if !walk(file, |member| parts.push(member))? {
        return Ok(None);
    }
    let mut layout = Layout::default();
    for (number, member) in (1..).zip(parts.into_iter().rev()) {
        layout.push(Kind::LzipMember, number, member.offset, member.compressed, member.uncompressed);
    }
    Ok(layout.finish())
}

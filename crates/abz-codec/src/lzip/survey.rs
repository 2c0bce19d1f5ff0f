//! The size of a file's contents, found without decoding them.

use std::io::{self, Read, Seek, SeekFrom};

use super::header::{MAGIC, Trailer, dictionary};
use super::{EMPTY_LEN, HEADER_LEN, Strictness, TRAILER_LEN};
use crate::access::{Kind, Layout, Part};
use crate::glance::bytes_at;

/// What the members of a file say of themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Members.
    pub members: u64,
    /// The size of the contents in bytes, by the trailers.
    pub uncompressed: u64,
    /// The largest dictionary in bytes.
    pub dictionary: u32,
}

impl Survey {
    /// Goes from member to member of `file`, from its end, and reads its trailer and header, nothing else; `None` if
    /// something is not as it should be, or lies behind the last member: then the file must be decoded to know. It moves
    /// the file's position.
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

/// What a file is made of, as `lzip -l` finds it: the members, and how many bytes lie behind the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The members, in order.
    pub members: Vec<Extent>,
    /// Bytes behind the last member.
    pub trailing: u64,
}

impl Contents {
    /// As [`Survey::of`], and looks, before what lies behind it, for the last member. `None` also if that looks like a member
    /// which is cut, or damaged, as far as `strictness` says so.
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

/// Where the last member of a file of so many bytes ends: the last place behind which no member ends.
fn last_end<F: Read + Seek>(file: &mut F, size: u64) -> io::Result<Option<u64>> {
    /// How many bytes are looked through at once.
    const LOOK: u64 = 64 << 10;
    // What does not begin as a member has none.
    if size < EMPTY_LEN as u64 || header_at(file, 0)?.is_none() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let mut end = size;
    while end >= EMPTY_LEN as u64 {
        let start = end.saturating_sub(LOOK);
        // The number of a member that ends at `start` was looked at, or will be.
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

/// The dictionary of the member that begins at `offset`, if one does.
fn header_at<F: Read + Seek>(file: &mut F, offset: u64) -> io::Result<Option<u32>> {
    let header: [u8; HEADER_LEN] = bytes_at(file, offset)?;
    Ok(dictionary(&header).ok().filter(|_| header.starts_with(&MAGIC)))
}

/// Where a member lies, as its trailer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The offset of its first byte in the file.
    pub offset: u64,
    /// Its size in bytes.
    pub compressed: u64,
    /// The size of its contents in bytes.
    pub uncompressed: u64,
    /// Its dictionary in bytes.
    pub dictionary: u32,
}

/// Tells `each` of every member of a file, from the last to the first, whose sizes do not overflow together; false if
/// something is not as it should be, or there is none.
fn walk<F: Read + Seek>(file: &mut F, each: impl FnMut(Extent)) -> io::Result<bool> {
    let end = file.seek(SeekFrom::End(0))?;
    walk_from(file, end, each)
}

/// The same of the members that end at `end`.
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

/// The members of a file as parts that can be decoded each by itself, those with contents; `None` where there is no
/// [`Survey`].
/// It moves the file's position.
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

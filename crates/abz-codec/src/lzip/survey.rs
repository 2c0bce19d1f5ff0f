//! The size of a file's contents, found without decoding them.

use std::io::{self, Read, Seek, SeekFrom};

use super::header::{MAGIC, Trailer, dictionary};
use super::{EMPTY_LEN, HEADER_LEN, TRAILER_LEN};
use crate::access::{Kind, Layout, Part};

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

/// Where a member lies, as its trailer says.
struct Extent {
    offset: u64,
    compressed: u64,
    uncompressed: u64,
    dictionary: u32,
}

/// Tells `each` of every member of a file, from the last to the first, whose sizes do not overflow together; false if
/// something is not as it should be, or there is none.
fn walk<F: Read + Seek>(file: &mut F, mut each: impl FnMut(Extent)) -> io::Result<bool> {
    let mut end = file.seek(SeekFrom::End(0))?;
    let (mut contents, mut any) = (0u64, false);
    while end > 0 {
        if end < EMPTY_LEN as u64 {
            return Ok(false);
        }
        let mut trailer = [0; TRAILER_LEN];
        file.seek(SeekFrom::Start(end - TRAILER_LEN as u64))?;
        file.read_exact(&mut trailer)?;
        let trailer = Trailer::read(&trailer);
        if !(EMPTY_LEN as u64..=end).contains(&trailer.member_size) {
            return Ok(false);
        }
        end -= trailer.member_size;
        let mut header = [0; HEADER_LEN];
        file.seek(SeekFrom::Start(end))?;
        file.read_exact(&mut header)?;
        let Ok(dictionary) = dictionary(&header) else { return Ok(false) };
        let Some(sum) = contents.checked_add(trailer.data_size) else { return Ok(false) };
        if !header.starts_with(&MAGIC) {
            return Ok(false);
        }
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
pub(crate) fn parts<F: Read + Seek>(file: &mut F) -> io::Result<Option<Vec<Part>>> {
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

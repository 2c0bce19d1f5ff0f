//! The size of a file's contents, found without decoding them.

use std::io::{self, Read, Seek, SeekFrom};

use super::{EMPTY_DEFLATE, Entry, HEADER_LIMIT, Header, Index, IndexError, TRAILER_LEN, u32_at};
use crate::access::{Kind, Layout, Part};

/// What the members of a file say of themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Members with contents.
    pub members: u64,
    /// The size of the contents in bytes, by headers and trailers.
    pub uncompressed: u64,
}

impl Survey {
    /// Goes from member to member of `file` and reads its header and trailer, nothing else; `None` if a member
    /// does not say where it ends, or something is not as it should be: then the file must be decoded to know.
    /// The index at the end of a file is not asked, so it cannot lie here. It moves the file's position.
    ///
    /// ```
    /// use abz_codec::gzip::{Encoder, MemberWriter, Survey};
    /// use abz_codec::Blocks;
    /// use std::io::Cursor;
    ///
    /// let mut encoder = Encoder::new(6);
    /// let mut file = MemberWriter::new(Vec::new());
    /// for block in Blocks::new(&b"abcdefgh"[..], 3) {
    ///     file.write(&encoder.encode(&block?))?;
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

/// Tells `each` of every member of a file, the empty ones too; false if a member does not say where it ends, or something
/// is not as it should be.
pub(super) fn walk<F: Read + Seek>(file: &mut F, mut each: impl FnMut(Entry)) -> io::Result<bool> {
    let end = file.seek(SeekFrom::End(0))?;
    let (mut offset, mut start, mut expects_more) = (0, 0, true);
    while offset < end {
        let Some((header, header_len)) = read_header(file, offset)? else { return Ok(false) };
        let Some(extent) = header.extent() else { return Ok(false) };
        let compressed = extent.compressed;
        let len = u64::from(compressed);
        if len < (header_len + EMPTY_DEFLATE.len() + TRAILER_LEN) as u64 || len > end - offset {
            return Ok(false);
        }
        let mut size = [0; 4];
        file.seek(SeekFrom::Start(offset + len - 4))?;
        file.read_exact(&mut size)?;
        let uncompressed = u32_at(&size, 0);
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

/// The header at byte `at`, with its length.
fn read_header<F: Read + Seek>(file: &mut F, at: u64) -> io::Result<Option<(Header, usize)>> {
    let mut bytes = Vec::new();
    // Headers of members that say where they end are short, but for a long name or a part of the index.
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

/// The members of a file as parts that can be decoded each by itself, those with contents, as the index at its end says,
/// or the members themselves if there is none; `None` where neither can be.
pub(crate) fn parts<F: Read + Seek>(file: &mut F) -> io::Result<Option<Vec<Part>>> {
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

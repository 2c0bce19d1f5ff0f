//! The size of a file's contents, found without decoding them.

use std::io::{self, Read, Seek, SeekFrom};

use super::{EMPTY_DEFLATE, HEADER_LIMIT, Header, TRAILER_LEN, u32_at};

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
        let end = file.seek(SeekFrom::End(0))?;
        let mut survey = Survey::default();
        let (mut at, mut expects_more) = (0, true);
        while at < end {
            let Some((header, header_len)) = read_header(file, at)? else { return Ok(None) };
            let Some(extent) = header.extent() else { return Ok(None) };
            let len = u64::from(extent.compressed);
            if len < (header_len + EMPTY_DEFLATE.len() + TRAILER_LEN) as u64 || len > end - at {
                return Ok(None);
            }
            let mut size = [0; 4];
            file.seek(SeekFrom::Start(at + len - 4))?;
            file.read_exact(&mut size)?;
            let size = u32_at(&size, 0);
            if extent.uncompressed.is_some_and(|said| said != size) {
                return Ok(None);
            }
            survey.members += u64::from(size > 0);
            survey.uncompressed += u64::from(size);
            expects_more = extent.more;
            at += len;
        }
        Ok((!expects_more).then_some(survey))
    }
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

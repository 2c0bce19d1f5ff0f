//! The size of a file's contents, found without decoding them.

use std::io::{self, Read, Seek, SeekFrom};

use super::header::{MAGIC, Trailer, dictionary};
use super::{EMPTY_LEN, HEADER_LEN, TRAILER_LEN};

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
        let mut end = file.seek(SeekFrom::End(0))?;
        let mut survey = Survey::default();
        while end > 0 {
            if end < EMPTY_LEN as u64 {
                return Ok(None);
            }
            let mut trailer = [0; TRAILER_LEN];
            file.seek(SeekFrom::Start(end - TRAILER_LEN as u64))?;
            file.read_exact(&mut trailer)?;
            let trailer = Trailer::read(&trailer);
            if !(EMPTY_LEN as u64..=end).contains(&trailer.member_size) {
                return Ok(None);
            }
            end -= trailer.member_size;
            let mut header = [0; HEADER_LEN];
            file.seek(SeekFrom::Start(end))?;
            file.read_exact(&mut header)?;
            let Ok(dictionary) = dictionary(&header) else { return Ok(None) };
            let Some(uncompressed) = survey.uncompressed.checked_add(trailer.data_size) else {
                return Ok(None);
            };
            if !header.starts_with(&MAGIC) {
                return Ok(None);
            }
            survey.members += 1;
            survey.uncompressed = uncompressed;
            survey.dictionary = survey.dictionary.max(dictionary);
        }
        Ok((survey.members > 0).then_some(survey))
    }
}

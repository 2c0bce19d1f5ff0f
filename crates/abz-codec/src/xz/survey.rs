//! The size of a file's contents, found without decoding them.

use std::io::{self, Read, Seek, SeekFrom};

use super::header::{FOOTER_LEN, MAGIC, MAX_NUMBER_LEN, STREAM_HEADER_LEN, index_len_of};
use super::index::Index;

/// How much is read at once, in bytes.
const INPUT: usize = 64 * 1024;

/// How much padding is looked through, in bytes.
const MOST_PADDING: u64 = 64 * 1024;

/// What the indices of a file say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Streams.
    pub streams: u64,
    /// Blocks of all streams.
    pub blocks: u64,
    /// The size of the contents in bytes.
    pub uncompressed: u64,
}

impl Survey {
    /// Goes from stream to stream of `file`, from its end, and reads its index, nothing else; `None` if something is not
    /// as it should be, or the file is one of `.lzma`: then it must be decoded to know. It moves the file's position.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn of<F: Read + Seek>(file: &mut F) -> io::Result<Option<Survey>> {
        let mut end = file.seek(SeekFrom::End(0))?;
        let (mut survey, mut padding) = (Survey::default(), 0);
        while end > 0 {
            if end < (STREAM_HEADER_LEN + FOOTER_LEN) as u64 {
                return Ok(None);
            }
            let mut footer = [0; FOOTER_LEN];
            file.seek(SeekFrom::Start(end - FOOTER_LEN as u64))?;
            file.read_exact(&mut footer)?;
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
            let Some(index) = read_index(file, index_at, len)? else { return Ok(None) };
            let records = index.records();
            let before = records.padded().saturating_add(STREAM_HEADER_LEN as u64);
            let Some(start) = index_at.checked_sub(before) else {
                return Ok(None);
            };
            let mut magic = [0; MAGIC.len()];
            file.seek(SeekFrom::Start(start))?;
            file.read_exact(&mut magic)?;
            if magic != MAGIC {
                return Ok(None);
            }
            survey.streams += 1;
            survey.blocks += records.count();
            survey.uncompressed = survey.uncompressed.saturating_add(records.uncompressed());
            end = start;
        }
        Ok((survey.streams > 0).then_some(survey))
    }
}

/// The index of `len` bytes at a place.
fn read_index<F: Read + Seek>(file: &mut F, at: u64, len: u64) -> io::Result<Option<Index>> {
    file.seek(SeekFrom::Start(at))?;
    let mut input = file.take(len);
    let (mut index, mut bytes) = (Index::default(), Vec::new());
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

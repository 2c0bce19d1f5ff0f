//! The size of a file's contents, found without decoding them.

use std::io::{self, Read, Seek, SeekFrom};

use super::header::BlockHeader;
use super::{BLOCK_HEADER, CHECKSUM, FrameHeader, MAGIC, SKIPPABLE_HEADER, is_skippable, u32_at};

/// What the frames of a file say of themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Frames, without skippable ones.
    pub frames: u64,
    /// The size of the contents in bytes, by the headers.
    pub uncompressed: u64,
    /// Every frame ends with a checksum.
    pub checksums: bool,
}

impl Survey {
    /// Goes from block to block of `file` and reads their headers, nothing else; `None` if a frame does not say how
    /// large its contents are, or something is not as it should be: then the file must be decoded to know. The table
    /// of the seekable format is not asked, so it cannot lie here. It moves the file's position.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn of<F: Read + Seek>(file: &mut F) -> io::Result<Option<Survey>> {
        let end = file.seek(SeekFrom::End(0))?;
        let mut survey = Survey { checksums: true, ..Survey::default() };
        let (mut at, mut start) = (0, Vec::new());
        while at < end {
            read_at(file, at, FrameHeader::MAX_LEN, &mut start)?;
            if start.len() >= SKIPPABLE_HEADER && is_skippable(&start[..4]) {
                at += SKIPPABLE_HEADER as u64 + u64::from(u32_at(&start, 4));
                continue;
            }
            if !start.starts_with(&MAGIC) {
                return Ok(None);
            }
            let Ok(Some((header, len))) = FrameHeader::parse(&start) else { return Ok(None) };
            let Some(contents) = header.contents else { return Ok(None) };
            at += len as u64;
            loop {
                read_at(file, at, BLOCK_HEADER, &mut start)?;
                let Some(&block) = start.first_chunk() else { return Ok(None) };
                let Ok(block) = BlockHeader::parse(block, &header) else { return Ok(None) };
                at += (BLOCK_HEADER + block.len) as u64;
                if block.is_last {
                    break;
                }
            }
            at += (CHECKSUM * usize::from(header.checksum)) as u64;
            survey.frames += 1;
            survey.checksums &= header.checksum;
            let Some(sum) = survey.uncompressed.checked_add(contents) else { return Ok(None) };
            survey.uncompressed = sum;
        }
        Ok((at == end && end > 0).then_some(survey))
    }
}

/// Reads up to `len` bytes at `at`.
fn read_at<F: Read + Seek>(file: &mut F, at: u64, len: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.clear();
    file.seek(SeekFrom::Start(at))?;
    file.take(len as u64).read_to_end(bytes).map(drop)
}

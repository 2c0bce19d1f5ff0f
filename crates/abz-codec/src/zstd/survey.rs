//! The size of a file's contents, found without decoding them.

use std::io::{self, Read, Seek, SeekFrom};

use super::header::BlockHeader;
use super::mark::{GROUP, MARK_LEN, Mark};
use super::{
    BLOCK_HEADER, CHECKSUM, FrameHeader, MAGIC, SKIPPABLE_HEADER, SeekError, SeekTable, is_skippable, u32_at,
};
use crate::access::{Kind, Layout, Part};

/// What the frames of a file say of themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Frames, without skippable ones.
    pub frames: u64,
    /// Skippable frames.
    pub skippable: u64,
    /// The size of the contents in bytes, by the headers or the marks of pieces; `None` if one does not say it: then the file must be decoded to know.
    pub uncompressed: Option<u64>,
    /// Every frame ends with a checksum.
    pub checksums: bool,
}

impl Survey {
    /// Goes from block to block of `file` and reads their headers, nothing else; `None` if something is not as it should be. The table
    /// of the seekable format is not asked, so it cannot lie here. It moves the file's position.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn of<F: Read + Seek>(file: &mut F) -> io::Result<Option<Survey>> {
        let mut survey = Survey { checksums: true, ..Survey::default() };
        let mut sum = Some(0u64);
        let skippable = walk(file, |frame| {
            survey.frames += 1;
            survey.checksums &= frame.header.checksum;
            sum = sum.zip(frame.contents()).and_then(|(sum, contents)| sum.checked_add(contents));
            true
        })?;
        Ok(skippable.map(|skippable| Survey { skippable, uncompressed: sum, ..survey }))
    }
}

/// Where a frame lies, as its blocks say.
struct Extent {
    offset: u64,
    len: u64,
    header: FrameHeader,
    /// The most contents that its blocks can have.
    most: u64,
    /// Its pieces: the offset of each, its size with its mark, and that of its contents. There are none if anything of the
    /// frame is not in a piece.
    pieces: Vec<(u64, u64, u64)>,
}

impl Extent {
    /// The size of the contents, by the header or the marks.
    fn contents(&self) -> Option<u64> {
        let sum = || self.pieces.iter().map(|(_, _, contents)| contents).sum();
        self.header.contents.or_else(|| (!self.pieces.is_empty()).then(sum))
    }
}

/// Tells `each` of every frame of a file, and gives how many skippable ones there are; `None` if `each` had enough, or
/// something is not as it should be.
fn walk<F: Read + Seek>(file: &mut F, mut each: impl FnMut(Extent) -> bool) -> io::Result<Option<u64>> {
    let end = file.seek(SeekFrom::End(0))?;
    let (mut at, mut start, mut skippable) = (0, Vec::new(), 0);
    while at < end {
        read_at(file, at, FrameHeader::MAX_LEN, &mut start)?;
        if start.len() >= SKIPPABLE_HEADER && is_skippable(&start[..4]) {
            at += SKIPPABLE_HEADER as u64 + u64::from(u32_at(&start, 4));
            skippable += 1;
            continue;
        }
        if !start.starts_with(&MAGIC) {
            return Ok(None);
        }
        let Ok(Some((header, len))) = FrameHeader::parse(&start) else { return Ok(None) };
        let Some(extent) = walk_frame(file, (at, len), header)? else { return Ok(None) };
        at += extent.len;
        if !each(extent) {
            return Ok(None);
        }
    }
    Ok((at == end && end > 0).then_some(skippable))
}

/// Goes from block to block of the frame at `offset`, whose header has so many bytes, and from mark to mark.
fn walk_frame<F: Read + Seek>(
    file: &mut F,
    (offset, header_len): (u64, usize),
    header: FrameHeader,
) -> io::Result<Option<Extent>> {
    let mut at = offset + header_len as u64;
    let (mut most, mut pieces, mut is_in_pieces, mut start) = (0, Vec::new(), true, Vec::new());
    loop {
        read_at(file, at, BLOCK_HEADER, &mut start)?;
        if start == GROUP {
            read_at(file, at, MARK_LEN, &mut start)?;
            let mark = Mark::parse(&start);
            match mark {
                Some(Mark::Piece(piece)) => {
                    let len = MARK_LEN as u64 + u64::from(piece.compressed);
                    pieces.push((at, len, u64::from(piece.contents)));
                    most += u64::from(piece.contents);
                    at += len;
                }
                Some(Mark::End(_)) => at += MARK_LEN as u64,
                None => {}
            }
            if mark.is_some() {
                continue;
            }
        }
        let Some(&block) = start.first_chunk() else { return Ok(None) };
        let Ok(block) = BlockHeader::parse(block, &header) else { return Ok(None) };
        at += (BLOCK_HEADER + block.len) as u64;
        most += block.most as u64;
        is_in_pieces &= block.most == 0;
        if block.is_last {
            break;
        }
    }
    at += (CHECKSUM * usize::from(header.checksum)) as u64;
    if !is_in_pieces {
        pieces.clear();
    }
    Ok(Some(Extent { offset, len: at - offset, header, most, pieces }))
}

/// The frames of a file and the pieces of frames as parts that can be decoded each by itself, those with contents, as the table
/// at its end says, or the frames themselves if there is none; `None` where there is neither.
/// It moves the file's position.
///
/// # Errors
///
/// If the file cannot be read.
pub fn parts<F: Read + Seek>(file: &mut F) -> io::Result<Option<Vec<Part>>> {
    let mut layout = Layout::default();
    match SeekTable::read(file) {
        Ok(Some(table)) => {
            let mut at = 0;
            for (number, entry) in (1..).zip(table.entries()) {
                layout.push(Kind::ZstdFrame, number, at, entry.compressed.into(), entry.contents.into());
                at += u64::from(entry.compressed);
            }
            Ok(layout.finish())
        }
        Err(SeekError::Io(error)) => Err(error),
        Ok(None) | Err(SeekError::Damaged { .. }) => {
            let mut number = 0;
            let skippable = walk(file, |extent| {
                number += 1;
                for &(offset, len, contents) in &extent.pieces {
                    layout.push(Kind::ZstdPiece, number, offset, len, contents);
                }
                let contents = extent.contents();
                if extent.pieces.is_empty() {
                    layout.push(Kind::ZstdFrame, number, extent.offset, extent.len, contents.unwrap_or(0));
                }
                contents.is_some()
            })?;
            Ok(if skippable.is_some() { layout.finish() } else { None })
        }
    }
}

/// The frames of a file of zstd as parts that can be decoded each by itself, whether or not they say how large their
/// contents are. Those of each part begin at 0, and end where they do at most. `None` if something is not as it should be. It
/// moves the file's position.
///
/// # Errors
///
/// If the file cannot be read.
pub fn frames<F: Read + Seek>(file: &mut F) -> io::Result<Option<Vec<Part>>> {
    let mut parts: Vec<Part> = Vec::new();
    let skippable = walk(file, |Extent { offset, len, most, .. }| {
        let number = parts.len() as u64 + 1;
        let bits = 8 * offset..8 * (offset + len);
        parts.push(Part { kind: Kind::ZstdFrame, number, bits, contents: 0..most, known: None });
        true
    })?;
    Ok(skippable.map(|_| parts))
}

/// Reads up to `len` bytes at `at`.
fn read_at<F: Read + Seek>(file: &mut F, at: u64, len: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.clear();
    file.seek(SeekFrom::Start(at))?;
    file.take(len as u64).read_to_end(bytes).map(drop)
}

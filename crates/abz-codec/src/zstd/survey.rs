//! The size of a file's contents, found without decoding it.

use std::io::{self, Read, Seek, SeekFrom};

use super::header::BlockHeader;
use super::mark::{GROUP, MARK_LEN, Mark};
use super::{
    BLOCK_HEADER, CHECKSUM, FrameHeader, MAGIC, SKIPPABLE_HEADER, SeekError, SeekTable, is_skippable, u32_at,
};
use crate::access::{Kind, Layout, Part};

/// The number and the size of the frames of a file, as they state them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The number of frames, without skippable ones.
    pub frames: u64,
    /// The number of skippable frames.
    pub skippable: u64,
    /// The size of the contents in bytes, by the headers or the marks of pieces; `None` if a frame does not state it,
    /// so that only decoding tells it.
    pub uncompressed: Option<u64>,
    /// Whether every frame ends with a checksum.
    pub checksums: bool,
}

impl Survey {
    /// Reads the header of each block of `file`; `None` if a check fails. The table of the seekable format is not used.
    /// It moves the file's position.
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

/// The place of a frame, found by its blocks.
struct Extent {
    offset: u64,
    len: u64,
    header: FrameHeader,
    /// The largest contents that its blocks can have, in bytes.
    most: u64,
    /// The offset of each piece, its size with its mark, and the size of its contents. Empty if any block of the frame
    /// is not in a piece.
    pieces: Vec<(u64, u64, u64)>,
}

impl Extent {
    /// Returns the size of the contents in bytes, by the header or the marks.
    fn contents(&self) -> Option<u64> {
        let sum = || self.pieces.iter().map(|(_, _, contents)| contents).sum();
        self.header.contents.or_else(|| (!self.pieces.is_empty()).then(sum))
    }
}

/// Calls `each` with every frame of a file. Returns the number of skippable frames, or `None` if `each` returned
/// `false` or a check fails.
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

/// Goes from block to block, and from mark to mark, of the frame at byte `offset`, whose header has `header_len` bytes.
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

/// Returns the frames with contents, or the pieces of frames, as parts that can be decoded by themselves. They come
/// from the table at the end of the file, or from the frames themselves if there is none; `None` if neither gives them.
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

/// Returns the frames of a zstd file as parts that can be decoded by themselves, even if they do not state the size of
/// their contents. The contents of each part begin at 0, and end at the largest possible size. `None` if a check fails.
/// It moves the file's position.
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

/// Reads up to `len` bytes at byte `at` of the file.
fn read_at<F: Read + Seek>(file: &mut F, at: u64, len: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.clear();
    file.seek(SeekFrom::Start(at))?;
    file.take(len as u64).read_to_end(bytes).map(drop)
}

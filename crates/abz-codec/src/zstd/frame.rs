//! Whole frames, and pieces of frames that are converted to frames.

use crc32fast::Hasher;

use super::error::{DecodeError, Fault};
use super::header::{BlockHeader, FrameHeader};
use super::mark::{self, MARK_LEN, Mark};
use super::{BLOCK_HEADER, LAST_BLOCK, MAX_BLOCK};
use crate::damage::Place;

/// A whole frame, or a [piece](super) of one that was converted to a frame, and its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    pub(super) number: u64,
    /// The offset in the file of the first byte of the frame; for a piece, of the frame that it is from.
    pub(super) start: u64,
    /// The offset in the file of the first byte of `bytes[from..]`. The header of a converted piece overwrites the end
    /// of its mark.
    pub(super) at: u64,
    pub(super) bytes: Vec<u8>,
    /// The index in `bytes` at which the frame begins.
    pub(super) from: usize,
    /// The largest size that the contents can have, in bytes.
    pub(super) most: usize,
    /// For a piece, the CRC-32 of its contents.
    pub(super) piece: Option<u32>,
}

impl Frame {
    /// Returns the offset of the frame's first byte in the file.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Returns the frame as the place of a fault.
    pub(super) fn place(&self) -> Place {
        Place::Frame { number: self.number, start: self.start }
    }

    /// Returns the bytes of the frame, or of a frame with the contents of the piece.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.from..]
    }
}

/// The sum of the pieces of a frame so far.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    contents: u64,
    crc: Hasher,
    /// The size in bytes that no piece's contents exceed, from the first mark.
    most: u32,
}

impl Pieces {
    /// Creates the empty sum for a frame whose first piece is `first`.
    pub(super) fn of_a_frame_with(first: &mark::Piece) -> Self {
        Pieces { most: first.most, ..Pieces::default() }
    }

    /// Returns whether the mark of a piece is plausible in a frame with this header.
    pub(super) fn may_have(&self, piece: &mark::Piece, header: &FrameHeader) -> bool {
        let contents = self.contents + u64::from(piece.contents);
        header.contents.is_none_or(|said| contents <= said)
            && piece.most == self.most
            && u64::from(piece.compressed) <= most_compressed(piece.contents.into())
    }

    pub(super) fn add(&mut self, piece: &mark::Piece) {
        self.contents += u64::from(piece.contents);
        self.crc.combine(&Hasher::new_with_initial_len(piece.crc32, piece.contents.into()));
    }

    /// Returns whether the pieces match the last mark of a frame.
    pub(super) fn are(&self, end: &mark::End) -> bool {
        self.contents == end.contents && self.crc.clone().finalize() == end.crc32
    }
}

/// Returns the largest size of encoded blocks with `contents` bytes of contents, in bytes, however many blocks there
/// are.
pub(super) fn most_compressed(contents: u64) -> u64 {
    contents + contents / 8 + 1024
}

/// Returns the header of the frame that a piece is converted to, and its bytes.
pub(super) fn header_of(piece: &mark::Piece) -> (FrameHeader, Vec<u8>) {
    let window = piece.contents.max(MAX_BLOCK as u32).into();
    let header =
        FrameHeader { window, contents: Some(piece.contents.into()), dictionary: 0, checksum: false };
    let mut head = Vec::new();
    header.write(&mut head);
    (header, head)
}

/// Converts a piece to a frame. `bytes` begin with the mark of the piece, which is at byte `offset` of the file, in the
/// frame with that number and start.
pub(super) fn as_frame(
    mut bytes: Vec<u8>,
    piece: mark::Piece,
    (number, start): (u64, u64),
    (offset, header): (u64, &FrameHeader),
) -> Result<Frame, DecodeError> {
    let (mut at, place) = (MARK_LEN, Place::Frame { number, start });
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let fault = |expected| {
            let fault = Fault::Header { expected };
            DecodeError::new(place, offset + at as u64, fault)
        };
        let block = BlockHeader::parse(*block, header).map_err(fault)?;
        if block.is_last {
            return Err(fault("a piece of a frame without the frame's last block"));
        }
        at += BLOCK_HEADER + block.len;
    }
    if at != bytes.len() {
        let fault = Fault::Header { expected: "blocks of the size in their mark" };
        return Err(DecodeError::new(place, offset, fault));
    }
    bytes.extend(LAST_BLOCK);
    let most = piece.contents as usize;
    let (_, head) = header_of(&piece);
    let from = MARK_LEN - head.len();
    bytes[from..MARK_LEN].copy_from_slice(&head);
    Ok(Frame { number, start, at: offset + from as u64, bytes, from, most, piece: Some(piece.crc32) })
}

/// Converts a piece to a frame. `bytes` begin with the mark of the piece, which is at byte `offset` of the file, in the
/// frame with that number. Returns `None` if there is no mark, or if the size differs.
pub(crate) fn piece(bytes: &[u8], number: u64, offset: u64) -> Option<Result<Frame, DecodeError>> {
    let Some(Mark::Piece(piece)) = Mark::parse(bytes) else { return None };
    let has_size = MARK_LEN + piece.compressed as usize == bytes.len();
    let header = FrameHeader { window: MAX_BLOCK as u64, contents: None, dictionary: 0, checksum: false };
    has_size.then(|| as_frame(bytes.to_vec(), piece, (number, offset), (offset, &header)))
}

//! A member in the form that it has in the file, or a part of one that is decoded already.

use super::mark::Mark;
use super::{TRAILER_LEN, u32_at};

/// A whole member, or a whole block of one that has [marks](super), still compressed.
/// [`Decoder::decode`](super::Decoder::decode) decodes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The number of the member, counted from 1.
    pub(super) number: u64,
    /// The offset of the first byte in the file.
    pub(super) start: u64,
    /// The index in `bytes` at which the deflate data begins. At least the bytes of a trailer follow it.
    pub(super) header_len: usize,
    /// The header, the deflate data and the trailer, if the header is right about their size. For a block, its mark,
    /// its deflate data, and [`TAIL`].
    pub(super) bytes: Vec<u8>,
    /// For a block, its mark and the offset of that in the file.
    pub(super) block: Option<(Mark, u64)>,
}

/// The bytes that are appended to a block for a decoder: a last block, stored, whose contents show that the decoder got
/// there.
pub(super) const TAIL: [u8; 9] = [1, 4, 0, 0xfb, 0xff, SENTINEL[0], SENTINEL[1], SENTINEL[2], SENTINEL[3]];

/// The contents of [`TAIL`].
pub(super) const SENTINEL: [u8; 4] = *b"abz\n";

impl Member {
    /// Returns the number of the member in its file, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the offset of the first byte of the member in the compressed file.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Returns the bytes of the member: header, deflate data and trailer, or mark and deflate data.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.bytes.len() - self.block.map_or(0, |_| TAIL.len())]
    }

    /// Returns the bytes of the member, so that their allocation can be used again.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns the size of the contents in bytes that the trailer or the mark states, at most
    /// [`MAX_BLOCK`](super::MAX_BLOCK). It is not yet verified.
    pub fn uncompressed_len(&self) -> usize {
        self.block.map_or_else(|| u32_at(self.trailer(), 4), |(mark, _)| mark.len) as usize
    }

    pub(super) fn trailer(&self) -> &[u8] {
        &self.bytes[self.bytes.len() - TRAILER_LEN..]
    }
}

/// The place of decoded data in a streamed member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The number of the member, counted from 1.
    pub(super) number: u64,
    /// The offset of the member's first byte in the file.
    pub(super) start: u64,
    /// With the last data of the member, the offset of its trailer and the bytes of it.
    pub(super) trailer: Option<(u64, [u8; TRAILER_LEN])>,
    /// With the trailer, the CRC-32 and the size of the contents given out in blocks before, if there were any.
    pub(super) before: Option<(u32, u64)>,
}

//! A member as it lies in the file, or a part of one that is decoded already.

use super::mark::Mark;
use super::{TRAILER_LEN, u32_at};

/// A whole member, or a whole block of one that has [marks](super), still compressed.
/// [`Decoder::decode`](super::Decoder::decode) makes data of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Counted from 1.
    pub(super) number: u64,
    /// The offset of the first byte in the file.
    pub(super) start: u64,
    /// Where in `bytes` the deflate data begins. After it there are at least the bytes of a trailer.
    pub(super) header_len: usize,
    /// Header, deflate data and trailer, if the header is right about where they end. Of a block, its mark and its deflate data,
    /// and [`TAIL`] behind them.
    pub(super) bytes: Vec<u8>,
    /// Of a block, what its mark says, and where in the file that lies.
    pub(super) block: Option<(Mark, u64)>,
}

/// What comes behind a block for a decoder: a last block, stored, whose contents show that it was decoded.
pub(super) const TAIL: [u8; 9] = [1, 4, 0, 0xfb, 0xff, SENTINEL[0], SENTINEL[1], SENTINEL[2], SENTINEL[3]];

/// The contents of that.
pub(super) const SENTINEL: [u8; 4] = *b"abz\n";

impl Member {
    /// The member's number in its file, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The offset of the first byte of the member in the compressed file.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Its bytes: header, deflate data and trailer; or mark and deflate data.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.bytes.len() - self.block.map_or(0, |_| TAIL.len())]
    }

    /// Its bytes, to use their allocation again.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The size of the contents in bytes as the trailer or the mark says it (not yet verified), at most
    /// [`MAX_BLOCK`](super::MAX_BLOCK).
    pub fn uncompressed_len(&self) -> usize {
        self.block.map_or_else(|| u32_at(self.trailer(), 4), |(mark, _)| mark.len) as usize
    }

    pub(super) fn trailer(&self) -> &[u8] {
        &self.bytes[self.bytes.len() - TRAILER_LEN..]
    }
}

/// Which data of a streamed member was decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The member, counted from 1.
    pub(super) number: u64,
    /// The offset of its first byte in the file.
    pub(super) start: u64,
    /// Behind the last data of the member, the offset of its trailer and what it says.
    pub(super) trailer: Option<(u64, [u8; TRAILER_LEN])>,
    /// With that, the CRC-32 and the size of what was given out in blocks before, if any was.
    pub(super) before: Option<(u32, u64)>,
}

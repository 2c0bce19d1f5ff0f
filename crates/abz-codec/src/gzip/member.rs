//! A member as it lies in the file.

use super::{TRAILER_LEN, u32_at};

/// A whole member, still compressed. [`Decoder::decode`](super::Decoder::decode) makes data of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Counted from 1.
    pub(super) number: u64,
    /// The offset of the first byte in the file.
    pub(super) start: u64,
    /// Where in `bytes` the deflate data begins. After it there are at least the bytes of a trailer.
    pub(super) header_len: usize,
    /// Header, deflate data and trailer, if the header is right about where they end.
    pub(super) bytes: Vec<u8>,
}

impl Member {
    /// The member's number in its file, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The offset of its first byte in the compressed file.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Its bytes: header, deflate data and trailer.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its bytes, to use their allocation again.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The size of the contents in bytes as the trailer says it (not yet verified), at most
    /// [`MAX_BLOCK`](super::MAX_BLOCK).
    pub fn uncompressed_len(&self) -> usize {
        u32_at(self.trailer(), 4) as usize
    }

    pub(super) fn trailer(&self) -> &[u8] {
        &self.bytes[self.bytes.len() - TRAILER_LEN..]
    }
}

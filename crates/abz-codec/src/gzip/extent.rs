//! The size of a member as its header states it, in the subfield `AB` of this crate or in `BC` of BGZF.

use super::header::{Header, push_subfield};
use super::layout::{MAX_BLOCK, MAX_COMPRESSED};
use super::u32_at;

/// The letters of this crate's subfield; the [module's documentation](super) describes the format.
const OURS: [u8; 2] = *b"AB";
/// The length of the data of this crate's subfield in bytes.
const OURS_LEN: usize = 9;
/// Bit 0 of the last byte of this crate's subfield.
const MORE: u8 = 1;
/// The letters of BGZF's subfield (SAM specification, section 4.1).
const BGZF: [u8; 2] = *b"BC";

/// The size of a member as its header states it. It is not verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The size of the whole member in bytes, with header and trailer.
    pub compressed: u32,
    /// The size of the contents in bytes; `None` if only the trailer states it (BGZF).
    pub uncompressed: Option<u32>,
    /// Whether the member states that another one of the same file follows.
    pub more: bool,
}

impl Extent {
    /// Returns the extent that `header` states, if any.
    pub(super) fn of(header: &Header) -> Option<Extent> {
        header.subfields().find_map(|(id, data)| match (id, data.len()) {
            (OURS, OURS_LEN) if data[8] & !MORE == 0 => Some(Extent {
                compressed: u32_at(data, 0),
                uncompressed: Some(u32_at(data, 4)),
                more: data[8] & MORE != 0,
            }),
            (BGZF, 2) => Some(Extent {
                compressed: u32::from(u16::from_le_bytes([data[0], data[1]])) + 1,
                uncompressed: None,
                more: false,
            }),
            _ => None,
        })
    }

    /// Returns whether a member of this size is decoded as a whole.
    pub(super) fn is_whole(&self) -> bool {
        u64::from(self.compressed) <= MAX_COMPRESSED
            && self.uncompressed.is_none_or(|len| len as usize <= MAX_BLOCK)
    }

    /// Appends BGZF's subfield for a member of `compressed` bytes to an extra field.
    pub(super) fn push_bgzf_to(compressed: u16, extra: &mut Vec<u8>) {
        push_subfield(extra, BGZF, &compressed.to_le_bytes());
    }

    /// Appends this crate's subfield with the values of `self` to an extra field.
    pub(super) fn push_to(&self, extra: &mut Vec<u8>) {
        let mut data = [0; OURS_LEN];
        data[..4].copy_from_slice(&self.compressed.to_le_bytes());
        data[4..8].copy_from_slice(&self.uncompressed.unwrap_or(0).to_le_bytes());
        data[8] = if self.more { MORE } else { 0 };
        push_subfield(extra, OURS, &data);
    }
}

impl Header {
    /// Returns the extent of the member, if the extra field has it (see the [module](super)).
    pub fn extent(&self) -> Option<Extent> {
        Extent::of(self)
    }
}

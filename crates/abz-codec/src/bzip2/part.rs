//! Decoding of a block whose place is known.

use std::ops::Range;

use super::decode::Found;
use super::{DecodeError, Decoder, Fault, Segment};
use crate::damage::Place;

impl Decoder {
    /// Decodes and verifies the block with this stream and number. `bits` is its place in the file, and `bytes` are the
    /// bytes at that place. Replaces the contents of `data` and uses its allocation.
    pub(crate) fn decode_block(
        &mut self,
        (stream, number): (u64, u64),
        bits: Range<u64>,
        bytes: &[u8],
        data: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let segment = Segment { bytes: bytes.to_vec(), start: bits.start, end: bits.end };
        let (fault, bit) = match self.decode(&segment, Vec::new()) {
            Found::Block(found) => {
                data.clear();
                found.contents.write_to(data).expect("memory takes all");
                return Ok(());
            }
            Found::Other => (Fault::Magic, bits.start),
            Found::Short => (Fault::Truncated, bits.end),
            Found::Damaged { fault, bit } => (fault, bit),
        };
        Err(DecodeError::new(Place::Block { stream, number }, bit / 8, fault))
    }
}

//! Blocks from the middle of a deflate stream as a stream of their own, which a fast decoder takes as a whole.
//!
//! The contents to which the blocks refer come first, as a stored block. Blocks without contents follow, until the next
//! bit has the same place in its byte as in the file. So no bits have to be shifted, and stored blocks, which are
//! aligned to bytes, stay valid. An empty last block ends the stream.

use std::ops::Range;

use libdeflater::Decompressor;

use crate::inflate::WINDOW;

/// Decodes the blocks of a deflate stream in the range `bits` of `bytes`, with `len` bytes of contents. Replaces the
/// contents of `data` and uses its allocation. `window` is the compressed window to which the blocks refer, empty at
/// the start of a stream. Returns `false` if the blocks are damaged or have other contents, or if there is not enough
/// memory.
pub(crate) fn inflate_blocks(
    decompressor: &mut Decompressor,
    window: &[u8],
    (bytes, bits): (&[u8], Range<usize>),
    len: usize,
    (stream, data): (&mut Vec<u8>, &mut Vec<u8>),
) -> bool {
    let mut unpacked = Vec::new();
    if !window.is_empty() {
        unpacked.resize(WINDOW, 0);
        let Ok(len) = decompressor.deflate_decompress(window, &mut unpacked) else { return false };
        unpacked.truncate(len);
    }
    stream.clear();
    write_stream(&unpacked, bytes, bits, stream);
    data.clear();
    if data.try_reserve_exact(unpacked.len() + len).is_err() {
        return false;
    }
    data.resize(unpacked.len() + len, 0);
    let is_right = decompressor.deflate_decompress(stream, data) == Ok(data.len());
    data.drain(..unpacked.len());
    is_right
}

/// Appends a stream to `out` that gives `window`, at most [`WINDOW`] bytes, and then the contents of the blocks in the
/// range `bits` of `bytes`.
fn write_stream(window: &[u8], bytes: &[u8], bits: Range<usize>, out: &mut Vec<u8>) {
    let len = u16::try_from(window.len()).expect("a window has 32 KiB at most");
    out.push(0);
    out.extend(len.to_le_bytes());
    out.extend((!len).to_le_bytes());
    out.extend(window);

    let mut filled = Bits::default();
    if bits.start % 2 == 1 {
        filled.put_odd_block();
    }
    while filled.len % 8 != bits.start % 8 {
        filled.put_fixed_block(false);
    }
    filled.write_whole(out);
    // The first byte and the last one are shared with the bits before and behind.
    let (first, last) = (bits.start / 8, bits.end / 8);
    let from = out.len();
    out.extend(&bytes[first..bits.end.div_ceil(8)]);
    if filled.len > 0
        && let Some(byte) = out.get_mut(from)
    {
        *byte = *byte & !0 << filled.len | filled.bits as u8;
    }
    let mut end = Bits::default();
    if !bits.end.is_multiple_of(8) {
        let byte = out.pop().expect("the last bits are there");
        end.put(byte.into(), bits.end - 8 * last);
    }
    end.put_fixed_block(true);
    end.put(0, 7);
    end.write_whole(out);
}

/// A buffer of bits, from the lowest on.
#[derive(Default)]
struct Bits {
    bits: u128,
    len: usize,
}

impl Bits {
    fn put(&mut self, value: u128, len: usize) {
        self.bits |= (value & ((1 << len) - 1)) << self.len;
        self.len += len;
    }

    /// Puts an empty block with fixed codes: ten bits.
    fn put_fixed_block(&mut self, is_last: bool) {
        self.put(is_last.into(), 1);
        self.put(1, 2);
        self.put(0, 7);
    }

    /// Puts an empty block with dynamic codes: 91 bits.
    fn put_odd_block(&mut self) {
        self.put(0b100, 3);
        // 257 literal codes, one distance code, 18 code lengths of code lengths.
        self.put(0, 5);
        self.put(0, 5);
        self.put(14, 4);
        // The lengths for 16, 17, 18, ..., 1: the codes of 18 (a run of zeros) and 1 have a bit each.
        (0..18).for_each(|place| self.put(u128::from(place == 2 || place == 17), 3));
        // No code for 0 to 254: two runs.
        for zeros in [138, 117] {
            self.put(1, 1);
            self.put(zeros - 11, 7);
        }
        // One bit each for 255, for the end of the block, and for the distance.
        self.put(0, 3);
        self.put(1, 1);
    }

    /// Appends the complete bytes to `out`, and keeps the remaining bits.
    fn write_whole(&mut self, out: &mut Vec<u8>) {
        let whole = self.len / 8;
        out.extend(&self.bits.to_le_bytes()[..whole]);
        self.bits = self.bits.checked_shr(8 * whole as u32).unwrap_or(0);
        self.len -= 8 * whole;
    }
}

#[cfg(test)]
mod tests {
    use libdeflater::{CompressionLvl, Compressor, Decompressor};

    use super::*;

    #[test]
    fn a_stream_is_the_same_from_every_bit_of_a_byte_on() {
        let text = b"a river, a branch, a river, a branch".repeat(20);
        let mut stream = vec![0; 1000];
        let len =
            Compressor::new(CompressionLvl::new(9).unwrap()).deflate_compress(&text, &mut stream).unwrap();
        let window = b"what was before";
        for skipped in 0..16 {
            // The stream, shifted by some bits, between bits that do not belong to it.
            let mut shifted = vec![0xff; len + 3];
            for bit in 0..8 * len {
                let (to, is_set) = (bit + skipped, stream[bit / 8] >> (bit % 8) & 1);
                shifted[to / 8] = shifted[to / 8] & !(1 << (to % 8)) | is_set << (to % 8);
            }
            let mut made = Vec::new();
            write_stream(window, &shifted, skipped..skipped + 8 * len, &mut made);
            let mut out = vec![0; window.len() + text.len()];
            assert_eq!(Decompressor::new().deflate_decompress(&made, &mut out), Ok(out.len()), "{skipped}");
            assert_eq!(out, [window, &text[..]].concat());
        }
    }
}

//! The marks of the blocks of a member. The [module's documentation](super) describes the format.

use std::io::{self, Read, Seek};

use libdeflater::crc32;
use memchr::memmem;

use super::layout::{MAX_BLOCK, MAX_COMPRESSED};
use crate::glance::glance;

/// The size of a mark in the file, in bytes.
pub(super) const MARK_LEN: usize = 81;

/// The start of each mark: the header of a dynamic block (RFC 1951, section 3.2.7), which has 71 bits, and the first
/// bit of the code length of literal 0, which is 0.
///
/// The block is not the last one. It has 257 literal codes, two distance codes, and 18 code lengths of code lengths: 2
/// for the lengths 8 and 9, and 4 for 0 to 7. So 8 is written `00`, 9 is written `01`, and *n* of 0 to 7 is written as
/// 8 + *n*, in four bits.
pub(super) const START: [u8; 9] = [0x04, 0xc1, 0x01, 0x50, 0x14, 0x41, 0x10, 0x04, 0x41];

/// The end of an empty stored block: a size of zero, and its complement (RFC 1951, section 3.2.4).
const EMPTY: [u8; 4] = [0, 0, 0xff, 0xff];

/// The size of a mark's data in bytes. Each bit is stored as the code length of a literal: 8 for a 0, and 9 for a 1.
const DATA_LEN: usize = 30;

/// The number of further literals whose codes have 8 or 9 bits.
const FILLING: usize = 10;

/// The place in a mark that does not state it.
const NOWHERE: u64 = (1 << 48) - 1;

/// The statements of a mark about its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The start of the block's contents in those of the member, in bytes; `None` if it is not stated.
    pub(super) start: Option<u64>,
    /// The size of the contents in bytes, at most [`MAX_BLOCK`].
    pub(super) len: u32,
    /// The size of the block's deflate data in bytes, from the end of the mark to the next mark or to the last block.
    pub(super) compressed: u32,
    /// The CRC-32 of the contents.
    pub(super) crc32: u32,
    /// The offset of the mark from the start of the member's header, in bytes; `None` if it is not stated.
    pub(super) offset: Option<u64>,
    /// The number that all marks of a member have: the CRC-32 of its first block, or 0 if places are not stated.
    pub(super) member: u32,
}

impl Mark {
    /// The mark after which a member has no more marks, although its data goes on.
    pub(super) const END: Mark =
        Mark { start: None, len: 0, compressed: 0, crc32: 0, offset: None, member: 0 };

    pub(super) fn write(&self) -> [u8; MARK_LEN] {
        let mut data = [0; DATA_LEN];
        data[..6].copy_from_slice(&self.start.unwrap_or(NOWHERE).to_le_bytes()[..6]);
        data[6..9].copy_from_slice(&self.len.to_le_bytes()[..3]);
        data[9..12].copy_from_slice(&self.compressed.to_le_bytes()[..3]);
        data[12..16].copy_from_slice(&self.crc32.to_le_bytes());
        data[16..20].copy_from_slice(&self.member.to_le_bytes());
        data[20..26].copy_from_slice(&self.offset.unwrap_or(NOWHERE).to_le_bytes()[..6]);
        let sum = crc32(&data[..26]);
        data[26..].copy_from_slice(&sum.to_le_bytes());
        spell(&data)
    }

    /// Parses the mark at the start of `bytes`, if there is one. Its statements about the block are not verified.
    pub(super) fn parse(bytes: &[u8]) -> Option<Mark> {
        let bytes = bytes.first_chunk::<MARK_LEN>()?;
        if !bytes.starts_with(&START) {
            return None;
        }
        let data = read(bytes);
        let number = |at: usize, len: usize| {
            data[at..at + len].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
        };
        let place = |at: usize| Some(number(at, 6)).filter(|place| *place != NOWHERE);
        let (start, offset) = (place(0), place(20));
        let (len, compressed) = (number(6, 3) as u32, number(9, 3) as u32);
        let is_right = number(26, 4) as u32 == crc32(&data[..26]) && spell(&data) == *bytes;
        let is_possible = (1..=MAX_BLOCK as u32).contains(&len)
            && (1..=MAX_COMPRESSED).contains(&u64::from(compressed))
            && start.is_none_or(|start| start < NOWHERE - u64::from(len));
        let (crc32, member) = (number(12, 4) as u32, number(16, 4) as u32);
        let mark = Mark { start, len, compressed, crc32, offset, member };
        (is_right && is_possible).then_some(mark)
    }

    /// Returns whether `bytes` are [`END`](Self::END).
    pub(super) fn is_end(bytes: &[u8]) -> bool {
        bytes == Mark::END.write()
    }

    /// Returns whether `bytes`, fewer than a mark has, may be the start of one.
    pub(super) fn may_begin(bytes: &[u8]) -> bool {
        bytes.iter().zip(&START).all(|(byte, expected)| byte == expected)
    }

    /// Returns the size of the mark and the block in bytes.
    pub(super) fn size(&self) -> usize {
        MARK_LEN + self.compressed as usize
    }

    /// Returns whether the block of this mark may follow contents that end at `end`, in the member with the number
    /// `member`.
    pub(super) fn follows(&self, end: u64, member: u32) -> bool {
        self.member == member && self.start.is_none_or(|start| start == end)
    }
}

/// Returns a dynamic block without contents whose code lengths encode `data`, and an empty stored block behind it.
///
/// A code is complete if its lengths take 512 units, where a length of 9 takes 1, a length of 8 takes 2, and so on (RFC
/// 1951, section 3.2.2). The first 250 literals take 500 less the number of ones, and the end of the block takes 8. The
/// remaining units, 4 and the number of ones, go to six literals that take 4, 8, 16, 32, 64 and 128 each, or none.
fn spell(data: &[u8; DATA_LEN]) -> [u8; MARK_LEN] {
    let ones: u32 = data.iter().map(|byte| byte.count_ones()).sum();
    // The number of ones becomes a multiple of four.
    let filling = ones.wrapping_neg() % 4;
    let left = (ones + filling + 4) / 4;

    let short = (0..6).map(|place| if left >> place & 1 == 1 { 7 - place } else { 0 });
    // The end of the block has 6 bits, and each of the two distances has 1.
    let short = short.chain([6, 1, 1]).map(|length| (8 + length, 4));
    // The end of the block has the last code of its length. Only shorter codes come before it, except that of 7
    // bits.
    let end = (left / 2, 6);

    // The bits behind the data.
    let mut behind = u64::from(spread((1 << filling) - 1));
    let mut at = 2 * FILLING - 1;
    for (code, len) in short.chain([end]) {
        // A code begins with its highest bit (section 3.1.1).
        behind |= u64::from(u32::reverse_bits(code) >> (32 - len)) << at;
        at += len;
    }
    // The last three bits are zeros, the header of the stored block.
    debug_assert_eq!(at + 3, 64);

    let mut bytes = [0; MARK_LEN];
    let (start, rest) = bytes.split_at_mut(START.len());
    start.copy_from_slice(&START);
    let (said, rest) = rest.split_at_mut(2 * DATA_LEN);
    for (pair, &byte) in said.chunks_exact_mut(2).zip(data) {
        pair.copy_from_slice(&spread(byte).to_le_bytes());
    }
    let (others, size) = rest.split_at_mut(8);
    others.copy_from_slice(&behind.to_le_bytes());
    size.copy_from_slice(&EMPTY);
    bytes
}

/// Returns the data in the code lengths of a block that begins as a mark does.
fn read(bytes: &[u8; MARK_LEN]) -> [u8; DATA_LEN] {
    let mut data = [0; DATA_LEN];
    for (byte, pair) in data.iter_mut().zip(bytes[START.len()..].chunks_exact(2)) {
        *byte = gather(u16::from_le_bytes([pair[0], pair[1]]));
    }
    data
}

/// Returns the bits of a byte, with a zero behind each.
///
/// A code length is written as a zero and its bit. The result has eight of them without the first zero, which the bytes
/// before it have, and with the zero of the length that follows.
fn spread(byte: u8) -> u16 {
    let mut bits = u16::from(byte);
    bits = (bits | bits << 4) & 0x0f0f;
    bits = (bits | bits << 2) & 0x3333;
    (bits | bits << 1) & 0x5555
}

/// The inverse of [`spread`].
fn gather(bits: u16) -> u8 {
    let mut bits = bits & 0x5555;
    bits = (bits | bits >> 1) & 0x3333;
    bits = (bits | bits >> 2) & 0x0f0f;
    (bits | bits >> 4) as u8
}

/// Returns the indices of all complete marks in `bytes`.
pub(super) fn find_marks(bytes: &[u8]) -> impl Iterator<Item = usize> {
    memmem::find_iter(bytes, &START).filter(|&at| Mark::parse(&bytes[at..]).is_some())
}

/// Reads the mark at `offset`, if there is one.
pub(super) fn mark_at<F: Read + Seek>(file: &mut F, offset: u64) -> io::Result<Option<Mark>> {
    let mut bytes = [0; MARK_LEN];
    Ok(Mark::parse(glance(file, offset, &mut bytes)?))
}

#[cfg(test)]
mod tests {
    use super::super::inflate::Inflater;
    use super::*;

    const MARK: Mark = Mark {
        start: Some(0x1234_5678_9abc),
        len: MAX_BLOCK as u32,
        compressed: 4_567_890,
        crc32: 0xdead_beef,
        offset: Some(99),
        member: 77,
    };

    /// Returns some marks, including those with many zeros or many ones.
    fn marks() -> impl Iterator<Item = Mark> {
        let none = Mark { start: None, len: 1, compressed: 1, crc32: 0, offset: None, member: 0 };
        let least = Mark { start: Some(0), len: 1, compressed: 1, crc32: 0, offset: Some(0), member: 0 };
        let most = Mark {
            start: Some((1 << 46) - 1),
            crc32: u32::MAX,
            member: u32::MAX,
            offset: Some(NOWHERE - 1),
            ..MARK
        };
        let others = (0..100).map(|n: u32| {
            let crc32 = n.wrapping_mul(0x9e37_79b9);
            Mark { start: Some(u64::from(n) << 20), len: n + 1, crc32, ..MARK }
        });
        [MARK, none, least, most].into_iter().chain(others)
    }

    /// Returns the contents of a stream by two other decoders; `None` from a decoder that rejects it or leaves a rest.
    fn decoded(stream: &[u8]) -> [Option<Vec<u8>>; 2] {
        let mut out = vec![0; 100];
        let found = libdeflater::Decompressor::new().deflate_decompress(stream, &mut out);
        let ours = found.ok().map(|len| out[..len].to_vec());
        let mut decoder = flate2::Decompress::new(false);
        let mut theirs = Vec::with_capacity(100);
        let status = decoder.decompress_vec(stream, &mut theirs, flate2::FlushDecompress::Finish);
        let is_whole =
            matches!(status, Ok(flate2::Status::StreamEnd)) && decoder.total_in() == stream.len() as u64;
        [ours, is_whole.then_some(theirs)]
    }

    #[test]
    fn a_mark_says_what_was_said_and_is_nothing_to_a_decoder() {
        for mark in marks().chain([Mark::END]) {
            let bytes = mark.write();
            assert_eq!(Mark::parse(&bytes), Some(mark).filter(|mark| *mark != Mark::END));
            assert_eq!(Mark::is_end(&bytes), mark == Mark::END);
            let stream = [&bytes[..], &[3, 0]].concat();
            let step = Inflater::new().step(&stream, &mut [0; 10]).unwrap();
            assert!(step.ended && step.consumed == stream.len() && step.produced == 0);
            assert_eq!(decoded(&stream), [Some(vec![]), Some(vec![])]);
            let behind = [&bytes[..], &bytes, &[1, 1, 0, 0xfe, 0xff, b'a']].concat();
            assert_eq!(decoded(&behind), [Some(b"a".to_vec()), Some(b"a".to_vec())]);
        }
    }

    #[test]
    fn the_same_mark_has_the_same_bytes_in_every_version() {
        let hex: String = MARK.write().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            hex,
            "04c1015014411004415045444140151411100504010000000000100411054511105554544551445451\
             51100000000000000514000000000000000000001551110440510544010088dbe8b84c1a0000ffff"
        );
    }

    #[test]
    fn any_number_of_ones_is_spelt_by_complete_codes() {
        for ones in 0..=8 * DATA_LEN {
            let mut data = [0; DATA_LEN];
            (0..ones).for_each(|bit| data[bit / 8] |= 1 << (bit % 8));
            let bytes = spell(&data);
            assert_eq!(read(&bytes), data);
            // zlib rejects incomplete codes.
            assert_eq!(decoded(&[&bytes[..], &[3, 0]].concat()), [Some(vec![]), Some(vec![])]);
        }
    }

    #[test]
    fn a_mark_begins_with_the_header_of_a_dynamic_block() {
        let mut bits = Vec::new();
        let mut put = |value: usize, len| bits.extend((0..len).map(|bit| value >> bit & 1));
        // RFC 1951, section 3.2.7: BFINAL, BTYPE, HLIT, HDIST, HCLEN, and the lengths in their order.
        [(0, 1), (2, 2), (257 - 257, 5), (2 - 1, 5), (18 - 4, 4)]
            .into_iter()
            .for_each(|(value, len)| put(value, len));
        for length in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1] {
            put(
                if length > 9 {
                    0
                } else if length > 7 {
                    2
                } else {
                    4
                },
                3,
            );
        }
        assert_eq!(bits.len(), 71);
        bits.push(0);
        let bytes: Vec<u8> = bits
            .chunks(8)
            .map(|bits| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | bit as u8))
            .collect();
        assert_eq!(bytes, START);
    }

    #[test]
    fn what_was_cut_may_be_the_beginning_of_a_mark() {
        let bytes = MARK.write();
        for len in 0..MARK_LEN {
            assert!(Mark::parse(&bytes[..len]).is_none() && Mark::may_begin(&bytes[..len]), "{len}");
        }
        assert!(!Mark::may_begin(&[3, 0]) && !Mark::may_begin(&[0, 0, 0, 0xff, 0xff]));
    }

    #[test]
    fn no_other_bytes_are_a_mark() {
        for bytes in marks().map(|mark| mark.write()) {
            for bit in 0..8 * bytes.len() {
                let mut bytes = bytes;
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(Mark::parse(&bytes), None, "{bit}");
            }
            assert_eq!(Mark::parse(&bytes[1..]), None);
        }
        for wrong in [
            Mark { len: 0, ..MARK },
            Mark { len: MAX_BLOCK as u32 + 1, ..MARK },
            Mark { compressed: 0, ..MARK },
            Mark { compressed: 6 << 20, ..MARK },
        ] {
            assert_eq!(Mark::parse(&wrong.write()), None);
        }
    }

    #[test]
    fn marks_are_found_wherever_they_begin() {
        let bytes = MARK.write();
        let file = [&START[..], &bytes, &[4; 7], &bytes[..50], &bytes, &bytes, &bytes[..80]].concat();
        let second = START.len() + MARK_LEN + 7 + 50;
        assert_eq!(find_marks(&file).collect::<Vec<_>>(), [START.len(), second, second + MARK_LEN]);
    }
}

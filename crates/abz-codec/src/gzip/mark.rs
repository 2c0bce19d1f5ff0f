//! What stands before each block of a member of several: see the format in the [module's documentation](super).

use libdeflater::crc32;
use memchr::memmem;

use super::encode::MAX_BLOCK;
use super::extent::MAX_COMPRESSED;

/// How many bytes a mark has in the file.
pub(super) const MARK_LEN: usize = GROUPS * GROUP.len();

/// How an empty stored block ends: a size of zero, twice (RFC 1951, section 3.2.4).
const EMPTY: [u8; 4] = [0, 0, 0xff, 0xff];

/// An empty stored block at the start of a byte. The upper five bits of the first byte may be anything.
const GROUP: [u8; 5] = [0, EMPTY[0], EMPTY[1], EMPTY[2], EMPTY[3]];

/// Five bits in each group.
const GROUPS: usize = (DATA_LEN * 8).div_ceil(5);

/// What a mark says, in bytes.
const DATA_LEN: usize = 31;

/// The first byte of that: marks of this form.
const FORM: u8 = 1;

/// No place: it is not told where the contents lie.
const NOWHERE: u64 = (1 << 48) - 1;

/// What a mark says of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// Where the contents of the block lie in those of the member, in bytes; `None` if that is not told.
    pub(super) start: Option<u64>,
    /// Their size in bytes, at most [`MAX_BLOCK`].
    pub(super) len: u32,
    /// The size of the block's deflate data in bytes: from the end of the mark to that of the next one, or to the end of the
    /// last block.
    pub(super) compressed: u32,
    /// The CRC-32 of the contents.
    pub(super) crc32: u32,
    /// Where the mark lies, in bytes from the start of the member's header; `None` if that is not told.
    pub(super) offset: Option<u64>,
    /// The same number in all marks of a member: the CRC-32 of its first block, or 0 where no place is told.
    pub(super) member: u32,
}

impl Mark {
    pub(super) fn write(&self) -> [u8; MARK_LEN] {
        let mut data = [0; DATA_LEN];
        data[0] = FORM;
        data[1..7].copy_from_slice(&self.start.unwrap_or(NOWHERE).to_le_bytes()[..6]);
        data[7..10].copy_from_slice(&self.len.to_le_bytes()[..3]);
        data[10..13].copy_from_slice(&self.compressed.to_le_bytes()[..3]);
        data[13..17].copy_from_slice(&self.crc32.to_le_bytes());
        data[17..21].copy_from_slice(&self.member.to_le_bytes());
        data[21..27].copy_from_slice(&self.offset.unwrap_or(NOWHERE).to_le_bytes()[..6]);
        let sum = crc32(&data[..27]);
        data[27..].copy_from_slice(&sum.to_le_bytes());

        let mut bytes = [0; MARK_LEN];
        for (number, group) in bytes.chunks_exact_mut(GROUP.len()).enumerate() {
            group.copy_from_slice(&GROUP);
            let bit = 5 * number;
            let low = u16::from(data[bit / 8]);
            let high = data.get(bit / 8 + 1).copied().map_or(0, u16::from);
            let five = (low | high << 8) >> (bit % 8) & 31;
            group[0] = (five as u8) << 3;
        }
        bytes
    }

    /// The mark at the start of `bytes`, if one is there. Of what it says of its block nothing is verified.
    pub(super) fn parse(bytes: &[u8]) -> Option<Mark> {
        let mut data = [0u8; DATA_LEN];
        for (number, group) in bytes.first_chunk::<MARK_LEN>()?.chunks_exact(GROUP.len()).enumerate() {
            if group[0] & 7 != 0 || group[1..] != EMPTY {
                return None;
            }
            let (bit, five) = (5 * number, u16::from(group[0] >> 3));
            let both = five << (bit % 8);
            // Bits behind the data are zeros.
            if bit + 5 > 8 * DATA_LEN && five >> (8 * DATA_LEN - bit) != 0 {
                return None;
            }
            data[bit / 8] |= both as u8;
            if let Some(high) = data.get_mut(bit / 8 + 1) {
                *high |= (both >> 8) as u8;
            }
        }
        let number = |at: usize, len: usize| {
            data[at..at + len].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
        };
        let place = |at: usize| Some(number(at, 6)).filter(|place| *place != NOWHERE);
        let (start, offset) = (place(1), place(21));
        let (len, compressed) = (number(7, 3) as u32, number(10, 3) as u32);
        let is_right = data[0] == FORM && number(27, 4) as u32 == crc32(&data[..27]);
        let is_possible = (1..=MAX_BLOCK as u32).contains(&len)
            && (1..=MAX_COMPRESSED).contains(&u64::from(compressed))
            && start.is_none_or(|start| start < NOWHERE - u64::from(len));
        let (crc32, member) = (number(13, 4) as u32, number(17, 4) as u32);
        let mark = Mark { start, len, compressed, crc32, offset, member };
        (is_right && is_possible).then_some(mark)
    }

    /// True if these bytes, fewer than a mark has, may be the start of one.
    pub(super) fn may_begin(bytes: &[u8]) -> bool {
        bytes.chunks(GROUP.len()).all(|group| {
            let rest = &group[1..];
            group[0] & 7 == 0 && *rest == EMPTY[..rest.len()]
        })
    }

    /// The size of mark and block in bytes.
    pub(super) fn size(&self) -> usize {
        MARK_LEN + self.compressed as usize
    }

    /// True if the block of this mark may come behind contents that end at `end`, in the member of that number.
    pub(super) fn follows(&self, end: u64, member: u32) -> bool {
        self.member == member && self.start.is_none_or(|start| start == end)
    }
}

/// Where in `bytes` there are marks, as a whole.
pub(super) fn find_marks(bytes: &[u8]) -> impl Iterator<Item = usize> {
    memmem::find_iter(bytes, &EMPTY)
        .filter_map(|at| at.checked_sub(1))
        .filter(|&at| Mark::parse(&bytes[at..]).is_some())
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

    #[test]
    fn a_mark_says_what_was_said_and_is_nothing_to_a_decoder() {
        for mark in [MARK, Mark { start: None, len: 1, compressed: 1, crc32: 0, offset: None, member: 0 }] {
            let bytes = mark.write();
            assert_eq!(Mark::parse(&bytes), Some(mark));
            let stream = [&bytes[..], &[3, 0]].concat();
            let step = Inflater::new().step(&stream, &mut [0; 10]).unwrap();
            assert!(step.ended && step.consumed == stream.len() && step.produced == 0);
        }
    }

    #[test]
    fn no_other_bytes_are_a_mark() {
        let bytes = MARK.write();
        for bit in 0..8 * bytes.len() {
            let mut bytes = bytes;
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Mark::parse(&bytes), None, "{bit}");
        }
        assert_eq!(Mark::parse(&bytes[1..]), None);
        for wrong in [
            Mark { len: 0, ..MARK },
            Mark { len: MAX_BLOCK as u32 + 1, ..MARK },
            Mark { compressed: 0, ..MARK },
            Mark { compressed: 6 << 20, ..MARK },
        ] {
            assert_eq!(Mark::parse(&wrong.write()), None);
        }
        let file = [&[0, 0, 0xff, 0xff][..], &bytes, &[0; 7], &bytes[..100], &bytes].concat();
        assert_eq!(find_marks(&file).collect::<Vec<_>>(), [4, 4 + MARK_LEN + 7 + 100]);
    }
}

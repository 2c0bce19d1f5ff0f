//! The marks of the pieces of a frame, which decoders ignore.

use crc32fast::hash as crc32;

/// A mark before a piece, or behind the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Piece(Piece),
    End(End),
}

/// The mark of the piece that follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// The size of its contents in bytes, at least 1.
    pub(super) contents: u32,
    /// The size of its blocks in bytes.
    pub(super) compressed: u32,
    /// The CRC-32 of its contents.
    pub(super) crc32: u32,
    /// The largest contents of a piece of the frame, in bytes.
    pub(super) most: u32,
}

/// The mark behind the last piece, about the whole frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// The size of its contents in bytes.
    pub(super) contents: u64,
    /// The frame's checksum, which follows the last block; 0 if there is none.
    pub(super) checksum: u32,
    /// The CRC-32 of its contents.
    pub(super) crc32: u32,
    /// The window in the frame's header, in KiB.
    pub(super) window: u32,
}

/// The number of bytes in a mark: its form, 20 bytes, and the CRC-32 of these 21 bytes.
const DATA_LEN: usize = 25;

/// The header of a block that repeats the following byte zero times. It is not the last block.
pub(super) const GROUP: [u8; 3] = [0b10, 0, 0];

const GROUP_LEN: usize = GROUP.len() + 1;

/// The size of a mark in bytes.
pub(super) const MARK_LEN: usize = DATA_LEN * GROUP_LEN;

/// The forms of a mark.
const PIECE: u8 = 1;
const END: u8 = 2;

impl Mark {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let mut data = Vec::with_capacity(DATA_LEN);
        match *self {
            Mark::Piece(Piece { contents, compressed, crc32, most }) => {
                data.push(PIECE);
                data.extend(u64::from(contents).to_le_bytes());
                [compressed, crc32, most].iter().for_each(|number| data.extend(number.to_le_bytes()));
            }
            Mark::End(End { contents, checksum, crc32, window }) => {
                data.push(END);
                data.extend(contents.to_le_bytes());
                [checksum, crc32, window].iter().for_each(|number| data.extend(number.to_le_bytes()));
            }
        }
        let sum = crc32(&data);
        data.extend(sum.to_le_bytes());
        for byte in data {
            out.extend(GROUP);
            out.push(byte);
        }
    }

    /// Parses the mark at the start of `bytes`, if there is one.
    pub(super) fn parse(bytes: &[u8]) -> Option<Mark> {
        let mut data = [0; DATA_LEN];
        let groups = bytes.first_chunk::<MARK_LEN>()?.chunks_exact(GROUP_LEN);
        for (byte, group) in data.iter_mut().zip(groups) {
            *byte = *group.strip_prefix(&GROUP)?.first()?;
        }
        let number = |at: usize| u32::from_le_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]);
        if number(DATA_LEN - 4) != crc32(&data[..DATA_LEN - 4]) {
            return None;
        }
        let contents = u64::from(number(5)) << 32 | u64::from(number(1));
        match data[0] {
            PIECE => {
                let contents = u32::try_from(contents).ok().filter(|contents| *contents > 0)?;
                let piece = Piece { contents, compressed: number(9), crc32: number(13), most: number(17) };
                (contents <= piece.most && piece.compressed > 0).then_some(Mark::Piece(piece))
            }
            END => {
                let (checksum, crc32, window) = (number(9), number(13), number(17));
                Some(Mark::End(End { contents, checksum, crc32, window }))
            }
            _ => None,
        }
    }

    /// Returns the number of bytes to look at next, if `bytes` may be the start of a mark. It does not exceed the size
    /// of a frame in which these bytes are blocks.
    pub(super) fn wants(bytes: &[u8]) -> Option<usize> {
        let begins = bytes.chunks(GROUP_LEN).all(|group| {
            let len = group.len().min(GROUP.len());
            group[..len] == GROUP[..len]
        });
        let whole = bytes.len() / GROUP_LEN;
        let next = match bytes.len() % GROUP_LEN {
            // The header of another block must follow a block that is not the last one.
            0..3 => whole * GROUP_LEN + GROUP.len(),
            _ => (whole + 1) * GROUP_LEN,
        };
        begins.then_some(next.min(MARK_LEN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks() -> [Mark; 2] {
        [
            Mark::Piece(Piece {
                contents: 4 << 20,
                compressed: 1_234_567,
                crc32: 0xdead_beef,
                most: 4 << 20,
            }),
            Mark::End(End { contents: u64::MAX, checksum: 99, crc32: 7, window: 2048 }),
        ]
    }

    #[test]
    fn a_mark_says_what_was_said_and_no_other_bytes_are_one() {
        for mark in marks() {
            let mut bytes = Vec::new();
            mark.write(&mut bytes);
            assert_eq!((bytes.len(), Mark::parse(&bytes)), (MARK_LEN, Some(mark)));
            for bit in 0..8 * bytes.len() {
                let mut bytes = bytes.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(Mark::parse(&bytes), None, "{bit}");
            }
            let mut at = 0;
            while at < MARK_LEN {
                let next = Mark::wants(&bytes[..at]).unwrap();
                assert!(next > at);
                at = next;
            }
            assert_eq!(Mark::wants(&[GROUP[0], 1]), None);
        }
    }

    #[test]
    fn a_mark_is_nothing_to_a_decoder() {
        let mut frame = b"\x28\xb5\x2f\xfd\x20\x05".to_vec();
        marks().iter().for_each(|mark| mark.write(&mut frame));
        frame.extend(b"\x28\0\0hello");
        marks().iter().for_each(|mark| mark.write(&mut frame));
        frame.extend(b"\x01\0\0");
        let mut data = Vec::with_capacity(5);
        zstd_safe::decompress(&mut data, &frame).unwrap();
        assert_eq!(data, b"hello");
    }
}

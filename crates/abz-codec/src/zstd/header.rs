//! The headers of frames and blocks.

use super::{MAGIC, MAX_BLOCK};

/// The header of a frame ([RFC 8878](https://www.rfc-editor.org/rfc/rfc8878), section 3.1.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// The largest distance of a reference in bytes, which is the memory that a decoder needs.
    pub window: u64,
    /// The size of the contents in bytes, if it is stated.
    pub contents: Option<u64>,
    /// The number of the dictionary that is needed; 0 if none is stated.
    pub dictionary: u32,
    /// Whether a checksum follows the blocks.
    pub checksum: bool,
}

impl FrameHeader {
    /// The largest size of a header in bytes, with the magic number.
    pub const MAX_LEN: usize = 18;

    /// Parses the header at the start of `bytes`. Returns it with its length, or `None` if it is incomplete. The magic
    /// number before it is not checked.
    ///
    /// # Errors
    ///
    /// A description of what was expected, if the header is not valid.
    pub fn parse(bytes: &[u8]) -> Result<Option<(FrameHeader, usize)>, &'static str> {
        let Some(&descriptor) = bytes.get(MAGIC.len()) else { return Ok(None) };
        if descriptor & 0x08 != 0 {
            return Err("the reserved bit of the header to be 0");
        }
        let is_single_segment = descriptor & 0x20 != 0;
        let dictionary_len = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let contents_len = match (descriptor >> 6, is_single_segment) {
            (0, false) => 0,
            (flag, _) => 1 << flag,
        };
        let window_at = MAGIC.len() + 1;
        let dictionary_at = window_at + usize::from(!is_single_segment);
        let contents_at = dictionary_at + dictionary_len;
        let len = contents_at + contents_len;
        if bytes.len() < len {
            return Ok(None);
        }
        let contents = match contents_len {
            0 => None,
            2 => Some(number(&bytes[contents_at..len]) + 256),
            _ => Some(number(&bytes[contents_at..len])),
        };
        let window = match contents {
            Some(contents) if is_single_segment => contents,
            _ => {
                let (exponent, mantissa) = (bytes[window_at] >> 3, bytes[window_at] & 7);
                let base = 1u64 << (10 + exponent);
                base + base / 8 * u64::from(mantissa)
            }
        };
        let dictionary = number(&bytes[dictionary_at..contents_at]) as u32;
        Ok(Some((FrameHeader { window, contents, dictionary, checksum: descriptor & 0x04 != 0 }, len)))
    }

    /// Writes a header, with the magic number. The window is rounded up to the next size that can be coded. The size of
    /// the contents, if it is known, takes 4 or 8 bytes.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(MAGIC);
        let dictionary = &self.dictionary.to_le_bytes()[..match self.dictionary {
            0 => 0,
            1..0x100 => 1,
            0x100..0x1_0000 => 2,
            _ => 4,
        }];
        let contents = self.contents.map(u64::to_le_bytes);
        let contents = contents.as_ref().map_or(&[][..], |bytes| match bytes[4..] {
            [0, 0, 0, 0] => &bytes[..4],
            _ => bytes,
        });
        let contents_flag = [0, 2, 3][contents.len() / 4];
        let dictionary_flag = [0, 1, 2, 0, 3][dictionary.len()];
        out.push(contents_flag << 6 | u8::from(self.checksum) << 2 | dictionary_flag);
        let log = self.window.max(1 << 10).ilog2();
        let eighths = (self.window.max(1 << 10) - (1 << log)).div_ceil(1 << (log - 3)) as u8;
        // A mantissa of eight eighths becomes the next power.
        out.push((((log - 10) as u8) << 3) + eighths);
        out.extend(dictionary);
        out.extend(contents);
    }

    /// Returns the largest contents of a block of the frame, in bytes.
    pub(super) fn max_block(&self) -> usize {
        self.window.min(MAX_BLOCK as u64) as usize
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The header of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockHeader {
    pub(super) is_last: bool,
    /// Whether the bytes that follow are the contents.
    pub(super) is_stored: bool,
    /// The number of bytes of the file that follow the header.
    pub(super) len: usize,
    /// The largest size of the block's contents, in bytes.
    pub(super) most: usize,
}

impl BlockHeader {
    /// Parses a header.
    ///
    /// # Errors
    ///
    /// A description of what was expected.
    pub(super) fn parse(bytes: [u8; 3], frame: &FrameHeader) -> Result<BlockHeader, &'static str> {
        let bits = number(&bytes) as usize;
        let size = bits >> 3;
        let (len, most) = match bits >> 1 & 3 {
            0 => (size, size),
            1 => (1, size),
            2 => (size, frame.max_block()),
            _ => return Err("a kind of block that is not reserved"),
        };
        if size > MAX_BLOCK {
            return Err("a block of at most 128 KiB");
        }
        Ok(BlockHeader { is_last: bits & 1 != 0, is_stored: bits >> 1 & 3 == 0, len, most })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_header_is_read_and_every_shorter_one_is_unfinished() {
        for descriptor in (0..=255u8).filter(|descriptor| descriptor & 8 == 0) {
            let mut bytes = [0x11; FrameHeader::MAX_LEN];
            bytes[4] = descriptor;
            let (header, len) = FrameHeader::parse(&bytes).unwrap().unwrap();
            assert!(len <= FrameHeader::MAX_LEN);
            assert_eq!(FrameHeader::parse(&bytes[..len - 1]), Ok(None), "{descriptor:#x}");
            assert_eq!(header.checksum, descriptor & 4 != 0);
            let expected = [0, 0x11, 0x1111, 0x1111_1111][usize::from(descriptor & 3)];
            assert_eq!(header.dictionary, expected);
        }
    }

    #[test]
    fn windows_and_sizes_are_those_of_the_specification() {
        let window = |byte| FrameHeader::parse(&[0, 0, 0, 0, 0, byte]).unwrap().unwrap().0.window;
        assert_eq!(window(0), 1024);
        assert_eq!(window(7), 1024 + 7 * 128);
        assert_eq!(window(17 << 3), 128 << 20);
        assert_eq!(window(255), (1 << 41) + 7 * (1 << 38));
        let (header, len) = FrameHeader::parse(&[0, 0, 0, 0, 0x60, 1, 0]).unwrap().unwrap();
        assert_eq!((header.contents, header.window, len), (Some(257), 257, 7));
        assert!(FrameHeader::parse(&[0, 0, 0, 0, 8]).is_err());
    }

    #[test]
    fn what_is_written_is_read() {
        for window in [1, 1024, 1025, 128 << 10, (8 << 20) + 1, (16 << 20) - 1, 1 << 31] {
            for contents in [None, Some(0), Some(u32::MAX.into()), Some(1 << 32)] {
                for (dictionary, checksum) in [(0, true), (255, false), (256, true), (70_000, false)] {
                    let header = FrameHeader { window, contents, dictionary, checksum };
                    let mut bytes = Vec::new();
                    header.write(&mut bytes);
                    let (found, len) = FrameHeader::parse(&bytes).unwrap().unwrap();
                    assert_eq!((len, FrameHeader { window, ..found }), (bytes.len(), header));
                    let least = window.max(1024);
                    assert!((least..=least + least / 8).contains(&found.window), "{window}");
                }
            }
        }
    }

    #[test]
    fn block_headers_have_kinds_and_limits() {
        let frame = FrameHeader { window: 2048, contents: None, dictionary: 0, checksum: false };
        let parse = |bits: u32| {
            let bytes = bits.to_le_bytes();
            BlockHeader::parse([bytes[0], bytes[1], bytes[2]], &frame)
        };
        assert_eq!(
            parse(100 << 3 | 1),
            Ok(BlockHeader { is_last: true, is_stored: true, len: 100, most: 100 })
        );
        assert_eq!(
            parse(100 << 3 | 2),
            Ok(BlockHeader { is_last: false, is_stored: false, len: 1, most: 100 })
        );
        assert_eq!(
            parse(100 << 3 | 4),
            Ok(BlockHeader { is_last: false, is_stored: false, len: 100, most: 2048 })
        );
        assert!(parse(100 << 3 | 6).is_err());
        assert!(parse((MAX_BLOCK as u32 + 1) << 3).is_err());
    }
}

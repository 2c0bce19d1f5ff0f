//! The older format, `.lzma`: the header that it has instead of magic bytes.

/// The size of the header of a `.lzma` file in bytes, with the first byte of its data.
pub const LZMA_HEADER_LEN: usize = 14;

/// True of what looks like the start of a `.lzma` file: properties that there are, a dictionary of 2^*n* or 3 × 2^*n*
/// bytes, contents of less than 256 GiB or of unknown size, and the zero with which all LZMA data begins. So few starts
/// of other files do that xz decides by it, too.
pub fn is_lzma(start: &[u8]) -> bool {
    let Some(&[properties, a, b, c, d, ref size @ .., 0]) = start.first_chunk::<LZMA_HEADER_LEN>() else {
        return false;
    };
    let (literal, rest) = (properties % 9, properties / 9 % 5);
    let dictionary = u32::from_le_bytes([a, b, c, d]);
    let has_usual_size = dictionary == u32::MAX || {
        let without_lowest = dictionary & dictionary.wrapping_sub(1);
        dictionary != 0 && (without_lowest == 0 || without_lowest == (dictionary ^ without_lowest) << 1)
    };
    let size = u64::from_le_bytes(*size);
    properties < 225 && literal + rest <= 4 && has_usual_size && (size == u64::MAX || size < 1 << 38)
}

/// The dictionary that a header says, in bytes.
pub(super) fn dictionary(header: &[u8]) -> u32 {
    super::header::u32_at(header, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_known_and_other_bytes_are_not() {
        let header = *b"\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff\0";
        assert!(is_lzma(&header));
        assert!(!is_lzma(&header[..13]));
        for (at, byte) in [(0, 0xe1), (0, 8), (1, 1), (5, 0), (13, 1)] {
            let mut other = header;
            other[at] = byte;
            assert!(!is_lzma(&other), "{at}");
        }
        let mut three = header;
        three[3] = 0xc0;
        assert!(is_lzma(&three));
        three[3] = 0xa0;
        assert!(!is_lzma(&three));
    }
}

//! The older format `.lzma`: its header, and the encoding of such files.

use std::fmt;

use super::encode::Settings;
use crate::lzma::Encoding;
use crate::memory::NoMemory;

/// The size of the header of a `.lzma` file in bytes, with the first byte of its data.
pub const LZMA_HEADER_LEN: usize = 14;

/// Returns whether `start` looks like the start of a `.lzma` file: valid properties, a dictionary of 2^*n* or 3 × 2^*n*
/// bytes, contents of less than 256 GiB or of unknown size, and the zero with which all LZMA data begins. xz uses the
/// same test, because other files rarely pass it.
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

/// Returns the dictionary size in a header, in bytes.
pub(super) fn dictionary(header: &[u8]) -> u32 {
    super::header::u32_at(header, 1)
}

/// An encoder of a `.lzma` file: one stream, without a check. Its header does not state the size of the contents.
///
/// ```
/// use abz_codec::xz::{AloneEncoder, Check, Settings};
///
/// let settings = Settings { level: 6, extreme: false, dictionary_size: None, check: Check::None, tuning: Default::default() };
/// let (mut encoder, mut file) = (AloneEncoder::new(&settings)?, Vec::new());
/// encoder.push(b"a branch ", &mut file)?;
/// encoder.push(b"of a river", &mut file)?;
/// encoder.finish(&mut file)?;
/// assert!(abz_codec::xz::is_lzma(&file));
/// # Ok::<(), abz_codec::NoMemory>(())
/// ```
pub struct AloneEncoder {
    encoding: Encoding,
}

impl AloneEncoder {
    /// Creates an encoder at the start of a file. It ignores the check in `settings`.
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub fn new(settings: &Settings) -> Result<Self, NoMemory> {
        let dictionary = settings.dictionary();
        Ok(AloneEncoder { encoding: Encoding::alone(&settings.options(dictionary), dictionary)? })
    }

    /// Encodes more contents, and appends the output to `file`.
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    pub fn push(&mut self, contents: &[u8], file: &mut Vec<u8>) -> Result<(), NoMemory> {
        self.encoding.push(contents, file)
    }

    /// Appends the rest of the output to `file`.
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    pub fn finish(self, file: &mut Vec<u8>) -> Result<(), NoMemory> {
        self.encoding.finish(file)
    }
}

impl fmt::Debug for AloneEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AloneEncoder").finish_non_exhaustive()
    }
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

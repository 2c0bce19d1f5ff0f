//! The headers, footers and numbers around the compressed data (sections 1.2, 2.1 and 3.1).

use crc32fast::hash as crc32;
use liblzma::stream::Filters;

use super::check::Check;
use super::error::{Fault, Part};

/// The bytes with which a stream begins.
pub const MAGIC: [u8; 6] = *b"\xfd7zXZ\0";

/// The bytes with which a stream ends.
const END_MAGIC: [u8; 2] = *b"YZ";

/// The sizes of a stream's header and footer in bytes.
pub(super) const STREAM_HEADER_LEN: usize = 12;
pub(super) const FOOTER_LEN: usize = 12;

/// The largest number in a file, and the largest size of a number in bytes.
const MAX_NUMBER: u64 = u64::MAX >> 1;
pub(super) const MAX_NUMBER_LEN: usize = 9;

/// The ID of the filter LZMA2.
const LZMA2: u64 = 0x21;

/// Returns the header of a stream.
pub(super) fn stream_header(check: Check) -> Vec<u8> {
    let flags = [0, check.id()];
    [&MAGIC[..], &flags, &crc32(&flags).to_le_bytes()].concat()
}

/// Returns the check of the stream that begins with `header`, whose magic bytes were checked.
pub(super) fn parse_stream_header(header: &[u8; STREAM_HEADER_LEN]) -> Result<Check, Fault> {
    let [.., a, b, c, d, e, f] = *header;
    let (expected, found) = (u32::from_le_bytes([c, d, e, f]), crc32(&[a, b]));
    if expected != found {
        return Err(Fault::Crc { part: Part::Header, expected, found });
    }
    check_of([a, b])
}

fn check_of(flags: [u8; 2]) -> Result<Check, Fault> {
    match flags {
        [0, id @ 0..16] => Check::of_id(id).ok_or(Fault::Unsupported { expected: "a kind of check" }),
        _ => Err(Fault::Unsupported { expected: "the flags of a stream" }),
    }
}

/// Returns the footer of a stream whose index has `index_len` bytes.
pub(super) fn footer(check: Check, index_len: u64) -> Vec<u8> {
    let size = u32::try_from(index_len / 4 - 1).expect("an index has less than 16 GiB");
    let rest = [&size.to_le_bytes()[..], &[0, check.id()]].concat();
    [&crc32(&rest).to_le_bytes()[..], &rest, &END_MAGIC].concat()
}

/// Compares a footer with the stream that it ends.
pub(super) fn check_footer(footer: &[u8; FOOTER_LEN], check: Check, index_len: u64) -> Result<(), Fault> {
    let said = index_len_of(footer)?;
    if check_of([footer[8], footer[9]])? != check {
        return Err(Fault::Rule { expected: "the same flags as in the stream's header" });
    }
    if said != index_len {
        return Err(Fault::Size { what: "an index", expected: said, found: index_len });
    }
    Ok(())
}

/// Returns the size of the index before a footer, in bytes.
pub(super) fn index_len_of(footer: &[u8; FOOTER_LEN]) -> Result<u64, Fault> {
    if footer[10..] != END_MAGIC {
        return Err(Fault::Rule { expected: "the footer's magic bytes `YZ`" });
    }
    let (expected, found) = (u32_at(footer, 0), crc32(&footer[4..10]));
    if expected != found {
        return Err(Fault::Crc { part: Part::Footer, expected, found });
    }
    Ok(4 * (u64::from(u32_at(footer, 4)) + 1))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Appends a number (section 1.2).
pub(super) fn push_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number from the front of `bytes`; `None` if it is incomplete.
pub(super) fn take_number(bytes: &mut &[u8]) -> Result<Option<u64>, Fault> {
    let mut number = 0;
    for (place, &byte) in bytes.iter().take(MAX_NUMBER_LEN).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            if byte == 0 && place > 0 {
                return Err(Fault::Rule { expected: "a number in its shortest form" });
            }
            *bytes = &bytes[place + 1..];
            return Ok(Some(number));
        }
    }
    if bytes.len() >= MAX_NUMBER_LEN {
        return Err(Fault::Rule { expected: "a number of at most nine bytes" });
    }
    Ok(None)
}

/// The header of a block (section 3.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BlockHeader {
    /// The size of the header in bytes.
    pub(super) len: usize,
    /// The sizes of the compressed data and of the contents in bytes, if the header states them.
    pub(super) compressed: Option<u64>,
    pub(super) uncompressed: Option<u64>,
    /// The filters' numbers and properties, in the order of encoding.
    filters: Vec<(u64, Vec<u8>)>,
}

impl BlockHeader {
    /// Returns the header of a block of LZMA2 data with a dictionary of at least `dictionary` bytes.
    pub(super) fn lzma2(dictionary: u32, compressed: u64, uncompressed: u64) -> Vec<u8> {
        let mut header = vec![0, 0xc0];
        push_number(&mut header, compressed);
        push_number(&mut header, uncompressed);
        push_number(&mut header, LZMA2);
        header.extend_from_slice(&[1, dictionary_code(dictionary)]);
        header.resize(header.len().next_multiple_of(4), 0);
        header[0] = (header.len() / 4) as u8;
        let checksum = crc32(&header);
        header.extend_from_slice(&checksum.to_le_bytes());
        header
    }

    /// Returns the size in bytes of the header that begins with the byte `first`.
    pub(super) fn len_of(first: u8) -> usize {
        4 * (usize::from(first) + 1)
    }

    /// Parses a header, which must have the size that its first byte states.
    pub(super) fn parse(header: &[u8]) -> Result<BlockHeader, Fault> {
        let len = header.len();
        let (fields, checksum) = header.split_at(len - 4);
        let (expected, found) = (u32_at(checksum, 0), crc32(fields));
        if expected != found {
            return Err(Fault::Crc { part: Part::BlockHeader, expected, found });
        }
        let flags = fields[1];
        if flags & 0x3c != 0 {
            return Err(Fault::Unsupported { expected: "the flags of a block" });
        }
        let mut rest = &fields[2..];
        let mut number = || match take_number(&mut rest) {
            Ok(number) => number.ok_or(Fault::Rule { expected: "more bytes in a block's header" }),
            Err(fault) => Err(fault),
        };
        let compressed = if flags & 0x40 != 0 { Some(number()?) } else { None };
        let uncompressed = if flags & 0x80 != 0 { Some(number()?) } else { None };
        if compressed == Some(0) {
            return Err(Fault::Rule { expected: "compressed data in a block" });
        }
        let mut filters = Vec::new();
        for _ in 0..=flags & 3 {
            let short = Fault::Rule { expected: "more bytes in a block's header" };
            let id = take_number(&mut rest)?.ok_or(short.clone())?;
            let len = take_number(&mut rest)?.ok_or(short.clone())?;
            let len = usize::try_from(len).ok().filter(|&len| len <= rest.len()).ok_or(short)?;
            let (properties, behind) = rest.split_at(len);
            filters.push((id, properties.to_vec()));
            rest = behind;
        }
        if rest.iter().any(|&byte| byte != 0) {
            return Err(Fault::Unsupported { expected: "a block's header" });
        }
        let header = BlockHeader { len, compressed, uncompressed, filters };
        header.dictionary()?;
        Ok(header)
    }

    /// Returns the size of the dictionary in bytes.
    pub(super) fn dictionary(&self) -> Result<u32, Fault> {
        match self.filters.last().map(|(id, properties)| (*id, &properties[..])) {
            Some((LZMA2, &[code @ 0..=40])) => Ok(dictionary_size(code)),
            Some((LZMA2, _)) => Err(Fault::Unsupported { expected: "properties of LZMA2" }),
            _ => Err(Fault::Unsupported { expected: "LZMA2 as the last filter" }),
        }
    }

    /// Returns the liblzma filters for decoding.
    pub(super) fn filters(&self) -> Result<Filters, Fault> {
        let mut filters = Filters::new();
        for (id, properties) in &self.filters {
            let properties = &properties[..];
            let pushed = match *id {
                0x03 => filters.delta_properties(properties),
                0x04 => filters.x86_properties(properties),
                0x05 => filters.powerpc_properties(properties),
                0x06 => filters.ia64_properties(properties),
                0x07 => filters.arm_properties(properties),
                0x08 => filters.arm_thumb_properties(properties),
                0x09 => filters.sparc_properties(properties),
                0x0a => filters.arm64_properties(properties),
                0x0b => filters.riscv_properties(properties),
                LZMA2 => filters.lzma2_properties(properties),
                _ => return Err(Fault::Unsupported { expected: "a filter" }),
            };
            pushed.map_err(|_| Fault::Unsupported { expected: "properties of a filter" })?;
        }
        Ok(filters)
    }

    /// Returns the size of the whole block in bytes without padding, if the header states it and it is valid.
    pub(super) fn unpadded(&self, check: Check) -> Option<u64> {
        let around = (self.len + check.len()) as u64;
        self.compressed?.checked_add(around).filter(|&len| len <= MAX_NUMBER)
    }
}

/// Returns the code of the smallest dictionary that is not below `size`.
fn dictionary_code(size: u32) -> u8 {
    (0..=40).find(|&code| dictionary_size(code) >= size).expect("the last code stands for all that there is")
}

/// Returns the dictionary size for a code of at most 40 (section 5.3.1).
fn dictionary_size(code: u8) -> u32 {
    match code {
        40 => u32::MAX,
        _ => (2 | u32::from(code) & 1) << (code / 2 + 11),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_nothing_else_is_one() {
        for number in [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), MAX_NUMBER] {
            let mut bytes = Vec::new();
            push_number(&mut bytes, number);
            for end in 0..bytes.len() {
                assert_eq!(take_number(&mut &bytes[..end]), Ok(None));
            }
            bytes.push(7);
            let mut rest = &bytes[..];
            assert_eq!((take_number(&mut rest), rest), (Ok(Some(number)), &[7][..]));
        }
        assert!(take_number(&mut &[0x80, 0][..]).is_err());
        assert!(take_number(&mut &[0xff; 9][..]).is_err());
    }

    #[test]
    fn dictionaries_have_the_least_code_that_is_enough() {
        assert_eq!((dictionary_size(0), dictionary_size(1), dictionary_size(39)), (4096, 6144, 3 << 30));
        assert_eq!((dictionary_code(1), dictionary_code(4097), dictionary_code(8 << 20)), (0, 1, 22));
        assert_eq!(dictionary_code(u32::MAX), 40);
    }

    #[test]
    fn a_header_says_what_it_was_told() {
        let bytes = BlockHeader::lzma2(1 << 20, 1000, 70_000);
        assert_eq!(bytes.len(), BlockHeader::len_of(bytes[0]));
        let header = BlockHeader::parse(&bytes).unwrap();
        assert_eq!((header.compressed, header.uncompressed), (Some(1000), Some(70_000)));
        assert_eq!(header.dictionary(), Ok(1 << 20));
    }
}

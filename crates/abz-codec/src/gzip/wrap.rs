//! The headers and trailers around deflate data in files of zlib and zip.

use crc32fast::Hasher;
use time::UtcDateTime;

use super::EMPTY_DEFLATE;
use super::layout::{Encoded, Layout};

/// Returns the header of a stream of zlib (RFC 1950, section 2.2): deflate with a window of 32 KiB, and the approximate
/// level.
pub(super) fn zlib_header(level: u32) -> Vec<u8> {
    vec![
        0x78,
        match level {
            1 => 0x01,
            2..=5 => 0x5e,
            6 => 0x9c,
            _ => 0xda,
        },
    ]
}

const LOCAL: [u8; 4] = *b"PK\x03\x04";
const DESCRIPTOR: [u8; 4] = *b"PK\x07\x08";
const CENTRAL: [u8; 4] = *b"PK\x01\x02";
const LONG_END: [u8; 4] = *b"PK\x06\x06";
const LONG_LOCATOR: [u8; 4] = *b"PK\x06\x07";
const END: [u8; 4] = *b"PK\x05\x06";

/// The version of zip that reads sizes of eight bytes, and the same with Unix as the system.
const VERSION: u16 = 45;
const MADE_BY: u16 = 3 << 8 | VERSION;

/// Flags: a descriptor follows the data; a name that is not ASCII is in UTF-8.
const HAS_DESCRIPTOR: u16 = 8;
const UTF_8: u16 = 1 << 11;

const DEFLATED: u16 = 8;

/// The mode of a regular Unix file with the usual permissions, in the upper half.
const ATTRIBUTES: u32 = 0o100_644 << 16;

/// The identifiers of the extra fields for sizes of eight bytes, and for the time in seconds since 1970.
const LONG_SIZES: u16 = 1;
const TIME: [u8; 2] = *b"UT";

/// The value of a size that is stored elsewhere.
const ELSEWHERE: u32 = u32::MAX;

/// The offset of the name's length in a local header, and the length of the header.
const NAME_LEN_AT: usize = 26;
const START: usize = 30;

/// Returns the local header of a file in an archive of zip (APPNOTE, section 4.3.7). The sizes follow the data.
pub(super) fn zip_header(name: Option<&[u8]>, mtime: u32) -> Vec<u8> {
    let name = name.unwrap_or(b"-");
    let is_utf8 = !name.is_ascii() && std::str::from_utf8(name).is_ok();
    let (time, date) = dos_time(mtime);
    let mut extra = Vec::new();
    put(&mut extra, &[LONG_SIZES, 16]);
    extra.extend([0; 16]);
    push_time(&mut extra, mtime);
    let mut header = LOCAL.to_vec();
    put(&mut header, &[VERSION, HAS_DESCRIPTOR | if is_utf8 { UTF_8 } else { 0 }, DEFLATED, time, date]);
    [0, ELSEWHERE, ELSEWHERE].iter().for_each(|number: &u32| header.extend(number.to_le_bytes()));
    put(&mut header, &[name.len() as u16, extra.len() as u16]);
    header.extend(name);
    header.extend(extra);
    header
}

fn push_time(extra: &mut Vec<u8>, mtime: u32) {
    if mtime > 0 {
        extra.extend(TIME);
        put(extra, &[5]);
        extra.push(1);
        extra.extend(mtime.to_le_bytes());
    }
}

fn put(bytes: &mut Vec<u8>, numbers: &[u16]) {
    numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
}

/// Returns the time and the date in the format of DOS, in UTC, for programs that ignore the time in seconds: 1980 to
/// 2107.
fn dos_time(mtime: u32) -> (u16, u16) {
    const EARLIEST: (u16, u16) = (0, 1 << 5 | 1);
    let Ok(at) = UtcDateTime::from_unix_timestamp(mtime.into()) else { return EARLIEST };
    let Ok(years) = u16::try_from(at.year() - 1980) else { return EARLIEST };
    let (hour, minute, half) = (at.hour(), at.minute(), at.second() / 2);
    let time = u16::from(hour) << 11 | u16::from(minute) << 5 | u16::from(half);
    (time, years << 9 | u16::from(u8::from(at.month())) << 5 | u16::from(at.day()))
}

/// The state of a file of zlib or zip.
#[derive(Debug)]
pub(super) enum Wrapped {
    Zlib {
        /// The Adler-32 so far.
        sum: u32,
        has_ended: bool,
    },
    Zip {
        /// The local header.
        header: Vec<u8>,
        sum: Hasher,
        /// The size of the contents, and of the deflate data, in bytes.
        contents: u64,
        compressed: u64,
        has_ended: bool,
    },
}

impl Wrapped {
    pub(super) fn of(layout: Layout) -> Option<Wrapped> {
        match layout {
            Layout::Zlib => Some(Wrapped::Zlib { sum: 1, has_ended: false }),
            Layout::Zip => {
                let (header, sum) = (Vec::new(), Hasher::new());
                Some(Wrapped::Zip { header, sum, contents: 0, compressed: 0, has_ended: false })
            }
            _ => None,
        }
    }

    /// Adds the next block.
    pub(super) fn add(&mut self, block: &Encoded) {
        match self {
            Wrapped::Zlib { sum, has_ended } => {
                *sum = adler32_of_both(*sum, block.crc32, block.uncompressed);
                *has_ended = block.ends;
            }
            Wrapped::Zip { header, sum, contents, compressed, has_ended } => {
                *has_ended = block.ends;
                header.extend_from_slice(&block.header);
                sum.combine(&Hasher::new_with_initial_len(block.crc32, block.uncompressed.into()));
                *contents += u64::from(block.uncompressed);
                *compressed += block.bytes.len() as u64;
            }
        }
    }

    /// Returns the end of the file.
    pub(super) fn end(self) -> Vec<u8> {
        let last_block = |has_ended| if has_ended { &[][..] } else { &EMPTY_DEFLATE };
        match self {
            Wrapped::Zlib { sum, has_ended } => [last_block(has_ended), &sum.to_be_bytes()].concat(),
            Wrapped::Zip { header, sum, contents, compressed, has_ended } => {
                let last_block = last_block(has_ended);
                let (crc32, compressed) =
                    (sum.finalize().to_le_bytes(), compressed + last_block.len() as u64);
                let mut bytes = last_block.to_vec();
                bytes.extend(DESCRIPTOR);
                bytes.extend(crc32);
                bytes.extend(compressed.to_le_bytes());
                bytes.extend(contents.to_le_bytes());
                // The directory begins behind the header, the data and the descriptor.
                let at = header.len() as u64 + compressed + (bytes.len() - last_block.len()) as u64;
                push_directory(&mut bytes, &header, (crc32, compressed, contents), at);
                bytes
            }
        }
    }
}

/// Appends the directory of an archive with one file (APPNOTE, sections 4.3.12 to 4.3.16), which begins at byte `at`.
fn push_directory(
    bytes: &mut Vec<u8>,
    header: &[u8],
    (crc32, compressed, contents): ([u8; 4], u64, u64),
    at: u64,
) {
    let is_long = compressed >= ELSEWHERE.into() || contents >= ELSEWHERE.into();
    let short = |size: u64| if is_long { ELSEWHERE } else { size as u32 };
    let name_len = u16::from_le_bytes([header[NAME_LEN_AT], header[NAME_LEN_AT + 1]]);
    let (name, local_extra) = header[START..].split_at(name_len.into());
    let mut extra = Vec::new();
    if is_long {
        put(&mut extra, &[LONG_SIZES, 16]);
        extra.extend(contents.to_le_bytes());
        extra.extend(compressed.to_le_bytes());
    }
    // The time follows the sizes of the local header, if there is any.
    extra.extend(&local_extra[20..]);
    let begin = bytes.len();
    bytes.extend(CENTRAL);
    put(bytes, &[MADE_BY]);
    // Version, flags, method, time and date are the same.
    bytes.extend(&header[4..14]);
    bytes.extend(crc32);
    bytes.extend(short(compressed).to_le_bytes());
    bytes.extend(short(contents).to_le_bytes());
    // The lengths of name, extra field and comment, the number of the volume, and internal attributes.
    put(bytes, &[name_len, extra.len() as u16, 0, 0, 0]);
    bytes.extend(ATTRIBUTES.to_le_bytes());
    bytes.extend(0u32.to_le_bytes());
    bytes.extend(name);
    bytes.extend(extra);
    let len = (bytes.len() - begin) as u64;
    let is_far = at >= ELSEWHERE.into();
    if is_far {
        bytes.extend(LONG_END);
        bytes.extend(44u64.to_le_bytes());
        put(bytes, &[MADE_BY, VERSION]);
        bytes.extend([0; 8]);
        [1, 1, len, at].iter().for_each(|number: &u64| bytes.extend(number.to_le_bytes()));
        bytes.extend(LONG_LOCATOR);
        bytes.extend([0; 4]);
        bytes.extend((at + len).to_le_bytes());
        bytes.extend(1u32.to_le_bytes());
    }
    bytes.extend(END);
    put(bytes, &[0, 0, 1, 1]);
    bytes.extend((len as u32).to_le_bytes());
    bytes.extend(if is_far { ELSEWHERE } else { at as u32 }.to_le_bytes());
    put(bytes, &[0]);
}

/// Returns the Adler-32 of contents behind others (RFC 1950, section 8.2: two sums, modulo 65521). `second` is that of
/// the last `len` bytes.
fn adler32_of_both(first: u32, second: u32, len: u32) -> u32 {
    const BASE: u64 = 65_521;
    let [(a, b), (c, d)] = [first, second].map(|sum| (u64::from(sum & 0xffff), u64::from(sum >> 16)));
    // Each lower sum begins with 1, and the upper one adds the lower one for each byte.
    let low = (a + c + BASE - 1) % BASE;
    let high = (b + d + u64::from(len) % BASE * (a + BASE - 1)) % BASE;
    (high << 16 | low) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_parts_are_those_of_the_whole() {
        let data: Vec<u8> =
            (0..100_000u32).map(|number| ((number.wrapping_mul(number)) >> 5) as u8).collect();
        for at in [0, 1, 99, 65_521, 70_000, data.len()] {
            let (first, second) = data.split_at(at);
            let both = adler32_of_both(
                libdeflater::adler32(first),
                libdeflater::adler32(second),
                second.len() as u32,
            );
            assert_eq!(both, libdeflater::adler32(&data), "{at}");
        }
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, (1980, 1, 1, 0, 0, 0)),
            (951_782_400, (2000, 2, 29, 0, 0, 0)),
            (1_700_000_000, (2023, 11, 14, 22, 13, 20)),
            (4_107_542_399, (2100, 2, 28, 23, 59, 58)),
            (1_704_067_200, (2024, 1, 1, 0, 0, 0)),
        ] {
            let (time, date) = dos_time(seconds);
            let found =
                (1980 + (date >> 9), date >> 5 & 15, date & 31, time >> 11, time >> 5 & 63, 2 * (time & 31));
            assert_eq!(found, expected, "{seconds}");
        }
    }
}

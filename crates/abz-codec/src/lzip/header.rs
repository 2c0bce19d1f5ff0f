//! The header (6 bytes before the LZMA data) and the trailer (20 bytes behind it) of a member.

use std::ops::RangeInclusive;

use liblzma::stream::Filters;

use super::error::Fault;
use super::{HEADER_LEN, TRAILER_LEN};

/// The bytes with which a member begins.
pub const MAGIC: [u8; 4] = *b"LZIP";

/// The current version.
const VERSION: u8 = 1;

/// The version of 2008, whose members do not state their size.
const OLD_VERSION: u8 = 0;

/// The sizes that a dictionary may have, in bytes.
pub(super) const DICTIONARIES: RangeInclusive<u32> = 1 << 12..=1 << 29;

/// The parameters lc, lp and pb of LZMA, coded as in the headers of other formats. They are the same in all lzip files.
const PROPERTIES: u8 = (2 * 5) * 9 + 3;

/// Returns the header of a member whose dictionary has at least `dictionary` bytes.
pub(super) fn header(dictionary: u32) -> [u8; HEADER_LEN] {
    let [a, b, c, d] = MAGIC;
    [a, b, c, d, VERSION, code(dictionary)]
}

/// Returns the dictionary size of the member that begins with `header`, whose magic bytes were checked.
pub(super) fn dictionary(header: &[u8]) -> Result<u32, (usize, Fault)> {
    if header[4] != VERSION {
        return Err((4, Fault::Version { found: header[4] }));
    }
    size(header[5]).ok_or((5, Fault::Dictionary { code: header[5] }))
}

/// The kind of trailer of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// With 20 bytes.
    Usual,
    /// With 12 bytes, without the size of the member.
    Old,
}

impl Kind {
    /// Returns the kind of the member that begins with `header`, and its dictionary size.
    pub(super) fn of(header: &[u8]) -> Result<(Kind, u32), (usize, Fault)> {
        match header[4] {
            OLD_VERSION => match size(header[5]) {
                Some(size) => Ok((Kind::Old, size)),
                None => Err((5, Fault::Dictionary { code: header[5] })),
            },
            _ => dictionary(header).map(|size| (Kind::Usual, size)),
        }
    }

    /// Returns the size of the trailer in bytes.
    pub(super) fn trailer_len(self) -> usize {
        match self {
            Kind::Usual => TRAILER_LEN,
            Kind::Old => TRAILER_LEN - size_of::<u64>(),
        }
    }
}

/// Returns the code of the smallest valid size that is not below `size`.
fn code(size: u32) -> u8 {
    let size = size.clamp(*DICTIONARIES.start(), *DICTIONARIES.end());
    let power = size.next_power_of_two();
    let sixteenths = if power == *DICTIONARIES.start() { 0 } else { (power - size) / (power / 16) };
    power.ilog2() as u8 | (sixteenths as u8) << 5
}

/// Returns the size that a code stands for, if it is valid.
fn size(code: u8) -> Option<u32> {
    let power = 1u32 << (code & 0x1f);
    let size = power - power / 16 * u32::from(code >> 5);
    DICTIONARIES.contains(&size).then_some(size)
}

/// Returns the liblzma filters for LZMA data with a dictionary of so many bytes.
pub(super) fn filters(dictionary: u32) -> Filters {
    let mut properties = [PROPERTIES, 0, 0, 0, 0];
    properties[1..].copy_from_slice(&dictionary.to_le_bytes());
    let mut filters = Filters::new();
    filters.lzma1_properties(&properties).expect("the properties are right");
    filters
}

/// The trailer of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trailer {
    pub(super) checksum: u32,
    pub(super) data_size: u64,
    pub(super) member_size: u64,
}

impl Trailer {
    pub(super) fn read(bytes: &[u8; TRAILER_LEN]) -> Self {
        let [a, b, c, d, rest @ ..] = *bytes;
        let (sizes, _) = rest.as_chunks::<8>();
        Trailer {
            checksum: u32::from_le_bytes([a, b, c, d]),
            data_size: u64::from_le_bytes(sizes[0]),
            member_size: u64::from_le_bytes(sizes[1]),
        }
    }

    /// Reads the trailer of an old member of `member_size` bytes.
    pub(super) fn read_old(bytes: &[u8], member_size: u64) -> Self {
        let mut whole = [0; TRAILER_LEN];
        whole[..bytes.len()].copy_from_slice(bytes);
        Trailer { member_size, ..Trailer::read(&whole) }
    }

    pub(super) fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.checksum.to_le_bytes());
        out.extend_from_slice(&self.data_size.to_le_bytes());
        out.extend_from_slice(&self.member_size.to_le_bytes());
    }

    /// Returns whether at least one of its numbers is the one that was found.
    pub(super) fn has_any_of(self, found: Trailer) -> bool {
        self.checksum == found.checksum
            || self.data_size == found.data_size
            || self.member_size == found.member_size
    }

    /// Compares the trailer with the numbers that were found. A fault comes with its offset in the trailer.
    pub(super) fn check(self, found: Trailer) -> Result<(), (u64, Fault)> {
        if self.checksum != found.checksum {
            return Err((0, Fault::Checksum { expected: self.checksum, found: found.checksum }));
        }
        if self.data_size != found.data_size {
            return Err((4, Fault::DataSize { expected: self.data_size, found: found.data_size }));
        }
        if self.member_size != found.member_size {
            return Err((12, Fault::MemberSize { expected: self.member_size, found: found.member_size }));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_stand_for_the_least_size_that_is_enough() {
        let sizes: Vec<u32> = (0..=255).filter_map(size).collect();
        assert_eq!(sizes.len(), 17 * 8 + 1);
        for &known in &sizes {
            assert_eq!(size(code(known)), Some(known));
            for wanted in [known - 1, known + 1] {
                let least = sizes.iter().copied().filter(|&size| size >= wanted).min();
                assert_eq!(size(code(wanted)), Some(least.unwrap_or(1 << 29)), "{wanted}");
            }
        }
        // The example in the manual.
        assert_eq!(size(0xd3), Some(320 << 10));
    }
}

//! The CRC-32 and the size of the contents of a member, computed as they are decoded.

use crc32fast::Hasher;
use libdeflater::Crc;

use super::error::{DecodeError, Fault};
use super::mark::Mark;
use super::member::Stretch;
use super::{TRAILER_LEN, u32_at};
use crate::damage::Place;

/// The CRC-32 and the size of the contents of a member so far.
pub(super) struct Sums {
    /// The CRC-32 and the size of the data that was added last.
    crc: Crc,
    len: u64,
    /// The CRC-32 and the size of the data before that.
    before: Hasher,
}

impl Sums {
    pub(super) fn new() -> Self {
        Sums { crc: Crc::new(), len: 0, before: Hasher::new() }
    }

    pub(super) fn add(&mut self, data: &[u8]) {
        self.crc.update(data);
        self.len += data.len() as u64;
    }

    /// Returns the size of all data in bytes.
    pub(super) fn len(&self) -> u64 {
        self.before.total_len() + self.len
    }

    /// Adds data by its CRC-32 and its size in bytes.
    fn add_summed(&mut self, crc32: u32, len: u64) {
        self.before = self.all();
        self.before.combine(&Hasher::new_with_initial_len(crc32, len));
        (self.crc, self.len) = (Crc::new(), 0);
    }

    /// Returns the CRC-32 and the size of all data.
    fn all(&self) -> Hasher {
        let mut all = self.before.clone();
        all.combine(&Hasher::new_with_initial_len(self.crc.sum(), self.len));
        all
    }

    /// Verifies the contents of a block against its mark.
    pub(super) fn check_mark(&self, mark: &Mark) -> Result<(), Fault> {
        let all = self.all();
        let (expected, found) = (mark.len, all.total_len() as u32);
        if expected != found {
            return Err(Fault::Length { expected, found });
        }
        let (expected, found) = (mark.crc32, all.finalize());
        if expected != found {
            return Err(Fault::Checksum { expected, found });
        }
        Ok(())
    }

    /// Verifies the contents against their trailer. The error is the fault and its offset in the trailer.
    pub(super) fn check(&self, trailer: [u8; TRAILER_LEN]) -> Result<(), (u64, Fault)> {
        self.check_behind((0, 0), trailer)
    }

    /// As [`check`](Self::check), for contents behind others with the CRC-32 and the size that are given.
    fn check_behind(&self, (crc32, len): (u32, u64), trailer: [u8; TRAILER_LEN]) -> Result<(), (u64, Fault)> {
        let mut sum = Hasher::new_with_initial_len(crc32, len);
        sum.combine(&self.all());
        // The size comes first: if it is wrong the checksum is wrong too, and is less informative.
        let (expected, found) = (u32_at(&trailer, 4), sum.total_len() as u32);
        if expected != found {
            return Err((4, Fault::Length { expected, found }));
        }
        let (expected, found) = (u32_at(&trailer, 0), sum.finalize());
        if expected != found {
            return Err((0, Fault::Checksum { expected, found }));
        }
        Ok(())
    }
}

/// Verifies the data of streamed members, in order, as a [`Scanner`](super::Scanner) decodes it. It may run on another
/// thread.
pub struct Verifier {
    sums: Sums,
}

impl Verifier {
    /// Creates a verifier for a file from its start.
    pub fn new() -> Self {
        Verifier { sums: Sums::new() }
    }

    /// Adds the next data of the file's streamed members, with the scanner's description of it. With the last data of a
    /// member its checksum and its size are verified.
    ///
    /// # Errors
    ///
    /// [`Fault::Length`] or [`Fault::Checksum`], if the member's contents do not match its trailer.
    pub fn verify(&mut self, stretch: &Stretch, data: &[u8]) -> Result<(), DecodeError> {
        self.sums.add(data);
        self.end(stretch)
    }

    /// As [`verify`](Verifier::verify), for data given by its CRC-32 and its size in bytes.
    ///
    /// # Errors
    ///
    /// As [`verify`](Verifier::verify).
    pub fn verify_summed(&mut self, stretch: &Stretch, (crc32, len): (u32, u64)) -> Result<(), DecodeError> {
        self.sums.add_summed(crc32, len);
        self.end(stretch)
    }

    fn end(&mut self, stretch: &Stretch) -> Result<(), DecodeError> {
        let Some((trailer_at, trailer)) = stretch.trailer else { return Ok(()) };
        let sums = std::mem::replace(&mut self.sums, Sums::new());
        let place = Place::Member { number: stretch.number, start: stretch.start };
        let checked = sums.check_behind(stretch.before.unwrap_or((0, 0)), trailer);
        checked.map_err(|(at, fault)| DecodeError::new(place, trailer_at + at, fault))
    }
}

impl Default for Verifier {
    fn default() -> Self {
        Verifier::new()
    }
}

impl std::fmt::Debug for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Verifier").field("len", &self.sums.len).finish_non_exhaustive()
    }
}

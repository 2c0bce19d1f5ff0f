//! What a trailer says of the contents, summed up as they are decoded.

use crc32fast::Hasher;
use libdeflater::Crc;

use super::error::{DecodeError, Fault};
use super::mark::Mark;
use super::member::Stretch;
use super::{TRAILER_LEN, u32_at};
use crate::damage::Place;

/// CRC-32 and size of the contents of a member, so far.
pub(super) struct Sums {
    /// Of what was added last.
    crc: Crc,
    len: u64,
    /// Of what was before that.
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

    /// The size of all that was added, in bytes.
    pub(super) fn len(&self) -> u64 {
        self.before.total_len() + self.len
    }

    /// Adds contents of which these are the CRC-32 and the size.
    fn add_summed(&mut self, crc32: u32, len: u64) {
        self.before = self.all();
        self.before.combine(&Hasher::new_with_initial_len(crc32, len));
        (self.crc, self.len) = (Crc::new(), 0);
    }

    /// The sum of all that was added.
    fn all(&self) -> Hasher {
        let mut all = self.before.clone();
        all.combine(&Hasher::new_with_initial_len(self.crc.sum(), self.len));
        all
    }

    /// Holds the contents of a block against its mark.
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

    /// Holds the contents against their trailer: the fault, and where in the trailer it lies.
    pub(super) fn check(&self, trailer: [u8; TRAILER_LEN]) -> Result<(), (u64, Fault)> {
        self.check_behind((0, 0), trailer)
    }

    /// As [`check`](Self::check), of contents behind others, whose CRC-32 and size these are.
    fn check_behind(&self, (crc32, len): (u32, u64), trailer: [u8; TRAILER_LEN]) -> Result<(), (u64, Fault)> {
        let mut sum = Hasher::new_with_initial_len(crc32, len);
        sum.combine(&self.all());
        // The size first: where it is wrong the checksum is too, and says less.
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

/// Verifies the data of streamed members, in order, as a [`Scanner`](super::Scanner) decodes it: on another thread,
/// if one likes.
pub struct Verifier {
    sums: Sums,
}

impl Verifier {
    /// A verifier for a file from its start.
    pub fn new() -> Self {
        Verifier { sums: Sums::new() }
    }

    /// Takes the next data of the file's streamed members and what the scanner said of it. With the last data of a
    /// member its checksum and its size are verified.
    ///
    /// # Errors
    ///
    /// [`Fault::Length`] or [`Fault::Checksum`], if the member's contents are not what its trailer says.
    pub fn verify(&mut self, stretch: &Stretch, data: &[u8]) -> Result<(), DecodeError> {
        self.sums.add(data);
        self.end(stretch)
    }

    /// As [`verify`](Verifier::verify), where somebody else has summed up the data: its CRC-32 and its size in bytes.
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
        checked.map_err(|(at, fault)| DecodeError { place, offset: trailer_at + at, fault })
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

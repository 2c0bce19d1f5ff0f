//! Zeros after the last member of a file, with which tapes and some file systems fill a block. They are no garbage.

use std::io;

use crate::positional::ReadAt;

/// Returns `true` if all bytes of `input` from this place on are zeros.
pub(crate) fn fill(input: &dyn ReadAt, mut place: u64) -> io::Result<bool> {
    let mut zeros = Zeros::default();
    let mut bytes = vec![0; 64 << 10];
    while place < input.size() && zeros.are_all_from(0) {
        bytes.truncate(usize::try_from(input.size() - place).unwrap_or(usize::MAX));
        input.read_at(&mut bytes, place)?;
        zeros.add(&bytes);
        place += bytes.len() as u64;
    }
    Ok(zeros.are_all_from(0))
}

/// Finds the zeros at the end of bytes that come one piece after another.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Zeros {
    /// The number of bytes that came, and the place from which on they are zeros.
    pub(crate) bytes: u64,
    from: u64,
}

impl Zeros {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        if let Some(last) = bytes.iter().rposition(|&byte| byte != 0) {
            self.from = self.bytes + last as u64 + 1;
        }
        self.bytes += bytes.len() as u64;
    }

    /// Returns `true` if all bytes from this place on are zeros.
    pub(crate) fn are_all_from(&self, place: u64) -> bool {
        self.from <= place
    }
}

//! The checks of a block's contents (section 2.1.1.2).

use std::fmt;

use crc32fast::Hasher;
use sha2::{Digest, Sha256};

/// The kind of checksum of the contents that a block stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Check {
    /// No check.
    None,
    /// A CRC-32.
    Crc32,
    /// A CRC-64.
    #[default]
    Crc64,
    /// A SHA-256.
    Sha256,
}

impl Check {
    /// All checks.
    pub const ALL: [Check; 4] = [Check::None, Check::Crc32, Check::Crc64, Check::Sha256];

    /// Returns the name that xz uses for it.
    pub fn name(self) -> &'static str {
        match self {
            Check::None => "none",
            Check::Crc32 => "crc32",
            Check::Crc64 => "crc64",
            Check::Sha256 => "sha256",
        }
    }

    /// Returns its size in bytes.
    pub(super) fn len(self) -> usize {
        match self {
            Check::None => 0,
            Check::Crc32 => 4,
            Check::Crc64 => 8,
            Check::Sha256 => 32,
        }
    }

    /// Returns its number in the header of a stream.
    pub(crate) fn id(self) -> u8 {
        match self {
            Check::None => 0,
            Check::Crc32 => 1,
            Check::Crc64 => 4,
            Check::Sha256 => 10,
        }
    }

    /// Returns the check with that number.
    pub(crate) fn of_id(id: u8) -> Option<Check> {
        Check::ALL.into_iter().find(|check| check.id() == id)
    }

    /// Computes the check of `data`, in the form that a block stores.
    pub(super) fn of(self, data: &[u8]) -> Vec<u8> {
        let mut sum = Sum::new(self);
        sum.add(data);
        sum.finish()
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Check::None => "no check",
            Check::Crc32 => "CRC-32",
            Check::Crc64 => "CRC-64",
            Check::Sha256 => "SHA-256",
        })
    }
}

/// A check that is being computed.
pub(super) enum Sum {
    None,
    Crc32(Hasher),
    Crc64(crc64fast::Digest),
    Sha256(Box<Sha256>),
}

impl Sum {
    pub(super) fn new(check: Check) -> Self {
        match check {
            Check::None => Sum::None,
            Check::Crc32 => Sum::Crc32(Hasher::new()),
            Check::Crc64 => Sum::Crc64(crc64fast::Digest::new()),
            Check::Sha256 => Sum::Sha256(Box::default()),
        }
    }

    pub(super) fn add(&mut self, data: &[u8]) {
        match self {
            Sum::None => {}
            Sum::Crc32(sum) => sum.update(data),
            Sum::Crc64(sum) => sum.write(data),
            Sum::Sha256(sum) => sum.update(data),
        }
    }

    pub(super) fn finish(self) -> Vec<u8> {
        match self {
            Sum::None => Vec::new(),
            Sum::Crc32(sum) => sum.clone().finalize().to_le_bytes().to_vec(),
            Sum::Crc64(sum) => sum.sum64().to_le_bytes().to_vec(),
            Sum::Sha256(sum) => sum.finalize().to_vec(),
        }
    }
}

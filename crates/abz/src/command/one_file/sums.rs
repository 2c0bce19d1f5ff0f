//! Checksums of the uncompressed data, computed while it passes, for `--checksum` and `--verify`.

use std::fmt;
use std::io::{self, Read, Write};

use sha2::{Digest, Sha256};

/// Computes checksums of the bytes read from, or written to, `inner`.
pub(crate) struct Summed<T> {
    inner: T,
    len: u64,
    /// `None` if not requested.
    crc: Option<crc32fast::Hasher>,
    sha256: Option<Sha256>,
}

/// The size and the CRC-32 of some data, for comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    len: u64,
    crc: u32,
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes with the CRC-32 {:08x}", self.len, self.crc)
    }
}

impl<T> Summed<T> {
    /// Creates an adapter that only counts bytes.
    pub(crate) fn new(inner: T) -> Self {
        Summed { inner, len: 0, crc: None, sha256: None }
    }

    /// Adds the CRC-32 if `wanted`, for [`fingerprint`](Self::fingerprint).
    pub(crate) fn with_fingerprint(self, wanted: bool) -> Self {
        Summed { crc: wanted.then(crc32fast::Hasher::new), ..self }
    }

    /// Adds the SHA-256 if `wanted`.
    pub(crate) fn with_sha256(self, wanted: bool) -> Self {
        Summed { sha256: wanted.then(Sha256::new), ..self }
    }

    fn add(&mut self, data: &[u8]) {
        self.len += data.len() as u64;
        if let Some(crc) = &mut self.crc {
            crc.update(data);
        }
        if let Some(sha256) = &mut self.sha256 {
            sha256.update(data);
        }
    }

    /// Returns the number of bytes so far.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Returns the fingerprint of the data so far, if requested.
    pub(crate) fn fingerprint(&self) -> Option<Fingerprint> {
        let crc = self.crc.clone()?.finalize();
        Some(Fingerprint { len: self.len, crc })
    }

    /// Returns the SHA-256 of all data in hexadecimal digits, if requested.
    pub(crate) fn sha256(&mut self) -> Option<String> {
        let sum = self.sha256.take()?.finalize();
        Some(sum.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.add(&buffer[..read]);
        Ok(read)
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(buffer)?;
        self.add(&buffer[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_what_went_through() {
        let mut summed = Summed::new(&b"abcdef"[..]).with_fingerprint(true).with_sha256(true);
        summed.read_exact(&mut [0; 3]).unwrap();
        assert_eq!(summed.fingerprint(), Some(Fingerprint { len: 3, crc: 0x3524_41c2 }));
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(summed.sha256().as_deref(), Some(abc));

        let mut unsummed = Summed::new(Vec::new());
        unsummed.write_all(b"abc").unwrap();
        assert_eq!((unsummed.fingerprint(), unsummed.sha256()), (None, None));
    }
}

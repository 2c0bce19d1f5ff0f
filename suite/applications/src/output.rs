//! Where a variant writes its results.

use std::time::{Duration, Instant};

/// A hash of what was written, which depends on the order, and the time of the first result.
#[derive(Debug, Clone)]
pub struct Output {
    begin: Instant,
    first: Option<Duration>,
    hash: u64,
    bytes: u64,
}

/// An odd number without a pattern in its bits.
const BASE: u64 = 0xD134_2543_DE82_EF95;

impl Output {
    /// An output without results, whose time begins now.
    pub fn begin() -> Self {
        Self { begin: Instant::now(), first: None, hash: 0, bytes: 0 }
    }

    /// Writes one result. Where a result ends counts: two short results are not one long result.
    pub fn write(&mut self, result: &[u8]) {
        if self.first.is_none() {
            self.first = Some(self.begin.elapsed());
        }
        let mut words = result.chunks_exact(8);
        let mut hash = self.hash;
        for word in &mut words {
            let word = u64::from_le_bytes(word.try_into().expect("eight bytes"));
            hash = (hash ^ word).wrapping_mul(BASE).rotate_left(29);
        }
        for &byte in words.remainder() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(BASE).rotate_left(29);
        }
        self.hash = (hash ^ result.len() as u64).wrapping_mul(BASE).rotate_left(29);
        self.bytes += result.len() as u64;
    }

    /// The time from the beginning to now.
    pub fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// The time from the beginning to the first result, if there was one.
    pub fn first(&self) -> Option<Duration> {
        self.first
    }

    /// The hash of all results in their order.
    pub fn hash(&self) -> u64 {
        self.hash ^ self.bytes.wrapping_mul(BASE)
    }
}

#[cfg(test)]
mod tests {
    use super::Output;

    fn hash(results: &[&[u8]]) -> u64 {
        let mut output = Output::begin();
        results.iter().for_each(|result| output.write(result));
        output.hash()
    }

    #[test]
    fn the_hash_depends_on_order_length_and_borders() {
        let all = [
            hash(&[b"one", b"two"]),
            hash(&[b"two", b"one"]),
            hash(&[b"onetwo"]),
            hash(&[b"one", b"two", b""]),
            hash(&[b"0123456789", b"two"]),
            hash(&[]),
        ];
        for (at, hash) in all.iter().enumerate() {
            assert!(!all[..at].contains(hash), "{at}");
        }
    }
}

//! Where a variant writes its results.

use std::time::{Duration, Instant};

/// A hash of what was written, which depends on the order, and the time of the first result.
#[derive(Debug, Clone)]
pub struct Output {
    begin: Instant,
    first: Option<Duration>,
    hash: u64,
    bytes: u64,
    /// Bytes that were appended and do not fill a word yet.
    rest: [u8; 8],
    /// How many of these there are.
    held: usize,
}

/// An odd number without a pattern in its bits.
const BASE: u64 = 0xD134_2543_DE82_EF95;

impl Output {
    /// An output without results, whose time begins now.
    pub fn begin() -> Self {
        Self { begin: Instant::now(), first: None, hash: 0, bytes: 0, rest: [0; 8], held: 0 }
    }

    /// Writes one result. Where a result ends counts: two short results are not one long result.
    pub fn write(&mut self, result: &[u8]) {
        self.begins();
        let mut words = result.chunks_exact(8);
        let mut hash = self.hash;
        for word in &mut words {
            hash = mixed(hash, u64::from_le_bytes(word.try_into().expect("eight bytes")));
        }
        for &byte in words.remainder() {
            hash = mixed(hash, u64::from(byte));
        }
        self.hash = mixed(hash, result.len() as u64);
        self.bytes += result.len() as u64;
    }

    /// Writes more of a single long result. Where a part ends does not count.
    pub fn append(&mut self, part: &[u8]) {
        self.begins();
        self.bytes += part.len() as u64;
        let (begin, part) = part.split_at(part.len().min((8 - self.held) % 8));
        self.hold(begin);
        let mut words = part.chunks_exact(8);
        for word in &mut words {
            self.hash = mixed(self.hash, u64::from_le_bytes(word.try_into().expect("eight bytes")));
        }
        self.hold(words.remainder());
    }

    /// Holds bytes until they are a word.
    fn hold(&mut self, bytes: &[u8]) {
        self.rest[self.held..][..bytes.len()].copy_from_slice(bytes);
        self.held += bytes.len();
        if self.held == 8 {
            self.hash = mixed(self.hash, u64::from_le_bytes(self.rest));
            self.held = 0;
        }
    }

    /// Notes the time of the first result.
    fn begins(&mut self) {
        if self.first.is_none() {
            self.first = Some(self.begin.elapsed());
        }
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
        let mix = |hash, &byte: &u8| mixed(hash, u64::from(byte));
        self.rest[..self.held].iter().fold(self.hash, mix) ^ self.bytes.wrapping_mul(BASE)
    }
}

fn mixed(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(BASE).rotate_left(29)
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
    fn parts_that_are_appended_have_no_borders() {
        let bytes: Vec<u8> = (0..100).collect();
        let hash = |parts: &[usize]| {
            let (mut output, mut rest) = (Output::begin(), &bytes[..]);
            for &part in parts {
                output.append(&rest[..part]);
                rest = &rest[part..];
            }
            output.append(rest);
            output.hash()
        };
        let whole = hash(&[]);
        for parts in [&[1, 2, 3, 4, 5, 6, 7][..], &[8, 3, 5, 16], &[0, 99], &[50, 0, 7]] {
            assert_eq!(hash(parts), whole, "{parts:?}");
        }
        let mut other = Output::begin();
        other.append(&bytes[..99]);
        assert_ne!(other.hash(), whole);
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

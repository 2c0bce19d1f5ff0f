//! Writes an archive in which no chunk is stored twice, as the program dedup of PARSEC does.
//!
//! The source cuts the data where their content says so. Then each chunk passes a parallel stage (SHA-256), a
//! serial one (was it there before?), and another parallel one (deflate).

mod observed;
mod sequential;

use std::collections::HashMap;
use std::io::Read;

use flate2::Compression;
use flate2::read::DeflateEncoder;
use sha2::{Digest, Sha256};

use crate::data::SOURCE;
use crate::random::Random;
use crate::{About, Data, Scale, Workload};

pub(crate) use observed::run as observed;
pub use sequential::run as sequential;

/// The data to archive.
#[derive(Debug)]
pub struct Input {
    bytes: Vec<u8>,
}

impl Workload for Input {
    const ABOUT: About = About {
        name: "dedup",
        what: "cuts data into chunks by their content, finds repeated ones by SHA-256, and compresses the others",
        item: "a chunk of about 8 KiB",
        unit: "MB",
        workloads: &["half-repeated"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        let new = |random: &mut Random, size| random.text(size);
        (name == "half-repeated").then(|| Self::half_repeated(scale, new))
    }

    fn read(name: &str, scale: Scale, data: &Data) -> Option<Result<Self, String>> {
        // Half of the source code is enough, because the other half is a repetition.
        let source = |source: Vec<u8>| {
            let mut rest = &source[..];
            Self::half_repeated(scale, |_, size| {
                let (new, later) = rest.split_at(size.min(rest.len()));
                rest = later;
                new.to_vec()
            })
        };
        (name == "half-repeated").then(|| data.bytes(SOURCE, length(scale)).map(source))
    }

    fn amount(&self) -> f64 {
        self.bytes.len() as f64 / 1e6
    }
}

/// How many bytes there are.
fn length(scale: Scale) -> usize {
    scale.choose(150_000, 2_500_000, 12_000_000)
}

impl Input {
    /// Pieces that `new` makes, where every other piece was there before.
    fn half_repeated(scale: Scale, mut new: impl FnMut(&mut Random, usize) -> Vec<u8>) -> Self {
        let length = length(scale);
        let mut random = Random::new(4);
        let mut bytes = new(&mut random, length / 8);
        while bytes.len() < length {
            let size = 20_000 + random.below(100_000);
            bytes.extend(new(&mut random, size));
            let from = random.below(bytes.len() - size.min(bytes.len() - 1));
            bytes.extend_from_within(from..(from + size).min(bytes.len()));
        }
        Self { bytes }
    }

    /// The source: the chunks.
    pub fn chunks(&self) -> impl Iterator<Item = &[u8]> + Send {
        let mut rest = &self.bytes[..];
        std::iter::from_fn(move || {
            let (chunk, later) = rest.split_at(cut(rest));
            rest = later;
            (!chunk.is_empty()).then_some(chunk)
        })
    }
}

const SHORTEST: usize = 2 << 10;
const LONGEST: usize = 64 << 10;

/// Where the first chunk ends: where a hash of the last bytes has 13 zeros, with the gear hash of *Ddelta: a
/// deduplication-inspired fast delta compression approach* (Xia and others, 2014).
fn cut(bytes: &[u8]) -> usize {
    let end = bytes.len().min(LONGEST);
    let mut hash = 0u64;
    for (at, &byte) in bytes[..end].iter().enumerate().skip(SHORTEST) {
        let gear = (u64::from(byte) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        hash = (hash << 1).wrapping_add(gear ^ (gear >> 29));
        if hash >> 51 == 0 {
            return at + 1;
        }
    }
    end
}

/// A chunk and its SHA-256.
#[derive(Debug)]
pub struct Hashed<'a>(&'a [u8], [u8; 32]);

/// The first parallel stage.
pub fn hash(chunk: &[u8]) -> Hashed<'_> {
    Hashed(chunk, Sha256::digest(chunk).into())
}

/// A chunk, and the number of the same chunk if it was there before.
#[derive(Debug)]
pub struct Seen<'a>(Hashed<'a>, Option<u32>);

/// The serial stage: the numbers of the chunks that were there before.
#[derive(Debug, Default)]
pub struct Index(HashMap<[u8; 32], u32>);

impl Index {
    /// Looks for a chunk, and adds it if it is new.
    pub fn look_up<'a>(&mut self, hashed: Hashed<'a>) -> Seen<'a> {
        let number = self.0.len() as u32;
        let before = *self.0.entry(hashed.1).or_insert(number);
        Seen(hashed, (before != number).then_some(before))
    }
}

/// The second parallel stage: what is written for a chunk.
pub fn pack(Seen(Hashed(chunk, hash), before): Seen<'_>) -> Vec<u8> {
    let mut entry = Vec::new();
    match before {
        Some(number) => entry.extend(number.to_le_bytes()),
        None => {
            entry.extend(hash);
            let mut encoder = DeflateEncoder::new(chunk, Compression::new(6));
            encoder.read_to_end(&mut entry).expect("reading from memory does not fail");
        }
    }
    entry
}

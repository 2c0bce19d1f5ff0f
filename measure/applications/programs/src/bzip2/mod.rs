//! Compresses with bzip2 in memory, as in the papers on SPar and on Rust-SSP: each block becomes a stream of its
//! own, and the whole is a file that `bunzip2` reads.

mod observed;
mod sequential;

use std::io::Read;

use ::bzip2::Compression;
use ::bzip2::read::BzEncoder;

use crate::{About, Data, Scale, Workload, packed};

pub(crate) use observed::run as observed;
pub use sequential::run as sequential;

/// The data to compress.
#[derive(Debug)]
pub struct Input {
    bytes: Vec<u8>,
    /// In units of 100,000 bytes, as bzip2 counts them.
    level: u32,
}

impl Workload for Input {
    const ABOUT: About = About {
        name: "bzip2",
        what: "compresses blocks of data in memory to one bzip2 file",
        item: "a block of 900 kB (100 kB with --quick)",
        unit: "MB",
        workloads: &["text", "noise", "iso"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        Self::of(name, sizes(scale), None)?.ok()
    }

    fn read(name: &str, scale: Scale, data: &Data) -> Option<Result<Self, String>> {
        Self::of(name, sizes(scale), Some(data))
    }

    fn amount(&self) -> f64 {
        self.bytes.len() as f64 / 1e6
    }
}

/// The level, and the number of blocks.
fn sizes(scale: Scale) -> (u32, usize) {
    scale.choose((1, 2), (1, 12), (9, 10))
}

impl Input {
    /// So many blocks of a kind of data, of `level` times 100,000 bytes each. `None` if there is no such kind.
    pub(crate) fn of(
        kind: &str,
        (level, blocks): (u32, usize),
        data: Option<&Data>,
    ) -> Option<Result<Self, String>> {
        // The last block is shorter than the others.
        let length = blocks * level as usize * 100_000 - 5_000;
        let bytes = match data {
            Some(data) => packed::read(kind, length, data)?,
            None => Ok(packed::generated(kind, 3, length)?),
        };
        Some(bytes.map(|bytes| Self { bytes, level }))
    }

    /// The source: the blocks.
    pub fn blocks(&self) -> impl Iterator<Item = &[u8]> + Send {
        self.bytes.chunks(self.block_bytes())
    }

    /// How long a block is, in bytes. The last one is shorter.
    pub(crate) fn block_bytes(&self) -> usize {
        self.level as usize * 100_000
    }
}

/// The parallel stage: compresses a block to a stream of its own.
pub fn compress(input: &Input, block: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    let mut encoder = BzEncoder::new(block, Compression::new(input.level));
    encoder.read_to_end(&mut stream).expect("reading from memory does not fail");
    stream
}

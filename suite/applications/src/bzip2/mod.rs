//! Compresses with bzip2 in memory, as in the papers on SPar and on Rust-SSP: each block becomes a stream of its
//! own, and the whole is a file that `bunzip2` reads.

mod observed;
mod sequential;

use std::io::Read;

use ::bzip2::Compression;
use ::bzip2::read::BzEncoder;

use crate::random::Random;
use crate::{About, Scale, Workload};

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
        workloads: &["text", "noise"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        let (level, blocks) = scale.choose((1, 2), (1, 12), (9, 10));
        match name {
            "text" => Some(Self::text((level, blocks))),
            "noise" => {
                let mut random = Random::new(3);
                // Video that is already compressed does not become smaller.
                let bytes = (0..length(level, blocks)).map(|_| (random.bits() >> 56) as u8).collect();
                Some(Self { bytes, level })
            }
            _ => None,
        }
    }

    fn amount(&self) -> f64 {
        self.bytes.len() as f64 / 1e6
    }
}

/// The length of the data, in bytes. The last block is shorter than the others.
fn length(level: u32, blocks: usize) -> usize {
    blocks * level as usize * 100_000 - 5_000
}

impl Input {
    /// So many blocks of text, of `level` times 100,000 bytes each.
    pub(crate) fn text((level, blocks): (u32, usize)) -> Self {
        Self { bytes: Random::new(3).text(length(level, blocks)), level }
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

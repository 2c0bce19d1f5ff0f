//! Compresses with DEFLATE in memory, as in the paper on a parallel archiver: each block becomes a member of its own (RFC 1952),
//! and the whole is a file that `gunzip` reads.

mod observed;
mod sequential;

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::{About, Data, Scale, Workload, packed};

pub(crate) use observed::run as observed;
pub use sequential::run as sequential;

/// The data to compress.
#[derive(Debug)]
pub struct Input {
    bytes: Vec<u8>,
}

const BLOCK_BYTES: usize = 128 << 10;
const LEVEL: u32 = 6;

impl Workload for Input {
    const ABOUT: About = About {
        name: "gzip",
        what: "compresses blocks of data in memory to one gzip file",
        item: "a block of 128 KiB",
        unit: "MB",
        workloads: &["text", "noise"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        let bytes = packed::generated(name, 17, length(name, scale)?)?;
        Some(Self { bytes })
    }

    fn read(name: &str, scale: Scale, data: &Data) -> Option<Result<Self, String>> {
        let bytes = packed::read(name, length(name, scale)?, data)?;
        Some(bytes.map(|bytes| Self { bytes }))
    }

    fn amount(&self) -> f64 {
        self.bytes.len() as f64 / 1e6
    }
}

/// How many bytes a workload has.
fn length(name: &str, scale: Scale) -> Option<usize> {
    match name {
        "text" => Some(scale.choose(300_000, 2_000_000, 20_000_000)),
        "noise" => Some(scale.choose(300_000, 3_000_000, 30_000_000)),
        _ => None,
    }
}

impl Input {
    /// The source: the blocks.
    pub fn blocks(&self) -> impl Iterator<Item = &[u8]> + Send {
        self.bytes.chunks(BLOCK_BYTES)
    }
}

/// The parallel stage: compresses a block to a member of its own.
pub fn compress(block: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(LEVEL));
    encoder.write_all(block).and_then(|()| encoder.finish()).expect("writing to memory does not fail")
}

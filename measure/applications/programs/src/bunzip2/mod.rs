//! Decompresses a bzip2 file of many streams in memory, as in the papers on SPar and on Rust-SSP. Each block of the data is a
//! stream of its own, as parallel compressors write it, so blocks can be decompressed in parallel.

mod observed;
mod sequential;

use std::io::Read;

use ::bzip2::read::BzDecoder;

use crate::bzip2::{Input as Plain, compress};
use crate::{About, Data, Scale, Workload};

pub(crate) use observed::run as observed;
pub use sequential::run as sequential;

/// The streams, and how many bytes are in all of them.
#[derive(Debug)]
pub struct Input {
    streams: Vec<Vec<u8>>,
    bytes: f64,
}

impl Workload for Input {
    const ABOUT: About = About {
        name: "bunzip2",
        what: "decompresses a bzip2 file of many streams in memory",
        item: "a stream of 900 kB of data (100 kB with --quick)",
        unit: "MB",
        workloads: &["text", "noise", "iso"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        Plain::generate(name, scale).map(|plain| Self::of(&plain))
    }

    fn read(name: &str, scale: Scale, data: &Data) -> Option<Result<Self, String>> {
        Some(Plain::read(name, scale, data)?.map(|plain| Self::of(&plain)))
    }

    fn amount(&self) -> f64 {
        self.bytes
    }
}

impl Input {
    fn of(plain: &Plain) -> Self {
        let streams = plain.blocks().map(|block| compress(plain, block)).collect();
        Self { streams, bytes: plain.amount() }
    }

    /// The source: the streams.
    pub fn streams(&self) -> impl Iterator<Item = &[u8]> + Send {
        self.streams.iter().map(Vec::as_slice)
    }
}

/// The parallel stage: decompresses a stream.
pub fn decompress(stream: &[u8]) -> Vec<u8> {
    let mut block = Vec::new();
    BzDecoder::new(stream).read_to_end(&mut block).expect("the stream was compressed here");
    block
}

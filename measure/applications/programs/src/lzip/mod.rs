//! Compresses with LZMA in memory, as in the paper on SPar and data compression: each block becomes a member of its own, and
//! the whole is a file that `lzip -d` reads.

mod observed;
mod sequential;

use std::io::Write;

use flate2::Crc;
use liblzma::stream::{LzmaOptions, Stream};
use liblzma::write::XzEncoder;

use crate::{About, Data, Scale, Workload, packed};

pub(crate) use observed::run as observed;
pub use sequential::run as sequential;

/// The data to compress.
#[derive(Debug)]
pub struct Input {
    bytes: Vec<u8>,
}

const BLOCK_BYTES: usize = 1 << DICTIONARY_BITS;
/// The dictionary is as large as a block.
const DICTIONARY_BITS: u8 = 17;
const LEVEL: u32 = 6;
/// The header of the older format of LZMA, which liblzma writes before the data.
const ALONE_HEADER_BYTES: usize = 13;

impl Workload for Input {
    const ABOUT: About = About {
        name: "lzip",
        what: "compresses blocks of data in memory to one lzip file",
        item: "a block of 128 KiB",
        unit: "MB",
        workloads: &["text", "noise", "iso"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        packed::generated(name, 19, length(scale)).map(|bytes| Self { bytes })
    }

    fn read(name: &str, scale: Scale, data: &Data) -> Option<Result<Self, String>> {
        Some(packed::read(name, length(scale), data)?.map(|bytes| Self { bytes }))
    }

    fn amount(&self) -> f64 {
        self.bytes.len() as f64 / 1e6
    }
}

/// How many bytes there are.
fn length(scale: Scale) -> usize {
    scale.choose(150_000, 8 * BLOCK_BYTES, 32 * BLOCK_BYTES)
}

impl Input {
    /// The source: the blocks.
    pub fn blocks(&self) -> impl Iterator<Item = &[u8]> + Send {
        self.bytes.chunks(BLOCK_BYTES)
    }
}

/// The parallel stage: compresses a block to a member of its own. A member has a header of 6 bytes, the data with a mark at
/// their end, and a trailer of 20 bytes: the CRC-32 and the size of the block, and the size of the member.
pub fn compress(block: &[u8]) -> Vec<u8> {
    let mut options = LzmaOptions::new_preset(LEVEL).expect("a level that exists");
    options.dict_size(1 << DICTIONARY_BITS);
    let stream = Stream::new_lzma_encoder(&options).expect("memory for an encoder");
    let mut encoder = XzEncoder::new_stream(Vec::new(), stream);
    let data =
        encoder.write_all(block).and_then(|()| encoder.finish()).expect("writing to memory does not fail");
    let mut member = Vec::with_capacity(data.len() + 26);
    member.extend_from_slice(b"LZIP\x01");
    member.push(DICTIONARY_BITS);
    member.extend_from_slice(&data[ALONE_HEADER_BYTES..]);
    let mut crc = Crc::new();
    crc.update(block);
    member.extend_from_slice(&crc.sum().to_le_bytes());
    member.extend_from_slice(&(block.len() as u64).to_le_bytes());
    let size = member.len() as u64 + 8;
    member.extend_from_slice(&size.to_le_bytes());
    member
}

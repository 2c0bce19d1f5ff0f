//! Decompresses an lzip file of many members in memory, as in the paper on SPar and data compression.

mod observed;
mod sequential;

use std::io::Read;

use liblzma::read::XzDecoder;
use liblzma::stream::Stream;

use crate::lzip::{Input as Plain, compress};
use crate::{About, Data, Scale, Workload};

pub(crate) use observed::run as observed;
pub use sequential::run as sequential;

/// The members, and how many bytes are in all of them.
#[derive(Debug)]
pub struct Input {
    members: Vec<Vec<u8>>,
    bytes: f64,
}

impl Workload for Input {
    const ABOUT: About = About {
        name: "lunzip",
        what: "decompresses an lzip file of many members in memory",
        item: "a member of 128 KiB of data",
        unit: "MB",
        workloads: &["text", "noise", "iso"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        Plain::generate(name, scale).map(|plain| Self::of(&plain, scale))
    }

    fn read(name: &str, scale: Scale, data: &Data) -> Option<Result<Self, String>> {
        Some(Plain::read(name, scale, data)?.map(|plain| Self::of(&plain, scale)))
    }

    fn amount(&self) -> f64 {
        self.bytes
    }
}

impl Input {
    fn of(plain: &Plain, scale: Scale) -> Self {
        let members: Vec<Vec<u8>> = plain.blocks().map(compress).collect();
        // Decompressing is about eight times as fast, so the members come eight times.
        let times = scale.choose(1, 8, 8);
        Self {
            bytes: plain.amount() * times as f64,
            members: members.iter().cycle().take(members.len() * times).cloned().collect(),
        }
    }

    /// The source: the members.
    pub fn members(&self) -> impl Iterator<Item = &[u8]> + Send {
        self.members.iter().map(Vec::as_slice)
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// A member.
    ///
    /// # Panics
    /// If there is no such member.
    pub fn member(&self, index: usize) -> &[u8] {
        &self.members[index]
    }
}

/// The parallel stage: decompresses a member.
pub fn decompress(member: &[u8]) -> Vec<u8> {
    let stream = Stream::new_lzip_decoder(u64::MAX, 0).expect("memory for a decoder");
    let mut block = Vec::new();
    XzDecoder::new_stream(member, stream).read_to_end(&mut block).expect("the member was compressed here");
    block
}

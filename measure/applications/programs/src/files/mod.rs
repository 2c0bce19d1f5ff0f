//! Compresses with bzip2 from a file on disk to a file on disk, as in the paper on Rust-SSP. The files have been written just
//! before, so they are read from the memory of the system, and the disk is not measured.

mod observed;
mod sequential;

use std::fs::File;
use std::io::{Read, Seek, Write};

use crate::bzip2::Input as Plain;
use crate::{About, Data, Output, Scale, Workload};

pub(crate) use observed::run as observed;
pub use sequential::run as sequential;

/// The files. Both have no name, so the system removes them with the process.
#[derive(Debug)]
pub struct Input {
    plain: Plain,
    from: File,
    to: File,
}

impl Workload for Input {
    const ABOUT: About = About {
        name: "files",
        what: "compresses a file on disk to a bzip2 file on disk",
        item: "a block of 900 kB (100 kB with --quick)",
        unit: "MB",
        workloads: &["text", "noise", "iso"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        Plain::generate(name, scale).map(Self::of)
    }

    fn read(name: &str, scale: Scale, data: &Data) -> Option<Result<Self, String>> {
        Some(Plain::read(name, scale, data)?.map(Self::of))
    }

    fn amount(&self) -> f64 {
        self.plain.amount()
    }
}

impl Input {
    fn of(plain: Plain) -> Self {
        let file = || tempfile::tempfile().expect("the system has a folder for temporary files");
        let (mut from, to) = (file(), file());
        for block in plain.blocks() {
            from.write_all(block).expect("the folder for temporary files has room");
        }
        Self { plain, from, to }
    }

    /// The source: reads the blocks.
    pub fn blocks(&self) -> impl Iterator<Item = Vec<u8>> + Send {
        let mut from = &self.from;
        from.rewind().expect("a file begins somewhere");
        std::iter::from_fn(move || {
            let mut block = Vec::with_capacity(self.plain.block_bytes());
            from.take(self.plain.block_bytes() as u64).read_to_end(&mut block).expect("the file can be read");
            (!block.is_empty()).then_some(block)
        })
    }

    /// The file to write to, which is empty.
    pub fn sink(&self, output: Output) -> Sink<'_> {
        let mut to = &self.to;
        to.rewind().and_then(|()| to.set_len(0)).expect("the file can be written");
        Sink { to, output }
    }
}

/// The parallel stage: compresses a block to a stream of its own.
pub fn compress(input: &Input, block: &[u8]) -> Vec<u8> {
    crate::bzip2::compress(&input.plain, block)
}

/// The serial stage: writes the streams to the file.
#[derive(Debug)]
pub struct Sink<'a> {
    to: &'a File,
    output: Output,
}

impl Sink<'_> {
    /// Writes a stream.
    pub fn write(&mut self, stream: &[u8]) {
        self.to.write_all(stream).expect("the folder for temporary files has room");
        self.output.write(stream);
    }

    /// The file is complete.
    pub fn end(&self) -> Output {
        self.output.clone()
    }
}

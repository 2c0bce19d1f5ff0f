//! Where the memory of an item comes from: the allocation policies of the paper on FastFlow and many-cores (section IV.B), as
//! today's machines have them, over the size of an item.
//!
//! A worker takes a buffer, fills it and hands it over. The sink reads a part of it and gives it back.

use crate::{About, Output, Scale, Workload};

/// How large and how many the buffers are.
#[derive(Debug)]
pub struct Input {
    /// The size of an item, in bytes.
    pub bytes: usize,
    /// How many items there are.
    pub items: u64,
}

/// How many items may be between the source and the sink.
pub const WINDOW: usize = 32;

impl Workload for Input {
    const ABOUT: About = About {
        name: "memory",
        what: "fills buffers that come from the allocator, from a recycler, from an arena of the worker, or from huge pages",
        item: "a buffer",
        unit: "GB",
        workloads: &["1024", "16384", "262144", "4194304"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        let bytes: usize = name.parse().ok().filter(|&bytes| bytes >= 64)?;
        let total = scale.choose(1 << 20, 48 << 20, 512 << 20);
        Some(Self { bytes, items: (total / bytes).max(4) as u64 })
    }

    fn amount(&self) -> f64 {
        self.items as f64 * self.bytes as f64 / 1e9
    }
}

/// The parallel stage: fills a buffer.
pub fn fill(item: u64, buffer: &mut [u8]) {
    for (at, byte) in buffer.iter_mut().enumerate() {
        *byte = (item as usize ^ at) as u8;
    }
}

/// The sink: reads a word of each 4 KiB, which is in each page.
pub fn read(output: &mut Output, buffer: &[u8]) {
    for page in buffer.chunks(4 << 10) {
        output.write(&page[..8.min(page.len())]);
    }
}

/// The plain loop, with one buffer for all items.
pub fn sequential(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    let mut buffer = vec![0; input.bytes];
    for item in 0..input.items {
        fill(item, &mut buffer);
        read(&mut output, &buffer);
    }
    output
}

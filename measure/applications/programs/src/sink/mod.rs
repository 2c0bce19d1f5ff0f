//! A sink that is the bottleneck: stages that fill buffers, and a sink that takes longer for each buffer than they do.
//!
//! With two workers or more the throughput is that of the sink. What differs is how much memory a system fills behind it.

mod observed;
mod sequential;

use crate::{About, Output, Scale, Workload};

pub(crate) use observed::run as observed;
pub use sequential::run as sequential;

/// How many buffers there are.
#[derive(Debug)]
pub struct Input {
    buffers: u64,
}

/// A buffer, in words of 8 bytes: 64 KiB.
const WORDS: usize = 8 << 10;

/// How often the sink reads a buffer.
const READINGS: usize = 4;

impl Workload for Input {
    const ABOUT: About = About {
        name: "sink",
        what: "fills buffers in parallel and takes longer to read each of them: the sink is the bottleneck",
        item: "a buffer of 64 KiB",
        unit: "buffers",
        workloads: &["slow"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        (name == "slow").then_some(Self { buffers: scale.choose(8, 600, 6_000) })
    }

    fn amount(&self) -> f64 {
        self.buffers as f64
    }
}

impl Input {
    /// The source: the numbers of the buffers.
    pub fn numbers(&self) -> impl Iterator<Item = u64> + Send + use<> {
        1..self.buffers + 1
    }
}

/// The parallel stage: fills a buffer.
pub fn fill(number: u64) -> Vec<u8> {
    let mut buffer = Vec::with_capacity(8 * WORDS);
    let mut state = number;
    for _ in 0..WORDS {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        buffer.extend_from_slice(&state.to_le_bytes());
    }
    buffer
}

/// The sink: reads a buffer several times.
pub fn read(output: &mut Output, buffer: &[u8]) {
    for _ in 0..READINGS {
        output.write(buffer);
    }
}

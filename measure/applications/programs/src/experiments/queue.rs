//! The time that an item takes through a queue from one thread to another, over the capacity of the queue: figure 4 of the
//! paper on FastFlow and many-cores.

use crate::{About, Output, Scale, Workload};

/// A queue and the items that pass it.
#[derive(Debug)]
pub struct Input {
    /// How many items the queue holds.
    pub capacity: usize,
    /// How many items pass it.
    pub items: u64,
}

impl Workload for Input {
    const ABOUT: About = About {
        name: "queue",
        what: "passes numbers from one thread to another through a queue",
        item: "a number of 8 bytes",
        unit: "items",
        workloads: &["1", "4", "16", "64", "256", "1024", "4096"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        let capacity: usize = name.parse().ok().filter(|&capacity| capacity > 0)?;
        // A short queue wakes a thread for each item or two.
        let share = if capacity < 16 { 1 } else { 10 };
        Some(Self { capacity, items: share * scale.choose(100, 10_000, 50_000) })
    }

    fn amount(&self) -> f64 {
        self.items as f64
    }
}

/// What the reader does with an item: folds it into a number that depends on the order.
pub fn fold(folded: u64, item: u64) -> u64 {
    folded.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(item)
}

/// The plain loop, without a queue.
pub fn sequential(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    let folded = (0..input.items).fold(0, fold);
    output.write(&folded.to_le_bytes());
    output
}

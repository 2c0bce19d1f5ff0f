//! How many items may be inside, and how many a worker claims at once: the window and the burst.

use super::steps;
use crate::{About, Output, Scale, Workload};

/// The settings, and how many items there are.
#[derive(Debug)]
pub struct Input {
    /// How many items may be between the source and the sink.
    pub window: usize,
    /// How many items a worker claims at once. `None` is the default, which adapts.
    pub burst: Option<usize>,
    items: u64,
}

/// The work of an item: about 200 ns.
const STEPS: u32 = 100;

impl Workload for Input {
    const ABOUT: About = About {
        name: "bursts",
        what: "computes tasks of 200 ns with a window and a burst",
        item: "a task",
        unit: "tasks",
        workloads: &["16/1", "4096/auto"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        let (window, burst) = name.split_once('/')?;
        let burst = match burst {
            "auto" => None,
            number => Some(number.parse().ok().filter(|&burst| burst > 0)?),
        };
        let window = window.parse().ok().filter(|&window| window > 0)?;
        Some(Self { window, burst, items: scale.choose(500, 60_000, 400_000) })
    }

    fn amount(&self) -> f64 {
        self.items as f64
    }
}

impl Input {
    /// The source: the numbers of the items.
    pub fn numbers(&self) -> impl Iterator<Item = u64> + Send + use<> {
        1..self.items + 1
    }
}

/// The parallel stage.
pub fn compute(number: u64) -> u64 {
    steps(number, STEPS)
}

/// The plain loop.
pub fn sequential(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    for number in input.numbers() {
        output.write(&compute(number).to_le_bytes());
    }
    output
}

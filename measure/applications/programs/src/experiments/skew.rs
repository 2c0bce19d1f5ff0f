//! Which worker takes which item, over how uneven the items are: items on demand, or dealt in turn as FastFlow's farm does by
//! default.

use super::steps;
use crate::random::Random;
use crate::{About, Output, Scale, Workload};

/// How many steps each item has.
#[derive(Debug)]
pub struct Input {
    items: Vec<u32>,
}

/// The mean work of an item, in steps: about 10 us.
const MEAN_STEPS: f64 = 5_000.0;
/// One item in so many is longer than the others.
const ONE_IN: usize = 32;

impl Workload for Input {
    const ABOUT: About = About {
        name: "skew",
        what: "computes tasks of 10 us on average, of which one in 32 takes longer than the others",
        item: "a task",
        unit: "tasks",
        workloads: &["1", "8", "64", "512"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        let times: f64 = name.parse().ok().filter(|&times| times >= 1.0)?;
        let one = 1.0 / ONE_IN as f64;
        let short = MEAN_STEPS / (1.0 - one + one * times);
        let mut random = Random::new(37);
        let steps = |_| if random.below(ONE_IN) == 0 { (short * times) as u32 } else { short as u32 };
        Some(Self { items: (0..scale.choose(64, 4_000, 32_000)).map(steps).collect() })
    }

    fn amount(&self) -> f64 {
        self.items.len() as f64
    }
}

impl Input {
    /// The source: a number and the steps of each item.
    pub fn tasks(&self) -> impl Iterator<Item = (u64, u32)> + Send {
        (1..).zip(self.items.iter().copied())
    }
}

/// The parallel stage.
pub fn compute((seed, count): (u64, u32)) -> u64 {
    steps(seed, count)
}

/// The plain loop.
pub fn sequential(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    for task in input.tasks() {
        output.write(&compute(task).to_le_bytes());
    }
    output
}

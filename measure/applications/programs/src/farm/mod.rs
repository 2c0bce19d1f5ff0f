//! The synthetic farm of *FastFlow: high-level and efficient streaming on multi-core* (Aldinucci and others): independent tasks
//! that compute and touch no memory.
//!
//! A task is a chain of xorshift steps, each of which needs the one before. A step takes about 2 ns, so the names of the
//! workloads say about how long a task takes. In `skewed`, one task of 64 takes as long as the other 63 together; in `uneven`
//! ones, one of about 16 takes 8 times as long, and the others half.

mod observed;
mod sequential;

use crate::random::Random;
use crate::{About, Scale, Workload};

pub(crate) use observed::run as observed;
pub use sequential::run as sequential;

/// How many steps each task has.
#[derive(Debug)]
pub struct Input {
    steps: Vec<u32>,
}

impl Workload for Input {
    const ABOUT: About = About {
        name: "farm",
        what: "computes independent tasks of 100 ns to 10 us: the synthetic farm of the FastFlow paper",
        item: "a task",
        unit: "tasks",
        workloads: &["100ns", "1us", "10us", "skewed"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        // The unlisted ones are those of the promises.
        let (grain, is_uneven) = name.strip_suffix("-uneven").map_or((name, false), |grain| (grain, true));
        let (steps, tenths) = match grain {
            "0ns" => (0, 1_000),
            "100ns" => (50, 1_000),
            "1us" | "skewed" => (500, 100),
            "10us" => (5_000, 10),
            "100us" => (50_000, 1),
            _ => return None,
        };
        let tasks = tenths * scale.choose(40, 5_000, 50_000) / 10;
        let mut random = Random::new(11);
        let steps = (0..tasks).map(|task| match name {
            "skewed" if task % 64 == 0 => 32 * steps,
            "skewed" => steps * 32 / 63,
            _ if is_uneven && random.below(16) == 0 => 8 * steps,
            _ if is_uneven => steps / 2,
            // Tasks are never all alike: these differ by a tenth.
            _ => steps - steps / 20 + random.below(steps as usize / 10 + 1) as u32,
        });
        Some(Self { steps: steps.collect() })
    }

    fn amount(&self) -> f64 {
        self.steps.len() as f64
    }
}

/// A task.
#[derive(Debug, Clone, Copy)]
pub struct Task {
    seed: u64,
    steps: u32,
}

impl Input {
    /// The source: the tasks.
    pub fn tasks(&self) -> impl Iterator<Item = Task> + Send {
        (1..).zip(&self.steps).map(|(seed, &steps)| Task { seed, steps })
    }
}

/// The parallel stage: computes a task.
pub fn compute(task: Task) -> u64 {
    (0..task.steps).fold(task.seed, |mut state, _| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^ (state << 17)
    })
}

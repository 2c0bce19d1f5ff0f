//! A farm next to a sequential program, which off-loads tasks to it and gets their results: the accelerator of FastFlow, and
//! figure 9 of the paper on many-cores.
//!
//! A task multiplies a matrix by one that all tasks share, or does nothing. Tasks that do nothing show what off-loading costs.

use crate::random::Random;
use crate::{About, Output, Scale, Workload};

/// The matrices.
#[derive(Debug)]
pub struct Input {
    rows: usize,
    tasks: u64,
    /// The matrix that all tasks share, by columns.
    shared: Vec<u32>,
}

impl Workload for Input {
    const ABOUT: About = About {
        name: "accelerator",
        what: "multiplies a stream of matrices of whole numbers by one matrix",
        item: "a matrix",
        unit: "tasks",
        workloads: &["empty", "32", "64", "128"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        let rows: usize = match name {
            "empty" => 0,
            number => number.parse().ok().filter(|&rows| rows > 0)?,
        };
        let tasks = match rows {
            0 => scale.choose(200, 20_000, 200_000),
            _ => (scale.choose(1 << 17, 1 << 25, 1 << 28) / rows.pow(3) as u64).max(2),
        };
        let mut random = Random::new(41);
        Some(Self { rows, tasks, shared: (0..rows * rows).map(|_| random.below(100) as u32).collect() })
    }

    fn amount(&self) -> f64 {
        self.tasks as f64
    }
}

impl Input {
    /// The tasks: seeds of matrices.
    pub fn tasks(&self) -> impl Iterator<Item = u64> + Send + use<> {
        1..self.tasks + 1
    }

    /// The sum of all numbers of a product.
    pub fn compute(&self, task: u64) -> u64 {
        if self.rows == 0 {
            return task;
        }
        let mut random = Random::new(task);
        let left: Vec<u32> = (0..self.rows * self.rows).map(|_| random.below(100) as u32).collect();
        let mut sum = 0u64;
        for row in left.chunks_exact(self.rows) {
            for column in self.shared.chunks_exact(self.rows) {
                let cell: u32 = row.iter().zip(column).map(|(one, other)| one * other).sum();
                sum = sum.rotate_left(1) ^ u64::from(cell);
            }
        }
        sum
    }
}

/// The plain loop.
pub fn sequential(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    for task in input.tasks() {
        output.write(&input.compute(task).to_le_bytes());
    }
    output
}

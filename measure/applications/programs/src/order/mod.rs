//! The cost of order: the same tasks with their order kept and without, for those libraries that have both.
//!
//! The tasks are those of the synthetic farm. The sink adds the results up, so their order makes no difference to the sum. Only
//! the sum is written, and it has the same hash in both forms.

mod sequential;

use crate::farm::{self, Task};
use crate::{About, Output, Scale, Workload};

pub use sequential::run as sequential;

/// The tasks, and whether their order is kept.
#[derive(Debug)]
pub struct Input {
    tasks: farm::Input,
    /// Whether the results are taken in the order of the tasks.
    pub is_ordered: bool,
}

impl Workload for Input {
    const ABOUT: About = About {
        name: "order",
        what: "computes tasks and adds their results up, in their order and in any order",
        item: "a task",
        unit: "tasks",
        workloads: &["1us:ordered", "1us:unordered", "skewed:ordered", "skewed:unordered"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        let (tasks, order) = name.split_once(':')?;
        let is_ordered = match order {
            "ordered" => true,
            "unordered" => false,
            _ => return None,
        };
        Some(Self { tasks: farm::Input::generate(tasks, scale)?, is_ordered })
    }

    fn amount(&self) -> f64 {
        self.tasks.amount()
    }
}

impl Input {
    /// The source: the tasks.
    pub fn tasks(&self) -> impl Iterator<Item = Task> + Send {
        self.tasks.tasks()
    }
}

pub use crate::farm::compute;

/// The sink: the sum of the results.
#[derive(Debug, Default, Clone)]
pub struct Sum(u64);

impl Sum {
    /// Adds a result. Results are mixed before, so that a wrong one shows in all bits.
    pub fn add(&mut self, result: u64) {
        self.0 = self.0.wrapping_add(result.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (result >> 31));
    }

    /// Writes the sum.
    pub fn write(&self, output: &mut Output) {
        output.write(&self.0.to_le_bytes());
    }
}

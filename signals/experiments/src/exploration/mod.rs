//! The paper's synthetic benchmark: producers and consumers that do nearly nothing for each index.
//!
//! Each producer stores a number for each of its indices, and each consumer loads every number (C. Miranda and others,
//! *Erbium*, CASES 2010, section 5.1). A synchronisation hands over a burst of indices. The benchmark shows how fine a
//! burst may be: from which burst on the network is faster than the loop, and from which burst on it reaches most of
//! the speed that two threads can give.
//!
//! The indices of several producers are dealt in bursts. Each consumer sees all indices.

pub mod command;
mod measure;
mod network;
mod sequential;
mod work;

pub use measure::{Baseline, Cell, Contender, Sample, Table, compare, measure, measured_network};
pub use network::{network, plan};
pub use sequential::sequential;
pub use work::{Work, consumed, produced};

/// The numbers of producers and consumers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The number of processes that write.
    pub producers: usize,
    /// The number of processes that read. Each of them reads all indices.
    pub consumers: usize,
}

impl Shape {
    /// The shapes of the paper's figure 3.
    pub const ALL: [Shape; 4] = [Shape::of(1, 1), Shape::of(1, 4), Shape::of(4, 1), Shape::of(2, 2)];

    /// Creates a shape with these numbers of producers and consumers.
    pub const fn of(producers: usize, consumers: usize) -> Self {
        Self { producers, consumers }
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} to {}", self.producers, self.consumers)
    }
}

/// One run of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// The numbers of producers and consumers.
    pub shape: Shape,
    /// The work for each index.
    pub work: Work,
    /// The least number of indices. It is rounded up to whole bursts of all producers.
    pub indices: u64,
    /// The number of indices that one synchronisation hands over.
    pub burst: usize,
    /// The number of indices that the record may hold.
    pub horizon: usize,
    /// Whether each process stays on one processor.
    pub is_pinned: bool,
}

impl Task {
    /// Returns the number of indices.
    pub fn rounded(&self) -> u64 {
        self.indices.next_multiple_of((self.burst * self.shape.producers) as u64)
    }
}

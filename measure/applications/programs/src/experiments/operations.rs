//! How many operations there are for each access to memory: a map over an array that does not fit into the caches.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::random::Random;
use crate::{About, Output, Scale, Workload};

/// An array of elements, and the array for the results.
#[derive(Debug)]
pub struct Input {
    elements: Vec<u64>,
    results: Mutex<Vec<u64>>,
    /// How many multiplications an element takes.
    multiplications: usize,
    /// How many times the map goes over the array, so that every workload has as many multiplications.
    passes: usize,
}

/// The elements of a partition: 64 KiB.
const PARTITION: usize = 8_192;

impl Workload for Input {
    const ABOUT: About = About {
        name: "operations",
        what: "multiplies each element of an array some times, and stores the results in another array",
        item: "a partition of 64 KiB",
        unit: "elements",
        workloads: &["1", "4", "16", "64", "256", "1024"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        let multiplications: usize = name.parse().ok().filter(|&count| count > 0)?;
        let all = scale.choose(1 << 20, 64 << 20, 512 << 20) / multiplications;
        let most = scale.choose(4 * PARTITION, 1 << 20, 4 << 20);
        let elements = all.clamp(1, most);
        let mut random = Random::new(41);
        Some(Self {
            elements: (0..elements).map(|_| random.bits()).collect(),
            // With another value than 0 the memory is there before the first pass.
            results: Mutex::new(vec![1; elements]),
            multiplications,
            passes: all.div_ceil(elements),
        })
    }

    fn amount(&self) -> f64 {
        (self.elements.len() * self.passes) as f64
    }
}

impl Input {
    /// How many times the map goes over the array.
    pub fn passes(&self) -> usize {
        self.passes
    }

    /// The array for the results.
    pub fn results(&self) -> MutexGuard<'_, Vec<u64>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The source of a pass: the partitions, each with the place for its results.
    pub fn partitions<'a>(
        &'a self,
        results: &'a mut [u64],
    ) -> impl Iterator<Item = (&'a [u64], &'a mut [u64])> + Send {
        self.elements.chunks(PARTITION).zip(results.chunks_mut(PARTITION))
    }

    /// The parallel stage. Its result depends on every element of the partition.
    pub fn compute(&self, (elements, results): (&[u64], &mut [u64])) -> u64 {
        let multiplied = |element: u64| {
            // Each factor depends on the product before, so that the compiler cannot multiply the factors first.
            (0..self.multiplications).fold(element, |product, _| product.wrapping_mul(product | 1))
        };
        let mut sum = 0u64;
        for (element, result) in elements.iter().zip(results) {
            *result = multiplied(*element);
            sum = sum.wrapping_add(*result);
        }
        sum
    }
}

/// The plain loop.
pub fn sequential(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    let mut results = input.results();
    for _ in 0..input.passes() {
        for partition in input.partitions(&mut results) {
            output.write(&input.compute(partition).to_le_bytes());
        }
    }
    output
}

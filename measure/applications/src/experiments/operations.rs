//! A map over an array.

use anabranch::{Pool, Stream};
use measure_programs::Output;
use measure_programs::experiments::operations::Input;

/// Each partition of the array is an item.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let pool = Pool::new(workers);
    let mut results = input.results();
    for _ in 0..input.passes() {
        Stream::from_iter(input.partitions(&mut results))
            .pool(&pool)
            .map(|partition| input.compute(partition))
            .for_each(|sum| output.write(&sum.to_le_bytes()));
    }
    output
}

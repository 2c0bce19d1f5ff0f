//! Two schedules.

use anabranch::{Shards, Stream};
use measure_programs::Output;
use measure_programs::experiments::skew::{Input, compute};

/// A worker takes the next task when it is free.
pub fn on_demand(input: &'static Input, workers: usize, mut output: Output) -> Output {
    Stream::from_iter(input.tasks())
        .workers(workers)
        .map(compute)
        .for_each(|result| output.write(&result.to_le_bytes()));
    output
}

/// Tasks are dealt to the workers in turn.
pub fn dealt(input: &'static Input, workers: usize, mut output: Output) -> Output {
    Stream::from_iter(input.tasks())
        .workers(workers)
        .map_sharded(Shards::dealt(workers), || (), |(), task| compute(task))
        .for_each(|result| output.write(&result.to_le_bytes()));
    output
}

//! A farm next to the program, and the same tasks as a stream.

use anabranch::{Offload, Stream};
use measure_programs::Output;
use measure_programs::experiments::accelerator::Input;

/// How many tasks may be in the farm.
const WINDOW: usize = 256;

/// Off-loads tasks, and takes results when they are there.
pub fn offload(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut farm = Offload::start(workers, WINDOW, |task| input.compute(task));
    for task in input.tasks() {
        farm.offload(task);
        while let Some(result) = farm.try_get() {
            output.write(&result.to_le_bytes());
        }
    }
    farm.close();
    while let Some(result) = farm.get() {
        output.write(&result.to_le_bytes());
    }
    output
}

/// The same tasks as a stream.
pub fn stream(input: &'static Input, workers: usize, mut output: Output) -> Output {
    Stream::from_iter(input.tasks())
        .window(WINDOW)
        .workers(workers)
        .map(|task| input.compute(task))
        .for_each(|result| output.write(&result.to_le_bytes()));
    output
}

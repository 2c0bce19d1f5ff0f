//! The settings of SPar, as annotations and builder have them.

use anabranch::{Shards, Stream};
use measure_programs::Output;
use measure_programs::experiments::compression::{Input, Schedule, Wait};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut blocks = Stream::from_iter(input.blocks()).window(input.window).workers(workers);
    if input.wait == Wait::Spin {
        blocks = blocks.with_plan(|plan| plan.settings.wait = anabranch::plan::Wait::Spin);
    }
    let compress = |block: Vec<u8>| input.compress(&block);
    match input.schedule {
        Schedule::OnDemand => blocks.map(compress).for_each(|stream| output.write(&stream)),
        Schedule::Dealt => blocks
            .map_sharded(Shards::dealt(workers), || (), |(), block| compress(block))
            .for_each(|stream| output.write(&stream)),
    }
    output
}

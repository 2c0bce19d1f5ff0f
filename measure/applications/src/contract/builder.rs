//! The builder.

use anabranch::{Source, Stream};
use measure_programs::contract::{Failure, System};

/// See above.
pub struct Builder;

impl System for Builder {
    const NAME: &'static str = "builder";

    fn run(
        source: impl Iterator<Item = u64> + Send + 'static,
        workers: usize,
        stage: impl Fn(u64) -> Result<u64, Failure> + Send + Sync + Copy + 'static,
        sink: impl FnMut(u64) -> Result<(), Failure> + Send + 'static,
    ) -> Result<(), Failure> {
        Stream::from_iter(source).workers(workers).try_map(stage).try_for_each(sink)
    }

    /// The source has a thread of its own, so that no worker waits in it.
    fn live(
        source: impl Iterator<Item = u64> + Send + 'static,
        workers: usize,
        stage: impl Fn(u64) -> Result<u64, Failure> + Send + Sync + Copy + 'static,
        sink: impl FnMut(u64) -> Result<(), Failure> + Send + 'static,
    ) -> Result<(), Failure> {
        Source::new(source).dedicated().into_stream().workers(workers).try_map(stage).try_for_each(sink)
    }
}

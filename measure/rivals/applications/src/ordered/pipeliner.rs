//! Pipeliner: the rival of the paper on Rust-SSP. `ordered_map` keeps the order.

use ::pipeliner::Pipeline;

use super::Ordered;

/// See above.
pub struct Pipeliner;

/// How many results may wait for the consumer.
const WAITING: usize = 256;

impl Ordered for Pipeliner {
    const NAME: &'static str = "pipeliner";

    fn map<T: Send + Sync + 'static, U: Send + 'static>(
        source: impl Iterator<Item = T> + Send + 'static,
        workers: usize,
        map: impl Fn(T) -> U + Send + Sync + Copy + 'static,
    ) -> impl Iterator<Item = U> + Send + 'static {
        source.with_threads(workers).out_buffer(WAITING).ordered_map(map)
    }

    fn map_in_any_order<T: Send + Sync + 'static, U: Send + 'static>(
        source: impl Iterator<Item = T> + Send + 'static,
        workers: usize,
        map: impl Fn(T) -> U + Send + Sync + Copy + 'static,
    ) -> impl Iterator<Item = U> + Send + 'static {
        source.with_threads(workers).out_buffer(WAITING).map(map)
    }
}

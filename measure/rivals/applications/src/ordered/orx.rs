//! orx-parallel: takes any iterator, and gives the results in order when all are there.

use orx_parallel::{IterIntoParIter, IterationOrder, Par, ParResult};

use super::Ordered;

/// See above.
pub struct Orx;

impl Ordered for Orx {
    const NAME: &'static str = "orx";

    fn map<T: Send + Sync + 'static, U: Send + 'static>(
        source: impl Iterator<Item = T> + Send + 'static,
        workers: usize,
        map: impl Fn(T) -> U + Send + Sync + Copy + 'static,
    ) -> impl Iterator<Item = U> + Send + 'static {
        let results: Vec<U> = source.iter_into_par().num_threads(workers).map(map).collect();
        results.into_iter()
    }

    fn try_map<T: Send + Sync + 'static, U: Send + 'static, E: Send + 'static>(
        source: impl Iterator<Item = T> + Send + 'static,
        workers: usize,
        map: impl Fn(T) -> Result<U, E> + Send + Sync + Copy + 'static,
    ) -> Result<impl Iterator<Item = Result<U, E>> + Send + 'static, E> {
        let results: Result<Vec<U>, E> =
            source.iter_into_par().num_threads(workers).map(map).into_fallible().collect();
        Ok(results?.into_iter().map(Ok))
    }

    fn map_in_any_order<T: Send + Sync + 'static, U: Send + 'static>(
        source: impl Iterator<Item = T> + Send + 'static,
        workers: usize,
        map: impl Fn(T) -> U + Send + Sync + Copy + 'static,
    ) -> impl Iterator<Item = U> + Send + 'static {
        let map =
            source.iter_into_par().num_threads(workers).iteration_order(IterationOrder::Arbitrary).map(map);
        let results: Vec<U> = map.collect();
        results.into_iter()
    }
}

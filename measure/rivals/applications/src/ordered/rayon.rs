//! rayon: collects the items, maps the vector in parallel, and gives the results in order.

use ::rayon::ThreadPoolBuilder;
use ::rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::Ordered;

/// See above.
pub struct Rayon;

impl Ordered for Rayon {
    const NAME: &'static str = "rayon";

    fn map<T: Send + Sync + 'static, U: Send + 'static>(
        source: impl Iterator<Item = T> + Send + 'static,
        workers: usize,
        map: impl Fn(T) -> U + Send + Sync + Copy + 'static,
    ) -> impl Iterator<Item = U> + Send + 'static {
        // The first run of the process sets the number of threads, and all others have the same.
        let _ = ThreadPoolBuilder::new().num_threads(workers).build_global();
        let items: Vec<T> = source.collect();
        let results: Vec<U> = items.into_par_iter().map(map).collect();
        results.into_iter()
    }

    fn try_map<T: Send + Sync + 'static, U: Send + 'static, E: Send + 'static>(
        source: impl Iterator<Item = T> + Send + 'static,
        workers: usize,
        map: impl Fn(T) -> Result<U, E> + Send + Sync + Copy + 'static,
    ) -> Result<impl Iterator<Item = Result<U, E>> + Send + 'static, E> {
        let _ = ThreadPoolBuilder::new().num_threads(workers).build_global();
        let items: Vec<T> = source.collect();
        let results: Result<Vec<U>, E> = items.into_par_iter().map(map).collect();
        Ok(results?.into_iter().map(Ok))
    }
}

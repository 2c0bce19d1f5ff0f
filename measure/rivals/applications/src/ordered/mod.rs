//! A parallel map whose results come in order, with each library. Files hold one library each.

mod crossbeam;
mod orx;
mod par_stream;
mod pariter;
mod pipeliner;
mod rayon;
mod threads;
mod tokio;

pub use crossbeam::Crossbeam;
pub use orx::Orx;
pub use par_stream::ParStream;
pub use pariter::Pariter;
pub use pipeliner::Pipeliner;
pub use rayon::Rayon;
pub use threads::Threads;
pub use tokio::Tokio;

/// A library that has, or with which one can write, an ordered parallel map.
pub trait Ordered: 'static {
    /// The name of the variant.
    const NAME: &'static str;

    /// The results of `map` in the order of the source. `workers` threads run `map`.
    fn map<T: Send + Sync + 'static, U: Send + 'static>(
        source: impl Iterator<Item = T> + Send + 'static,
        workers: usize,
        map: impl Fn(T) -> U + Send + Sync + Copy + 'static,
    ) -> impl Iterator<Item = U> + Send + 'static;

    /// The results of `map` in any order. A library that has only one way keeps the order.
    fn map_in_any_order<T: Send + Sync + 'static, U: Send + 'static>(
        source: impl Iterator<Item = T> + Send + 'static,
        workers: usize,
        map: impl Fn(T) -> U + Send + Sync + Copy + 'static,
    ) -> impl Iterator<Item = U> + Send + 'static {
        Self::map(source, workers, map)
    }

    /// The results of a map that can fail, for a loop that ends at the first error. A library that collects gives the
    /// error before the first result.
    fn try_map<T: Send + Sync + 'static, U: Send + 'static, E: Send + 'static>(
        source: impl Iterator<Item = T> + Send + 'static,
        workers: usize,
        map: impl Fn(T) -> Result<U, E> + Send + Sync + Copy + 'static,
    ) -> Result<impl Iterator<Item = Result<U, E>> + Send + 'static, E> {
        Ok(Self::map(source, workers, map))
    }
}

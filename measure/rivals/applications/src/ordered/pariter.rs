//! pariter: an iterator with threads behind it.

use ::pariter::IteratorExt;

use super::Ordered;

/// See above.
pub struct Pariter;

impl Ordered for Pariter {
    const NAME: &'static str = "pariter";

    fn map<T: Send + Sync + 'static, U: Send + 'static>(
        source: impl Iterator<Item = T> + Send + 'static,
        workers: usize,
        map: impl Fn(T) -> U + Send + Sync + Copy + 'static,
    ) -> impl Iterator<Item = U> + Send + 'static {
        source.parallel_map_custom(|builder| builder.threads(workers), map)
    }
}

//! Threads that several runs share.

use anabranch_record::Crew;

/// Threads that are made once and help with one run after the other, or with several at once: for many short
/// runs, and for runs inside runs.
///
/// Each run works on its calling thread and is helped by what threads of the pool are free: callers and helpers
/// together are at most as many as the pool was made for, or as the callers if those are more. No run waits for
/// a helper, so runs inside runs cannot deadlock. Dropping the pool ends its threads.
///
/// ```
/// use anabranch::{Pool, Stream};
///
/// let pool = Pool::new(2);
/// for n in 0..100u64 {
///     let sum = Stream::from_iter(0..n).pool(&pool).map(|x| 2 * x).fold(0, |sum, x| sum + x);
///     assert_eq!(sum, n * n.saturating_sub(1));
/// }
/// ```
#[derive(Debug)]
pub struct Pool {
    pub(crate) crew: Crew,
}

impl Pool {
    /// A pool for `threads` threads, the calling one of a run among them: it makes `threads - 1`.
    ///
    /// # Panics
    /// If `threads` is 0.
    #[track_caller]
    pub fn new(threads: usize) -> Self {
        Self::with_name(threads, "anabranch-pool")
    }

    /// As [`new`](Self::new), with threads called `name-1` and so on.
    ///
    /// # Panics
    /// If `threads` is 0.
    #[track_caller]
    pub fn with_name(threads: usize, name: &str) -> Self {
        assert!(threads > 0, "a pool is 1 thread or more, not 0");
        Self { crew: Crew::new(threads, name) }
    }

    /// How many threads the pool was made for.
    pub fn threads(&self) -> usize {
        self.crew.size()
    }
}

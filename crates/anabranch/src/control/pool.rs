//! Threads that several runs share.

use std::ops::Deref;
use std::sync::Arc;

use anabranch_record::ThreadPool;

/// The largest number of threads of a pool. A system without memory for the next thread may end the process in place of
/// refusing the thread.
const THREADS_LIMIT: usize = 1_024;

/// Threads that are started once and help with many runs, one after another or several at once. A pool pays
/// for many short runs, and for runs inside runs.
///
/// Each run works on its calling thread, and idle threads of the pool help. The number of callers and helpers
/// that work at a time is at most `threads`, or the number of callers if that is larger. A run never waits
/// for a helper, so runs inside runs cannot deadlock. Dropping the pool ends its threads.
///
/// A pool does not survive a `fork` of the process: see [`is_forked`](Self::is_forked).
///
/// Many streams that wait for requests can share a pool and have no calling threads: see
/// [`Stream::pool`](crate::Stream::pool).
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
    pub(crate) inner: ThreadPool,
}

impl Pool {
    /// Creates a pool for `threads` threads, the calling thread of a run included, but at most for 1,024. It starts
    /// one thread less, or fewer if the system refuses, and one more when the first stream without a calling thread comes.
    ///
    /// # Panics
    /// If `threads` is 0.
    #[track_caller]
    pub fn new(threads: usize) -> Self {
        assert!(threads > 0, "`Pool::new(0)`: a pool has 1 thread or more");
        Self::with_name(threads, "anabranch-pool")
    }

    /// Like [`new`](Self::new), with threads named `name-1`, `name-2` and so on.
    ///
    /// # Panics
    /// If `threads` is 0.
    #[track_caller]
    pub fn with_name(threads: usize, name: &str) -> Self {
        assert!(threads > 0, "`Pool::with_name(0, {name:?})`: a pool has 1 thread or more");
        Self { inner: ThreadPool::new(threads.min(THREADS_LIMIT), name) }
    }

    /// Starts the threads of the pool, unless that was done before. Returns false if the system has refused to start even one. A
    /// stream that is read from outside needs one: see [`Stream::into_iter`](crate::Stream::into_iter).
    pub fn start(&self) -> bool {
        self.inner.dispatcher().is_some()
    }

    /// Whether this process was forked from the one that has created the pool. The pool has no threads here then. Streams with it
    /// panic, and dropping it does nothing: create another pool. See [Forks](crate#forks).
    ///
    /// ```
    /// let pool = anabranch::Pool::new(2);
    /// assert!(!pool.is_forked());
    /// ```
    pub fn is_forked(&self) -> bool {
        self.inner.is_forked()
    }

    /// The number of threads that the pool has room for, the calling thread of a run included.
    pub fn threads(&self) -> usize {
        self.inner.size()
    }
}

/// A pool that a stream borrows, or has a share of: see [`Stream::pool`](crate::Stream::pool).
#[derive(Debug, Clone)]
pub enum PoolShare<'env> {
    /// A pool of the caller.
    Borrowed(&'env Pool),
    /// A pool that lives as long as somebody has a share of it.
    Shared(Arc<Pool>),
}

impl PoolShare<'_> {
    /// A share of the same pool for a stream inside of the one that has this. The inner stream ends before the outer one, so
    /// it needs no share that keeps a borrowed pool alive.
    pub(crate) fn again(&self) -> Arc<Pool> {
        match self {
            PoolShare::Borrowed(pool) => Arc::new(Pool { inner: pool.inner.again() }),
            PoolShare::Shared(pool) => Arc::clone(pool),
        }
    }
}

impl Deref for PoolShare<'_> {
    type Target = Pool;

    fn deref(&self) -> &Pool {
        match self {
            PoolShare::Borrowed(pool) => pool,
            PoolShare::Shared(pool) => pool,
        }
    }
}

impl<'env> From<&'env Pool> for PoolShare<'env> {
    fn from(pool: &'env Pool) -> Self {
        PoolShare::Borrowed(pool)
    }
}

impl From<Arc<Pool>> for PoolShare<'_> {
    fn from(pool: Arc<Pool>) -> Self {
        PoolShare::Shared(pool)
    }
}

impl From<&Arc<Pool>> for PoolShare<'_> {
    fn from(pool: &Arc<Pool>) -> Self {
        PoolShare::Shared(Arc::clone(pool))
    }
}

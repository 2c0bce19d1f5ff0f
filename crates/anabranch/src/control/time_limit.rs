//! Failing what took too long.

use std::fmt;
use std::io;
use std::time::{Duration, Instant};

/// How long a call may take, or the source of a stream for one item.
///
/// Nothing is interrupted. A call that takes longer than the limit runs to its end, and then the item fails with
/// [`TimedOut`]; what the call returned is dropped. To wake a call that may block for ever, give it a time-out of its own,
/// such as [`TcpStream::set_read_timeout`](std::net::TcpStream::set_read_timeout).
///
/// Which items fail depends on the clock, so a limit is outside of the promise that a stream gives
/// [the same output](crate::contract) each time. The failure that comes back is the first one in the order of the items, as
/// ever.
///
/// ```
/// use std::{io, thread, time::Duration};
/// use anabranch::{Stream, TimeLimit};
///
/// let limit = TimeLimit::new(Duration::from_millis(50));
/// let render = |page: u64| -> io::Result<u64> {
///     thread::sleep(Duration::from_millis(if page == 3 { 80 } else { 0 }));
///     Ok(page * 100)
/// };
///
/// let pages = Stream::from_iter(0..9).try_map(|page| limit.call(|| render(page))?);
/// let result = pages.for_each(|picture| assert!(picture < 300)); // page 3 fails, and nothing comes out behind it
/// assert_eq!(result.unwrap_err().kind(), io::ErrorKind::TimedOut);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimit(Duration);

impl TimeLimit {
    /// A limit of `limit`. With a limit of zero, nearly every call fails.
    pub const fn new(limit: Duration) -> Self {
        Self(limit)
    }

    /// Calls `f`, and returns what it returns.
    ///
    /// If `f` can fail, a `?` makes one result of the two: `limit.call(|| fetch(url))?`.
    ///
    /// # Errors
    /// [`TimedOut`] if `f` took longer than the limit.
    pub fn call<T>(&self, f: impl FnOnce() -> T) -> Result<T, TimedOut> {
        let began = Instant::now();
        let value = f();
        let took = began.elapsed();
        if took > self.0 { Err(TimedOut { limit: self.0, took }) } else { Ok(value) }
    }

    /// An iterator of the items of `items` that fails where it had to wait longer than the limit for one. The item for
    /// which it waited is dropped.
    ///
    /// ```
    /// use std::time::Duration;
    /// use anabranch::{Stream, TimeLimit};
    ///
    /// let messages = std::iter::once_with(|| {
    ///     std::thread::sleep(Duration::from_millis(80));
    ///     "late"
    /// });
    /// let messages = TimeLimit::new(Duration::from_millis(50)).pulls(messages);
    /// let result = Stream::try_from_iter(messages).for_each(|message| println!("{message}"));
    /// assert!(result.unwrap_err().to_string().contains("longer than the limit of 50ms"));
    /// ```
    pub fn pulls<I: IntoIterator>(
        self,
        items: I,
    ) -> impl Iterator<Item = Result<I::Item, TimedOut>> + use<I> {
        let mut items = items.into_iter();
        std::iter::from_fn(move || self.call(|| items.next()).transpose())
    }
}

/// The error of a call that took longer than its [`TimeLimit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedOut {
    /// How long the call was allowed to take.
    pub limit: Duration,
    /// How long it took.
    pub took: Duration,
}

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "took {:.3?}, longer than the limit of {:?}", self.took, self.limit)
    }
}

impl std::error::Error for TimedOut {}

/// An error of the kind [`TimedOut`](io::ErrorKind::TimedOut).
impl From<TimedOut> for io::Error {
    fn from(error: TimedOut) -> Self {
        io::Error::new(io::ErrorKind::TimedOut, error)
    }
}

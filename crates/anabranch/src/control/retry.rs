//! Calling a function again after it has failed.

use std::time::Duration;

/// How often a function is called again after it has failed, and how long is waited before.
///
/// The time that passes depends on the clock and on the world outside, and so may what comes out: a stage that retries is
/// outside of the promise that a stream gives [the same output](crate::contract) each time. While it waits, its thread is
/// occupied: [`replicas`](crate::Stream::replicas) raises the number of threads. A stop of the run waits until the function
/// succeeds or fails for the last time.
///
/// ```
/// use std::{sync::atomic::{AtomicU32, Ordering}, time::Duration};
/// use anabranch::{Retry, Stream};
///
/// let calls = AtomicU32::new(0);
/// let fetch = |n: u32| if calls.fetch_add(1, Ordering::Relaxed) % 3 < 2 { Err("busy") } else { Ok(n) };
///
/// let retry = Retry::new(8).backoff(Duration::from_millis(1), Duration::from_millis(50));
/// let fetched = Stream::from_iter(0..4).workers(1).try_map(|n| retry.call(|| fetch(n)));
/// assert_eq!(fetched.collect::<Vec<_>>(), Ok(vec![0, 1, 2, 3]));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    calls: u32,
    first: Duration,
    longest: Duration,
}

impl Retry {
    /// Calls a function at most `calls` times, without waiting in between.
    ///
    /// # Panics
    /// If `calls` is 0.
    #[track_caller]
    pub fn new(calls: u32) -> Self {
        assert!(calls > 0, "`Retry::new(0)`: a function is called once or more");
        Self { calls, first: Duration::ZERO, longest: Duration::ZERO }
    }

    /// Waits for `first` before the second call, and twice as long before each further one, but never longer than
    /// `longest`.
    pub fn backoff(self, first: Duration, longest: Duration) -> Self {
        Self { first, longest, ..self }
    }

    /// How long is waited before call number `call`, the first being 0.
    fn wait(&self, call: u32) -> Duration {
        let factor = 1u32.checked_shl(call.saturating_sub(1)).unwrap_or(u32::MAX);
        if call == 0 { Duration::ZERO } else { self.first.saturating_mul(factor).min(self.longest) }
    }

    /// Calls `f` until it succeeds.
    ///
    /// # Errors
    /// The error of the last call.
    pub fn call<T, E>(&self, f: impl FnMut() -> Result<T, E>) -> Result<T, E> {
        self.call_if(f, |_| true)
    }

    /// Calls `f` until it succeeds, or fails with an error of which `again` says that another call would not help.
    ///
    /// # Errors
    /// The error of the last call.
    pub fn call_if<T, E>(
        &self,
        mut f: impl FnMut() -> Result<T, E>,
        mut again: impl FnMut(&E) -> bool,
    ) -> Result<T, E> {
        let mut call = 0;
        loop {
            call += 1;
            match f() {
                Err(error) if call < self.calls && again(&error) => std::thread::sleep(self.wait(call)),
                result => return result,
            }
        }
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_called_until_it_succeeds_or_as_often_as_was_said() {
        for (succeeds_at, expected) in [(1, Ok(1)), (3, Ok(3)), (4, Err(3)), (9, Err(3))] {
            let mut calls = 0;
            let result = Retry::new(3).call(|| {
                calls += 1;
                if calls == succeeds_at { Ok(calls) } else { Err(calls) }
            });
            assert_eq!(result, expected);
        }
        let mut calls = 0;
        let hopeless = Retry::new(9).call_if(
            || -> Result<(), u32> {
                calls += 1;
                Err(calls)
            },
            |&error| error < 2,
        );
        assert_eq!(hopeless, Err(2));
    }

    #[test]
    fn waits_double_up_to_the_longest() {
        let retry = Retry::new(99).backoff(Duration::from_millis(10), Duration::from_millis(70));
        let waits = [0, 1, 2, 3, 4, 5, 40, 98].map(|call| retry.wait(call).as_millis());
        assert_eq!(waits, [0, 10, 20, 40, 70, 70, 70, 70]);
        assert_eq!(Retry::new(9).wait(5), Duration::ZERO);
        let endless = Retry::new(9).backoff(Duration::MAX, Duration::MAX);
        assert_eq!(endless.wait(8), Duration::MAX);
    }
}

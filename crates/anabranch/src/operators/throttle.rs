//! Bounds the rate of a stream.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use anabranch_plan::Node;

use crate::stream::options::ForSerial;
use crate::stream::{Mode, Stream};

impl<'env, T: Send + 'env, M: Mode<Error: 'env>, O> Stream<'env, T, M, O> {
    /// Lets at most `most` items through in any stretch of time `per`: the others wait for their time, one after the other
    /// and in order. The results do not change, only their times.
    ///
    /// The stage sleeps while an item waits. Write [`dedicated`](Self::dedicated) before it, so that it has a thread of its
    /// own and no worker sleeps. Stopping the run waits for the item that is delayed. The [contract](crate::contract) covers the items
    /// and their order, but not the time at which they come out.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use anabranch::Stream;
    ///
    /// let began = Instant::now();
    /// let requests = Stream::from_iter(0..7).dedicated().throttle(2, Duration::from_millis(10));
    /// assert_eq!(requests.map(|n| n * 2).sum::<u32>(), 42);
    /// assert!(began.elapsed() >= Duration::from_millis(30)); // 2 at once, and then 2 each 10 ms
    /// ```
    ///
    /// # Panics
    /// If `most` is 0.
    #[track_caller]
    pub fn throttle(self, most: usize, per: Duration) -> Stream<'env, T, M>
    where
        O: ForSerial,
    {
        assert!(most > 0, "`throttle(0, ..)`: a rate is 1 item or more in a time");
        // When the last items went through: `most` of them at most.
        let mut gone: VecDeque<Instant> = VecDeque::new();
        let waits = move |item| {
            if gone.len() == most
                && let Some(first) = gone.pop_front()
            {
                std::thread::sleep(per.saturating_sub(first.elapsed()));
            }
            gone.push_back(Instant::now());
            Some(item)
        };
        self.serial_each(Node::serial("throttle"), waits)
    }
}

//! Stages that depend on the clock.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use anabranch_plan::Node;

use crate::engine::{Pulled, Spread};
use crate::stream::{Mode, Stream};

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// Lets at most `most` items through in any stretch of time `per`: the others wait for their time, one after the other
    /// and in order. What comes out does not change, only when.
    ///
    /// The stage sleeps while an item waits. Behind it, [`dedicated`](Self::dedicated) gives it a thread of its own, so that
    /// no worker sleeps. Stopping the run waits for the item that is delayed. The [contract](crate::contract) covers the items
    /// and their order, but not the time at which they come out.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use anabranch::Stream;
    ///
    /// let began = Instant::now();
    /// let requests = Stream::from_iter(0..7).throttle(2, Duration::from_millis(10)).dedicated();
    /// assert_eq!(requests.map(|n| n * 2).sum::<u32>(), 42);
    /// assert!(began.elapsed() >= Duration::from_millis(30)); // 2 at once, and then 2 each 10 ms
    /// ```
    ///
    /// # Panics
    /// If `most` is 0.
    #[track_caller]
    pub fn throttle(self, most: usize, per: Duration) -> Stream<'env, T, M> {
        assert!(most > 0, "a rate is 1 item or more in a time, not 0");
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

    /// Gathers the items that are ready into vectors of at most `most` items. A vector never waits for further items: where
    /// [`batch`](Self::batch) keeps five of ten items until the source gives the others, this stage gives the five.
    ///
    /// Where a vector ends depends on the moment, so the stage is outside of the promise that a stream gives
    /// [the same output](crate::contract) each time. The items and their order are the same. In a run with one worker,
    /// which takes each item to the end before the next, each vector has one item.
    ///
    /// The name is that of the crate `futures`.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let (post, requests) = Stream::channel(16);
    /// let (answers, answered) = std::sync::mpsc::channel();
    /// let writer = std::thread::spawn(move || {
    ///     requests.workers(2).ready_chunks(10).for_each(|chunk| answers.send(chunk).unwrap());
    /// });
    /// post.post("one").unwrap();
    /// assert_eq!(answered.recv().unwrap(), ["one"]); // nothing else is posted
    /// drop(post);
    /// writer.join().unwrap();
    /// ```
    ///
    /// # Panics
    /// If `most` is 0.
    #[track_caller]
    pub fn ready_chunks(self, most: usize) -> Stream<'env, Vec<T>, M> {
        assert!(most > 0, "a chunk holds 1 item or more, not 0");
        self.spreading(Node::serial("ready_chunks"), ReadyChunks { most, gives: false, items: Vec::new() })
    }
}

/// A spreading stage that gathers the items that are ready.
#[derive(Debug)]
pub(crate) struct ReadyChunks<T> {
    /// The largest number of items in a chunk.
    pub(crate) most: usize,
    /// Whether the chunk is given, though it could have more items.
    pub(crate) gives: bool,
    pub(crate) items: Vec<T>,
}

impl<T: Send, E> Spread<T, E> for ReadyChunks<T> {
    type Out = Vec<T>;

    fn open(&mut self, item: T) {
        self.items.push(item);
    }

    #[inline]
    fn next(&mut self) -> Pulled<Vec<T>, E> {
        let gives = std::mem::take(&mut self.gives) || self.items.len() == self.most;
        if gives { Pulled::Item(std::mem::take(&mut self.items)) } else { Pulled::End }
    }

    fn holds(&self) -> bool {
        !self.items.is_empty()
    }

    fn idle(&mut self) -> bool {
        self.gives = !self.items.is_empty();
        self.gives
    }
}

//! Streams whose items come when they are ready: several as one, and one in chunks that wait for a time.

use std::any::Any;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anabranch_plan::Node;
use anabranch_record::sync::named_thread;

use crate::control::CancelToken;
use crate::engine::Halt;
use crate::engine::pull::{Pull, Pulled};
use crate::outside::{Channel, Post, channel};
use crate::stream::{Mode, Stream};

/// How many items of one stream may wait before the source.
const WAITING_ITEMS: usize = 16;

/// What one of the streams sends.
enum Sent<T, E> {
    Item(T),
    Fail(E),
    Panic(Box<dyn Any + Send>),
}

/// A source made of streams that run on threads of their own.
struct Selected<T, E> {
    posted: Channel<Sent<T, E>>,
    // Dropped after `posted`, so that no thread waits for room any more.
    running: Running,
}

/// Ends the streams when it is dropped, and waits for their threads.
struct Running {
    token: CancelToken,
    threads: Vec<JoinHandle<()>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.token.cancel();
        for thread in self.threads.drain(..) {
            // The thread has caught the panics of its stream.
            let _ = thread.join();
        }
    }
}

impl<T, E> Sent<T, E> {
    /// What a source gives that was sent this. Resumes a panic.
    fn pulled(pulled: Pulled<Self, Infallible>) -> Pulled<T, E> {
        match pulled {
            Pulled::Item(Sent::Item(item)) => Pulled::Item(item),
            Pulled::Item(Sent::Fail(error)) => Pulled::Fail(error),
            Pulled::Item(Sent::Panic(payload)) => resume_unwind(payload),
            Pulled::End => Pulled::End,
        }
    }
}

impl<T: Send, E: Send> Pull for Selected<T, E> {
    type Item = T;
    type Error = E;

    fn pull(&mut self) -> Pulled<T, E> {
        Sent::pulled(self.posted.pull())
    }

    fn upper(&self) -> Option<usize> {
        None
    }
}

impl<T, M> Stream<'static, T, M>
where
    T: Send + 'static,
    M: Mode + 'static,
    M::Error: Send + 'static,
{
    /// Creates a stream of the items of several streams, as they come. The items of one stream keep their order. Which of
    /// two streams is first depends on the moment, so the order of the items is outside of the promise that a stream gives
    /// [the same output](crate::contract) each time. [`interleave`](Stream::interleave) and
    /// [`Branches::merge`](crate::Branches::merge) have a defined order.
    ///
    /// The streams begin to run at once, each on threads of its own or of its [`pool`](Stream::pool), with its own settings.
    /// At most 16 results of each wait before the source. The first failure in time ends the stream and the
    /// others, and so does a panic. When the stream has ended or was dropped, all threads are gone.
    ///
    /// # Panics
    /// If the system cannot create a thread for each stream.
    ///
    /// The name is that of the crate `futures`.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let (post, requests) = Stream::channel(4);
    /// let timer = Stream::from_iter(1..=3u32);
    /// let events = Stream::select_all([requests, timer.map(|n| n * 100)]);
    /// post.post(7).unwrap();
    /// drop(post);
    /// let mut events: Vec<u32> = events.map(|event| event + 1).collect();
    /// events.sort();
    /// assert_eq!(events, [8, 101, 201, 301]);
    /// ```
    pub fn select_all(streams: impl IntoIterator<Item = Self>) -> Self {
        let selected = Self::selected(streams.into_iter().collect());
        let waiter = selected.posted.waiter().clone();
        Self::pulled(selected, Node::source("select_all")).woken_by(waiter, None)
    }

    /// Lets the streams run, and returns the source of their items.
    fn selected(streams: Vec<Self>) -> Selected<T, M::Error> {
        let (post, posted) = channel(WAITING_ITEMS * streams.len().max(1));
        // If a thread cannot be created, dropping this ends those that were: in the order that the fields need.
        let mut selected =
            Selected { posted, running: Running { token: CancelToken::new(), threads: Vec::new() } };
        let running = &mut selected.running;
        let count = streams.len();
        for stream in streams {
            let stream = stream.cancel(&running.token);
            let name = stream.draft.outline.plan.name.clone().unwrap_or_else(|| "anabranch".to_owned());
            let post = post.clone();
            match named_thread(&format!("{name}-select")).spawn(move || stream.send(&post)) {
                Ok(thread) => running.threads.push(thread),
                Err(error) => panic!(
                    "the system cannot create a thread for each of {count} streams, after {}: {error}",
                    running.threads.len()
                ),
            }
        }
        selected
    }

    /// Runs the stream, and posts its results and its failure until nobody takes them.
    fn send(self, post: &Post<Sent<T, M::Error>>) {
        let ended = catch_unwind(AssertUnwindSafe(|| {
            self.run_into(Node::sink("select"), |item| match post.post(Sent::Item(item)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(Halt::Break),
            })
        }));
        let failure = match ended.map(|ended| ended.result) {
            Ok(Ok(())) => return,
            Ok(Err(error)) => Sent::Fail(error),
            Err(payload) => Sent::Panic(payload),
        };
        // It is dropped if the stream of all has ended before.
        let _ = post.post(failure);
    }
}

/// A source of chunks of the items of another.
struct Timed<T, E> {
    selected: Selected<T, E>,
    most: usize,
    time: Duration,
    /// What comes behind the last chunk.
    behind: Option<Pulled<Sent<T, E>, Infallible>>,
}

impl<T: Send, E: Send> Pull for Timed<T, E> {
    type Item = Vec<T>;
    type Error = E;

    fn pull(&mut self) -> Pulled<Vec<T>, E> {
        let posted = &mut self.selected.posted;
        let first = self.behind.take().unwrap_or_else(|| posted.pull());
        let first = match Sent::pulled(first) {
            Pulled::Item(item) => item,
            Pulled::Fail(error) => return Pulled::Fail(error),
            Pulled::End => return Pulled::End,
        };
        let deadline = Instant::now().checked_add(self.time);
        let mut chunk = vec![first];
        while chunk.len() < self.most {
            let next = match deadline {
                Some(deadline) => posted.pull_until(deadline),
                None => Some(posted.pull()),
            };
            match next {
                Some(Pulled::Item(Sent::Item(item))) => chunk.push(item),
                Some(end) => {
                    self.behind = Some(end);
                    break;
                }
                None => break,
            }
        }
        Pulled::Item(chunk)
    }

    fn upper(&self) -> Option<usize> {
        None
    }
}

impl<T: Send + 'static, M: Mode<Error: 'static> + 'static> Stream<'static, T, M> {
    /// Gathers items into vectors of `most` items, or of fewer if `time` has passed since the first of them came. So no item
    /// waits longer than `time`, and a busy stream has full vectors.
    ///
    /// It is for sources that wait, such as [`channel`](Stream::channel) and `from_async`. Where a vector ends depends on the
    /// moment, so the stage is outside of the promise that a stream gives [the same output](crate::contract) each time. The
    /// items and their order are the same. [`chunks`](Self::chunks) does without the clock, and
    /// [`ready_chunks`](Self::ready_chunks) waits for no item at all.
    ///
    /// The stages before begin to run at once, on threads of their own with their own settings, as in
    /// [`select_all`](Stream::select_all). At most 16 of their results wait before the vectors.
    ///
    /// The name is that of the crate `tokio-stream`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use anabranch::Stream;
    ///
    /// let (post, requests) = Stream::channel(16);
    /// let (answers, answered) = std::sync::mpsc::channel();
    /// let writer = std::thread::spawn(move || {
    ///     let chunks = requests.chunks_timeout(3, Duration::from_millis(5));
    ///     chunks.for_each(|chunk| answers.send(chunk).unwrap());
    /// });
    /// post.post("one").unwrap();
    /// assert_eq!(answered.recv().unwrap(), ["one"]); // nothing else is posted
    /// drop(post);
    /// writer.join().unwrap();
    /// ```
    ///
    /// # Panics
    /// If `most` is 0, or if the system cannot create a thread.
    #[track_caller]
    pub fn chunks_timeout(self, most: usize, time: Duration) -> Stream<'static, Vec<T>, M> {
        assert!(most > 0, "a chunk holds 1 item or more, not 0");
        let selected = Stream::selected(vec![self]);
        let waiter = selected.posted.waiter().clone();
        let timed = Timed { selected, most, time, behind: None };
        Stream::pulled(timed, Node::source("chunks_timeout")).woken_by(waiter, None)
    }
}

//! Sources and ends that are asynchronous streams.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use anabranch_plan::Node;
use anabranch_record::{EventCount, WaitKey};

use crate::control::Runtime;
use crate::control::waiter::Waiter;
use crate::engine::nodes::pull::{Pull, Pulled};
use crate::engine::{Feed, RunThreads};
use crate::outside::reader::Reader;
use crate::stream::{May, Mode, Source, Stream, TryStream, Waits};

/// Wakes the thread that waits for a source.
#[derive(Debug, Default)]
struct Alarm {
    went_off: AtomicBool,
    waiter: Waiter,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.went_off.store(true, Ordering::Release);
        self.waiter.notify();
    }
}

/// A source made of an asynchronous stream.
struct Polled<S> {
    stream: Pin<Box<S>>,
    alarm: Arc<Alarm>,
    waker: Waker,
    runtime: Runtime,
}

/// Tells a detached run whether the stream is to be polled.
impl Feed for Alarm {
    fn is_ready(&self) -> bool {
        self.went_off.load(Ordering::Acquire)
    }

    fn is_enough(&self) -> bool {
        self.is_ready()
    }

    fn event(&self) -> &anabranch_record::sync::Arc<EventCount> {
        &self.waiter.event
    }

    fn wait(&self, key: WaitKey, _: &dyn Fn() -> bool, _: &dyn Fn() -> bool) {
        self.waiter.event.wait(key);
    }

    fn starts(&self, _: anabranch_record::sync::Arc<dyn RunThreads>) {
        // A stream that was never polled wakes nobody.
        self.went_off.store(true, Ordering::Release);
    }
}

impl<S: futures_core::Stream> Polled<S> {
    fn new(stream: S, runtime: Runtime) -> Self {
        let alarm = Arc::<Alarm>::default();
        let waker = Waker::from(Arc::clone(&alarm));
        Self { stream: Box::pin(stream), alarm, waker, runtime }
    }

    fn poll(&mut self) -> Poll<Option<S::Item>> {
        let Self { stream, waker, runtime, .. } = self;
        runtime.within(|| stream.as_mut().poll_next(&mut Context::from_waker(waker)))
    }

    /// The next item; waits for it until the run stops.
    fn next(&mut self) -> Option<S::Item> {
        loop {
            if let Poll::Ready(item) = self.poll() {
                return item;
            }
            let Alarm { went_off, waiter } = &*self.alarm;
            waiter.wait(|| went_off.swap(false, Ordering::Acquire).then_some(()))?;
        }
    }

    /// The next item; `None` if a detached run has to wait for it.
    fn try_next(&mut self) -> Option<Option<S::Item>> {
        if !self.alarm.waiter.is_detached() {
            return Some(self.next());
        }
        self.alarm.went_off.swap(false, Ordering::AcqRel);
        match self.poll() {
            Poll::Ready(item) => {
                // The stream wakes nobody for the item behind this one.
                self.alarm.went_off.store(true, Ordering::Release);
                Some(item)
            }
            Poll::Pending => None,
        }
    }

    fn feed(&self) -> Arc<dyn Feed> {
        let alarm: Arc<Alarm> = Arc::clone(&self.alarm);
        alarm
    }
}

impl<S: futures_core::Stream<Item: Send> + Send> Pull for Polled<S> {
    type Item = S::Item;
    type Error = Infallible;

    fn pull(&mut self) -> Pulled<S::Item, Infallible> {
        self.next().map_or(Pulled::End, Pulled::Item)
    }

    fn try_pull(&mut self) -> Option<Pulled<S::Item, Infallible>> {
        Some(self.try_next()?.map_or(Pulled::End, Pulled::Item))
    }

    fn upper(&self) -> Option<usize> {
        self.stream.size_hint().1
    }
}

/// A source made of an asynchronous stream of results.
struct TryPolled<S>(Polled<S>);

impl<T: Send, E: Send, S: futures_core::Stream<Item = Result<T, E>> + Send> Pull for TryPolled<S> {
    type Item = T;
    type Error = E;

    fn pull(&mut self) -> Pulled<T, E> {
        pulled(self.0.next())
    }

    fn try_pull(&mut self) -> Option<Pulled<T, E>> {
        self.0.try_next().map(pulled)
    }

    fn upper(&self) -> Option<usize> {
        self.0.stream.size_hint().1
    }
}

fn pulled<T, E>(item: Option<Result<T, E>>) -> Pulled<T, E> {
    match item {
        Some(Ok(item)) => Pulled::Item(item),
        Some(Err(error)) => Pulled::Fail(error),
        None => Pulled::End,
    }
}

impl<'env, T: Send + 'env, M: Mode<Error: 'env> + 'env> Source<'env, Waits<'env, T, M>, T, M> {
    fn polled<S, P>(stream: S, node: Node, pull: impl FnOnce(Polled<S>) -> P + 'env) -> Self
    where
        S: futures_core::Stream<Item: Send> + Send + 'env,
        P: Pull<Item = T, Error = M::Error> + 'env,
    {
        Self::waiting(node, move |node, weigher| {
            let runtime = Runtime::default();
            let polled = Polled::new(stream, runtime.clone());
            let (waiter, feed) = (polled.alarm.waiter.clone(), polled.feed());
            let mut stream = Stream::pulled(pull(polled), node, weigher).woken_by(waiter, Some(feed));
            stream.draft.attached.runtime = runtime;
            stream
        })
    }
}

impl<'env, T: Send + 'env> Source<'env, Waits<'env, T>, T> {
    /// Creates the source of [`Stream::from_async`].
    pub fn from_async<S>(stream: S) -> Self
    where
        S: futures_core::Stream<Item = T> + Send + 'env,
    {
        Self::polled(stream, Node::source("from_async"), |polled| polled)
    }
}

impl<'env, T: Send + 'env, E: Send + 'env> Source<'env, Waits<'env, T, May<E>>, T, May<E>> {
    /// Creates the source of [`TryStream::try_from_async`].
    pub fn try_from_async<S>(stream: S) -> Self
    where
        S: futures_core::Stream<Item = Result<T, E>> + Send + 'env,
    {
        Self::polled(stream, Node::source("try_from_async").fallible(), TryPolled)
    }
}

impl<'env, T: Send + 'env> Stream<'env, T> {
    /// Creates a stream of the items of an asynchronous stream.
    ///
    /// A thread of its own polls the asynchronous stream, and sleeps while it is pending. With a
    /// [shared pool](Stream::pool), the threads of the pool may poll it, one at a time. They do
    /// not drive timers or sockets: they need a running runtime. If the stream stops or an item fails, a
    /// pending asynchronous stream is not waited for, but a poll that is already running is.
    ///
    /// The timers and sockets of tokio must also be polled inside of a runtime: the method `on` names it (feature `tokio`).
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let numbers = futures::stream::iter(1..=4);
    /// assert_eq!(Stream::from_async(numbers).map(|n| n * n).collect::<Vec<_>>(), [1, 4, 9, 16]);
    /// ```
    pub fn from_async<S>(stream: S) -> Self
    where
        S: futures_core::Stream<Item = T> + Send + 'env,
    {
        Source::from_async(stream).into_stream()
    }
}

impl<'env, T: Send + 'env, E: Send + 'env> TryStream<'env, T, E> {
    /// A stream of what an asynchronous stream of results gives: the first error ends it. The rest is as for
    /// [`from_async`](Stream::from_async).
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let lines = futures::stream::iter(["1", "2", "three", "4"].map(|line| line.parse::<i32>()));
    /// let mut sum = 0;
    /// assert!(Stream::try_from_async(lines).map(|n| 2 * n).for_each(|n| sum += n).is_err());
    /// assert_eq!(sum, 6);
    /// ```
    pub fn try_from_async<S>(stream: S) -> Self
    where
        S: futures_core::Stream<Item = Result<T, E>> + Send + 'env,
    {
        Source::try_from_async(stream).into_stream()
    }
}

/// The results of a stream, as an asynchronous stream. `into_async` makes it.
///
/// The stream runs on threads of its own, or on those of a [shared pool](Stream::pool). While it is not polled, it runs until
/// its window is full. Dropping
/// this value stops the stream and does not wait: the threads end when they have finished their current work.
/// If the stream panics, the polls return the results before the panic, and the next poll resumes the panic.
pub struct AsyncItems<T>(Reader<T>);

impl<T> fmt::Debug for AsyncItems<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncItems").finish_non_exhaustive()
    }
}

impl<T> futures_core::Stream for AsyncItems<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        self.0.poll(context)
    }
}

impl<T: Send + 'static> Stream<'static, T> {
    /// Returns the results as an asynchronous stream. The stream runs on threads of its own, or on those of a
    /// [shared pool](Stream::pool) alone, so it goes on while its reader does something else.
    ///
    /// ```
    /// use anabranch::Stream;
    /// use futures::executor::block_on_stream;
    ///
    /// let squares = Stream::from_iter(1..=4).map(|n| n * n).into_async();
    /// assert_eq!(block_on_stream(squares).collect::<Vec<_>>(), [1, 4, 9, 16]);
    /// ```
    #[track_caller]
    pub fn into_async(self) -> AsyncItems<T> {
        self.draft.outline.assert_whole("into_async");
        AsyncItems(self.read("async", "into_async", |item| match item {
            Ok(item) => item,
        }))
    }
}

impl<T: Send + 'static, E: Send + 'static> TryStream<'static, T, E> {
    /// Returns the results as an asynchronous stream of `Result`s, which ends after the first error.
    ///
    /// ```
    /// use anabranch::Stream;
    /// use futures::executor::block_on_stream;
    ///
    /// let numbers = Stream::from_iter(["1", "x"]).try_map(|word| word.parse::<u32>()).into_async();
    /// let numbers: Vec<_> = block_on_stream(numbers).collect();
    /// assert_eq!(numbers[0], Ok(1));
    /// assert!(numbers[1].is_err());
    /// ```
    #[track_caller]
    pub fn into_async(self) -> AsyncItems<Result<T, E>> {
        self.draft.outline.assert_whole("into_async");
        AsyncItems(self.read("async", "into_async", |item| item))
    }
}

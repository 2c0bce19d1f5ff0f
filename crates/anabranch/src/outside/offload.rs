//! Off-loading: a sequential program hands single tasks to a stream that runs next to it.

use std::collections::VecDeque;
use std::sync::mpsc::TryRecvError;
#[cfg(feature = "futures")]
use std::task::{Context, Poll};

use crate::outside::{Items, Sender, channel};
use crate::stream::{Source, Stream};

/// A farm that runs next to its caller. The caller off-loads tasks to it and gets their results in the order
/// of the tasks. It is FastFlow's accelerator (FastFlow on many-cores, section III).
///
/// At most `window` tasks are in the farm. When it is full, [`offload`](Self::offload) waits for the oldest
/// result and keeps it for [`get`](Self::get). A caller that off-loads all tasks before it gets a result
/// therefore does not deadlock. [`try_offload`](Self::try_offload) gives the task back instead.
///
/// Dropping the farm drops the tasks that have no result yet. To have all results, [`close`](Self::close) it and
/// [`get`](Self::get) until there is none.
///
/// ```
/// use anabranch::Offload;
///
/// let mut squares = Offload::start(2, 16, |n: u64| n * n);
/// for n in 0..100 {
///     squares.offload(n);
///     // ... the caller does something else ...
/// }
/// squares.close();
/// let sum: u64 = std::iter::from_fn(|| squares.get()).sum();
/// assert_eq!(sum, 328_350);
/// ```
#[derive(Debug)]
pub struct Offload<T: Send + 'static, U: Send + 'static> {
    /// `None` once the farm is closed.
    sender: Option<Sender<T>>,
    results: Items<U>,
    /// Results that were taken from the stream to make room for tasks.
    kept: VecDeque<U>,
    /// How many tasks were handed over whose result was not taken from the stream yet. At most `window`.
    under_way: usize,
    window: usize,
}

impl<T: Send + 'static, U: Send + 'static> Offload<T, U> {
    /// Starts a farm with `workers` threads, in addition to the caller's, and with room for `window` tasks.
    ///
    /// # Panics
    /// If `workers` or `window` is 0.
    #[track_caller]
    pub fn start(workers: usize, window: usize, f: impl Fn(T) -> U + Send + Sync + 'static) -> Self {
        assert!(workers > 0, "`Offload::start(0, ..)`: a farm has 1 worker or more");
        assert!(window > 0, "`Offload::start({workers}, 0, ..)`: a farm has room for 1 task or more");
        Self::through(window, |tasks| tasks.workers(workers).map(f))
    }

    /// Starts a farm with room for `window` tasks, whose tasks go through the stream that `stream` makes of them. The stream
    /// must give one result for each task, in order. With a [shared pool](Stream::pool), the farm has no threads of its own.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use anabranch::{Offload, Pool};
    ///
    /// let pool = Arc::new(Pool::new(2));
    /// let mut squares = Offload::through(16, |numbers| numbers.pool(&pool).map(|n: u64| n * n));
    /// squares.offload(12);
    /// assert_eq!(squares.get(), Some(144));
    /// ```
    ///
    /// # Panics
    /// If `window` is 0.
    #[track_caller]
    pub fn through(window: usize, stream: impl FnOnce(Stream<'static, T>) -> Stream<'static, U>) -> Self {
        assert!(window > 0, "`Offload::through(0, ..)`: a farm has room for 1 task or more");
        // The queue has room for every task in the farm, so posting never waits.
        let (sender, posted) = channel(window);
        let tasks = Source::posted(posted).named("offload").into_stream();
        let stream = stream(tasks.title("offload").window(window));
        Self {
            sender: Some(sender),
            results: Items::of(stream, "Offload"),
            kept: VecDeque::new(),
            under_way: 0,
            window,
        }
    }

    /// Hands over a task. If `window` tasks are in the farm, it waits for the oldest result and keeps it for
    /// [`get`](Self::get).
    ///
    /// # Panics
    /// If the farm is closed. If a task has panicked, with the panic of that task.
    #[track_caller]
    pub fn offload(&mut self, task: T) {
        if self.under_way == self.window
            && let Some(result) = self.next()
        {
            self.kept.push_back(result);
        }
        assert!(self.try_offload(task).is_ok(), "a farm has room after it has given a result");
    }

    /// Hands over a task if fewer than `window` tasks are in the farm.
    ///
    /// # Errors
    /// Gives the task back if `window` tasks are in the farm. Get a result before the next attempt.
    ///
    /// # Panics
    /// If the farm is closed. If a task has panicked, with the panic of that task.
    #[track_caller]
    pub fn try_offload(&mut self, task: T) -> Result<(), T> {
        let sender = self.sender.as_ref().expect("the farm was closed by `close`, and takes no more tasks");
        if self.under_way == self.window {
            return Err(task);
        }
        if sender.send(task).is_err() {
            // The stream has stopped early: its results end, with the panic of a task if there was one.
            while let Some(result) = self.next() {
                self.kept.push_back(result);
            }
            panic!(
                "the farm has stopped and takes no more tasks: a task has panicked before, or the stream of `through` has ended"
            );
        }
        self.under_way += 1;
        Ok(())
    }

    /// Waits for the next result and returns it. Returns `None` if no task is in the farm.
    ///
    /// # Panics
    /// If a task has panicked, with the panic of that task.
    pub fn get(&mut self) -> Option<U> {
        if let Some(result) = self.kept.pop_front() {
            return Some(result);
        }
        if self.under_way == 0 {
            return None;
        }
        self.next()
    }

    /// Waits for the next result of the stream.
    fn next(&mut self) -> Option<U> {
        // If the results have ended or end with a panic, no task is under way.
        let under_way = std::mem::take(&mut self.under_way);
        let result = self.results.next()?;
        self.under_way = under_way.saturating_sub(1);
        Some(result)
    }

    /// Returns the next result as [`get`](Self::get) does. If it is not there yet, the task of `context` is woken when it comes.
    ///
    /// ```
    /// use std::future::poll_fn;
    /// use anabranch::Offload;
    ///
    /// let mut squares = Offload::start(2, 16, |n: u64| n * n);
    /// squares.offload(12);
    /// let square = futures::executor::block_on(poll_fn(|context| squares.poll_get(context)));
    /// assert_eq!(square, Some(144));
    /// ```
    ///
    /// # Panics
    /// If a task has panicked, with the panic of that task.
    #[cfg(feature = "futures")]
    pub fn poll_get(&mut self, context: &mut Context<'_>) -> Poll<Option<U>> {
        if let Some(result) = self.kept.pop_front() {
            return Poll::Ready(Some(result));
        }
        if self.under_way == 0 {
            return Poll::Ready(None);
        }
        // As in `next`.
        let under_way = std::mem::take(&mut self.under_way);
        let polled = self.results.poll(context);
        self.under_way = match &polled {
            Poll::Ready(Some(_)) => under_way.saturating_sub(1),
            Poll::Ready(None) => 0,
            Poll::Pending => under_way,
        };
        polled
    }

    /// Returns the next result if it is there.
    ///
    /// # Panics
    /// If a task has panicked, with the panic of that task.
    pub fn try_get(&mut self) -> Option<U> {
        if let Some(result) = self.kept.pop_front() {
            return Some(result);
        }
        match self.results.try_next() {
            Ok(result) => {
                self.under_way = self.under_way.saturating_sub(1);
                Some(result)
            }
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => self.next(),
        }
    }

    /// How many tasks were off-loaded and their results not got yet. After the panic of a task, only the results before it are left.
    pub fn pending(&self) -> usize {
        self.under_way + self.kept.len()
    }

    /// Closes the farm: no more tasks will come. Results can still be got.
    pub fn close(&mut self) {
        self.sender = None;
    }
}

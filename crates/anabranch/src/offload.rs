//! Off-loading: a sequential program hands single tasks to a stream that runs beside it.

use std::collections::VecDeque;
use std::sync::mpsc::TryRecvError;

use crate::channel::{Post, channel};
use crate::iter::Items;
use crate::stream::Stream;

/// FastFlow's accelerator: a farm that runs beside the caller, which off-loads tasks to it and gets their
/// results, in the order of the tasks (FastFlow on many-cores, section III).
///
/// At most `window` tasks are under way. [`offload`](Self::offload) beyond that waits for the oldest result and
/// keeps it for [`get`](Self::get), so a caller that off-loads everything before it gets anything does not
/// hang; [`try_offload`](Self::try_offload) gives the task back instead.
///
/// ```
/// use anabranch::Offload;
///
/// let mut squares = Offload::start(2, 16, |n: u64| n * n);
/// for n in 0..100 {
///     squares.offload(n);
///     // ... the caller goes on with something else ...
/// }
/// squares.close();
/// let sum: u64 = std::iter::from_fn(|| squares.get()).sum();
/// assert_eq!(sum, 328_350);
/// ```
#[derive(Debug)]
pub struct Offload<T: Send + 'static, U: Send + 'static> {
    /// `None` once closed.
    post: Option<Post<T>>,
    results: Items<U>,
    /// Results that had to be taken to make room for tasks.
    kept: VecDeque<U>,
    /// Tasks whose result was not yet taken from the stream; at most `window`.
    under_way: usize,
    window: usize,
}

impl<T: Send + 'static, U: Send + 'static> Offload<T, U> {
    /// Starts a farm of `workers` threads beside the caller's, with at most `window` tasks under way.
    ///
    /// # Panics
    /// If `workers` or `window` is 0.
    #[track_caller]
    pub fn start(workers: usize, window: usize, f: impl Fn(T) -> U + Send + Sync + 'static) -> Self {
        assert!(workers > 0, "a farm needs 1 worker or more, not 0");
        assert!(window > 0, "a window is 1 task or more, not 0");
        // The queue has room for every task that may be under way, so that posting never waits.
        let (post, posted) = channel(window);
        let stream = Stream::posted(posted).title("offload").workers(workers).window(window).map(f);
        Self { post: Some(post), results: stream.into_iter(), kept: VecDeque::new(), under_way: 0, window }
    }

    /// Hands over a task. If `window` tasks are under way, waits for the oldest result and keeps it for `get`.
    ///
    /// # Panics
    /// If the farm was closed; with a task's own panic, if one has panicked.
    #[track_caller]
    pub fn offload(&mut self, task: T) {
        if self.under_way == self.window
            && let Some(result) = self.results.next()
        {
            self.under_way -= 1;
            self.kept.push_back(result);
        }
        assert!(self.try_offload(task).is_ok(), "the farm has room for a task after it gave a result");
    }

    /// Hands over a task if fewer than `window` are under way.
    ///
    /// # Errors
    /// Gives the task back if `window` tasks are under way: get a result first.
    ///
    /// # Panics
    /// If the farm was closed; with a task's own panic, if one has panicked.
    #[track_caller]
    pub fn try_offload(&mut self, task: T) -> Result<(), T> {
        let post = self.post.as_ref().expect("a closed farm takes no tasks");
        if self.under_way == self.window {
            return Err(task);
        }
        if post.post(task).is_err() {
            // The stream stops early only if a task has panicked: its results end with that panic.
            self.results.by_ref().for_each(drop);
            panic!("the farm has stopped");
        }
        self.under_way += 1;
        Ok(())
    }

    /// The next result; waits for it. `None` if no task is under way.
    ///
    /// # Panics
    /// With a task's own panic, if one has panicked.
    pub fn get(&mut self) -> Option<U> {
        if let Some(result) = self.kept.pop_front() {
            return Some(result);
        }
        if self.under_way == 0 {
            return None;
        }
        self.under_way -= 1;
        self.results.next()
    }

    /// The next result, if it is there.
    ///
    /// # Panics
    /// With a task's own panic, if one has panicked.
    pub fn try_get(&mut self) -> Option<U> {
        if let Some(result) = self.kept.pop_front() {
            return Some(result);
        }
        match self.results.try_next() {
            Ok(result) => {
                self.under_way -= 1;
                Some(result)
            }
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => self.results.next(),
        }
    }

    /// How many tasks have no result taken yet.
    pub fn pending(&self) -> usize {
        self.under_way + self.kept.len()
    }

    /// Says that no more tasks will come. Results can still be got.
    pub fn close(&mut self) {
        self.post = None;
    }
}

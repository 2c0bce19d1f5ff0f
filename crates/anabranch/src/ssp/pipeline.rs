//! A pipeline that runs.

use std::fmt;
use std::panic::resume_unwind;

use anabranch_plan::Plan;
use anabranch_record::sync::thread::{Builder, JoinHandle};
use anabranch_record::sync::{Mutex, MutexGuard, lock};

use super::queue::Sender;

/// A pipeline that takes items `T` and collects what its last stage gives, `R`: made, and started, by
/// [`pipeline!`](super::pipeline). Its threads are its own.
///
/// Dropping it ends it, as [`end_and_wait`](Self::end_and_wait) does.
pub struct Pipeline<T, R> {
    sender: Sender<T>,
    has_ended: bool,
    state: Mutex<State<R>>,
    plan: Plan,
}

enum State<R> {
    Running(JoinHandle<Vec<R>>),
    /// Every thread has ended. Nothing, after a panic.
    Over(Vec<R>),
}

impl<R> State<R> {
    /// Waits until every thread has ended, and gives what was collected.
    fn end(&mut self) -> std::thread::Result<Vec<R>> {
        match std::mem::replace(self, State::Over(Vec::new())) {
            State::Running(thread) => thread.join(),
            State::Over(collected) => Ok(collected),
        }
    }
}

/// Why an item was not posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemPostError {
    /// The pipeline was ended, or has ended by a panic that the caller was told of before.
    StreamEnded,
    /// Never given: here so that a `match` on Rust-SSP's two errors compiles.
    UnknownError,
}

impl fmt::Display for ItemPostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ItemPostError::StreamEnded => "the pipeline has ended and takes no more items",
            ItemPostError::UnknownError => "the pipeline takes no items",
        })
    }
}

impl std::error::Error for ItemPostError {}

impl<T, R> fmt::Debug for Pipeline<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline").field("has_ended", &self.has_ended).finish_non_exhaustive()
    }
}

impl<T, R> Pipeline<T, R> {
    pub(super) fn start(sender: Sender<T>, plan: Plan, run: impl FnOnce() -> Vec<R> + Send + 'static) -> Self
    where
        R: Send + 'static,
    {
        let thread = Builder::new().name("ssp-0".to_owned()).spawn(run);
        let thread = thread.expect("the system has a thread for a pipeline");
        Self { sender, has_ended: false, state: Mutex::new(State::Running(thread)), plan }
    }

    /// Hands over an item. Waits only while the pipeline has no room: see [the promises](crate::ssp#what-it-promises).
    ///
    /// # Errors
    /// If the pipeline has ended.
    ///
    /// # Panics
    /// With the panic of a stage, if one has panicked and the caller does not know of it yet.
    pub fn post(&self, item: T) -> Result<(), ItemPostError> {
        if self.has_ended {
            return Err(ItemPostError::StreamEnded);
        }
        self.sender.send(item).map_err(|_| {
            self.join();
            ItemPostError::StreamEnded
        })
    }

    /// Says that no more items will come, and does not wait.
    pub fn end(&mut self) {
        self.has_ended = true;
        self.sender.end();
    }

    /// Says that no more items will come and waits until all are through.
    ///
    /// # Panics
    /// With the panic of a stage, if one has panicked and the caller does not know of it yet.
    pub fn end_and_wait(&mut self) {
        self.end();
        self.join();
    }

    /// As [`end_and_wait`](Self::end_and_wait), and gives what the last stage gave: in the order of the posts, but
    /// behind a `sequential!` or `collect!()` in the order in which items were done. After a panic of a stage
    /// that the caller was told of before there is nothing.
    ///
    /// # Panics
    /// With the panic of a stage, if one has panicked and the caller does not know of it yet.
    pub fn collect(mut self) -> Vec<R> {
        self.end_and_wait();
        match &mut *self.state() {
            State::Over(collected) => std::mem::take(collected),
            State::Running(_) => unreachable!("it was waited for"),
        }
    }

    /// What runs: the stages, and what each is allowed.
    ///
    /// ```
    /// use anabranch::ssp::*;
    ///
    /// let pipeline = pipeline![parallel!(|n: u32| Some(n + 1), 4), collect!()];
    /// println!("{}", pipeline.plan());
    /// ```
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    fn state(&self) -> MutexGuard<'_, State<R>> {
        lock(&self.state)
    }

    /// Waits until every thread has ended. Of several callers one gets a panic.
    fn join(&self) {
        let mut state = self.state();
        match state.end() {
            Ok(collected) => *state = State::Over(collected),
            Err(payload) => {
                drop(state);
                resume_unwind(payload);
            }
        }
    }
}

/// Ends the pipeline and waits until every item is through.
///
/// # Panics
/// With the panic of a stage, if one has panicked and the caller does not know of it yet; not while the dropping
/// thread panics itself.
impl<T, R> Drop for Pipeline<T, R> {
    fn drop(&mut self) {
        self.sender.end();
        if std::thread::panicking() {
            let _ = self.state().end();
            return;
        }
        self.join();
    }
}

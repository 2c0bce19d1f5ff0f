//! A running pipeline.

use std::fmt;
use std::panic::resume_unwind;

use anabranch_plan::Plan;
use anabranch_record::sync::thread::{Builder, JoinHandle};
use anabranch_record::sync::{Mutex, MutexGuard, lock};

use crate::engine::discard;
use crate::outside::posts::Sender;

/// A pipeline that takes items `T` and collects the results `R` of its last stage.
/// [`pipeline!`](super::pipeline) creates and starts it. It has its own threads.
///
/// Dropping it ends it, like [`end_and_wait`](Self::end_and_wait).
pub struct Pipeline<T, R> {
    sender: Sender<T>,
    has_ended: bool,
    state: Mutex<PipelineState<R>>,
    plan: Plan,
}

enum PipelineState<R> {
    Running(JoinHandle<Vec<R>>),
    /// Every thread has ended. The list is empty after a panic.
    Over(Vec<R>),
}

impl<R> PipelineState<R> {
    /// Waits until every thread has ended, and returns what was collected.
    fn end(&mut self) -> std::thread::Result<Vec<R>> {
        match std::mem::replace(self, PipelineState::Over(Vec::new())) {
            PipelineState::Running(thread) => thread.join(),
            PipelineState::Over(collected) => Ok(collected),
        }
    }
}

/// The reason why an item was not posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemPostError {
    /// The pipeline was ended, or a stage has panicked and the caller got the panic before.
    StreamEnded,
    /// This error never occurs. It exists so that a `match` on the two errors of Rust-SSP compiles.
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
        let thread = thread
            .unwrap_or_else(|error| panic!("the system cannot create a thread for `pipeline!`: {error}"));
        Self { sender, has_ended: false, state: Mutex::new(PipelineState::Running(thread)), plan }
    }

    /// Hands over an item. It waits only while the pipeline has no room; see the
    /// [guarantees](crate::ssp#guarantees).
    ///
    /// # Errors
    /// [`ItemPostError::StreamEnded`] if the pipeline has ended.
    ///
    /// # Panics
    /// If a stage has panicked and the caller did not get the panic before, with that panic.
    pub fn post(&self, item: T) -> Result<(), ItemPostError> {
        if self.has_ended {
            return Err(ItemPostError::StreamEnded);
        }
        self.sender.send(item).map_err(|_| {
            self.join();
            ItemPostError::StreamEnded
        })
    }

    /// Announces that no more items will come, and returns at once.
    pub fn end(&mut self) {
        self.has_ended = true;
        self.sender.end();
    }

    /// Announces that no more items will come, and waits until all items are processed.
    ///
    /// # Panics
    /// If a stage has panicked and the caller did not get the panic before, with that panic.
    pub fn end_and_wait(&mut self) {
        self.assert_not_forked();
        self.end();
        self.join();
    }

    /// Like [`end_and_wait`](Self::end_and_wait), and returns the results of the last stage.
    ///
    /// They are in the order of the posts, except after a `sequential!` or `collect!()`, where they are in
    /// the order in which items finished. The list is empty if a stage has panicked and the caller got the
    /// panic before.
    ///
    /// # Panics
    /// If a stage has panicked and the caller did not get the panic before, with that panic.
    pub fn collect(mut self) -> Vec<R> {
        self.end_and_wait();
        match &mut *self.state() {
            PipelineState::Over(collected) => std::mem::take(collected),
            PipelineState::Running(_) => unreachable!("`end_and_wait` leaves the pipeline ended"),
        }
    }

    /// The plan of the pipeline: its stages, and the settings of each.
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

    fn state(&self) -> MutexGuard<'_, PipelineState<R>> {
        lock(&self.state)
    }

    /// Makes sure that the threads are in this process.
    fn assert_not_forked(&self) {
        assert!(
            !self.sender.is_forked(),
            "this process was forked after the pipeline was started, and has none of its threads: start another pipeline in this process"
        );
    }

    /// Waits until every thread has ended. If several threads call it, one of them gets the panic.
    fn join(&self) {
        let mut state = self.state();
        match state.end() {
            Ok(collected) => *state = PipelineState::Over(collected),
            Err(payload) => {
                drop(state);
                resume_unwind(payload);
            }
        }
    }
}

/// Ends the pipeline and waits until every item is processed.
///
/// # Panics
/// If a stage has panicked and the caller did not get the panic before, with that panic. It does not panic
/// while the dropping thread is panicking.
impl<T, R> Drop for Pipeline<T, R> {
    fn drop(&mut self) {
        if self.sender.is_forked() {
            // The handle names a thread that is not here.
            let state = std::mem::replace(&mut self.state, Mutex::new(PipelineState::Over(Vec::new())));
            return std::mem::forget(state);
        }
        self.sender.end();
        if std::thread::panicking() {
            discard(self.state().end());
            return;
        }
        self.join();
    }
}

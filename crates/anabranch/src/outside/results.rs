//! The results of a detached run, between its sink and its reader.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc as StdArc;
use std::sync::mpsc::TryRecvError;
use std::task::Waker;
#[cfg(feature = "futures")]
use std::task::{Context, Poll};

use anabranch_record::EventCount;
use anabranch_record::backoff::{Backoff, Polling};
use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{Arc, AtomicBool, Condvar, Mutex, MutexGuard, Ordering, lock};

use crate::control::{CancelToken, Pool};
use crate::engine::ResultQueue;

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_NOTICE_OF_A_TAKEN_RESULT: Mutant = Mutant("no_notice_of_a_taken_result");

/// The results that wait for the reader of a detached run.
///
/// There is room until `capacity` results wait, and then again once half of them were taken: so the run is not woken for each
/// of them. If the capacity is 0, there is room only while the reader waits.
pub(crate) struct Results<T> {
    state: Mutex<State<T>>,
    /// Notified of a result, and of the end.
    filled: Condvar,
    /// Written under the lock.
    has_room: AtomicBool,
    /// Whether a result waits, or the run has ended. Written under the lock.
    is_filled: AtomicBool,
    capacity: usize,
    /// The event of the run.
    event: Arc<EventCount>,
    /// How long the reader polls.
    backoff: Backoff,
}

struct State<T> {
    items: VecDeque<T>,
    /// Wakes an asynchronous reader.
    waker: Option<Waker>,
    /// How many threads wait on `filled`.
    sleepers: usize,
    /// The panic of the run, until the reader has got it.
    panic: Option<Box<dyn Any + Send>>,
    has_ended: bool,
    is_gone: bool,
}

impl<T> Results<T> {
    /// Results of which up to `capacity` wait, from a run with this event.
    pub(crate) fn new(capacity: usize, event: &Arc<EventCount>) -> StdArc<Self> {
        let state = State {
            items: VecDeque::new(),
            waker: None,
            sleepers: 0,
            panic: None,
            has_ended: false,
            is_gone: false,
        };
        StdArc::new(Self {
            state: Mutex::new(state),
            filled: Condvar::new(),
            has_room: AtomicBool::new(capacity > 0),
            is_filled: AtomicBool::new(false),
            capacity,
            event: Arc::clone(event),
            backoff: Backoff::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        lock(&self.state)
    }

    /// Wakes the reader, and unlocks the state.
    fn wake(&self, mut state: MutexGuard<'_, State<T>>) {
        self.is_filled.store(true, Ordering::Relaxed);
        let waker = state.waker.take();
        if state.sleepers > 0 {
            self.filled.notify_all();
        }
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Adds a result. Never waits. Returns `false` if the reader was dropped.
    pub(crate) fn push(&self, item: T) -> bool {
        let mut state = self.lock();
        if state.is_gone {
            drop(state);
            return false; // and only now the result is dropped
        }
        state.items.push_back(item);
        if state.items.len() >= self.capacity {
            self.has_room.store(false, Ordering::Relaxed);
        }
        self.wake(state);
        true
    }

    /// Notes the panic of the run.
    pub(crate) fn fail(&self, payload: Box<dyn Any + Send>) {
        self.lock().panic = Some(payload);
    }

    fn end(&self) {
        let mut state = self.lock();
        state.has_ended = true;
        self.wake(state);
    }

    /// Tells the run that there is room, and unlocks the state.
    fn make_room(&self, state: MutexGuard<'_, State<T>>) {
        let was_full = !self.has_room.swap(true, Ordering::Release);
        drop(state);
        if was_full && !NO_NOTICE_OF_A_TAKEN_RESULT.is_on() {
            self.event.notify();
        }
    }

    /// Takes a result, if one waits. Otherwise it returns the locked state.
    fn take<'s>(&self, mut state: MutexGuard<'s, State<T>>) -> Result<T, MutexGuard<'s, State<T>>> {
        let Some(item) = state.items.pop_front() else { return Err(state) };
        self.is_filled.store(!state.items.is_empty() || state.has_ended, Ordering::Relaxed);
        let is_full = !self.has_room.load(Ordering::Relaxed);
        if is_full && self.capacity > 0 && state.items.len() <= self.capacity / 2 {
            self.make_room(state);
        }
        Ok(item)
    }

    /// Waits for the next result. `None` if the run has ended.
    fn next(&self) -> Option<T> {
        let mut state = self.lock();
        let mut lingers = true;
        loop {
            state = match self.take(state) {
                Ok(item) => return Some(item),
                Err(state) => state,
            };
            if state.has_ended {
                return None;
            }
            if self.capacity == 0 && !self.has_room.load(Ordering::Relaxed) {
                self.make_room(state);
                state = self.lock();
                continue;
            }
            if !lingers {
                state = self.sleep(state);
                continue;
            }
            // Waking this thread would take the run longer than the next result may take.
            lingers = false;
            drop(state);
            let is_filled = || self.is_filled.load(Ordering::Relaxed).then_some(());
            let _ = self.backoff.poll(Polling::Outside, is_filled);
            state = self.lock();
        }
    }

    /// Sleeps until a result or the end comes.
    fn sleep<'s>(&self, mut state: MutexGuard<'s, State<T>>) -> MutexGuard<'s, State<T>> {
        state.sleepers += 1;
        state = self.filled.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        state.sleepers -= 1;
        state
    }

    fn try_next(&self) -> Result<T, TryRecvError> {
        self.take(self.lock()).map_err(|state| {
            let has_ended = state.has_ended;
            if self.capacity == 0 && !has_ended {
                self.make_room(state);
            }
            if has_ended { TryRecvError::Disconnected } else { TryRecvError::Empty }
        })
    }

    #[cfg(feature = "futures")]
    fn poll(&self, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut state = match self.take(self.lock()) {
            Ok(item) => return Poll::Ready(Some(item)),
            Err(state) => state,
        };
        if state.has_ended {
            return Poll::Ready(None);
        }
        let old = state.waker.replace(context.waker().clone());
        if self.capacity == 0 {
            self.make_room(state);
        } else {
            drop(state);
        }
        drop(old);
        Poll::Pending
    }

    /// The reader has gone. The results that wait are dropped.
    fn close(&self) {
        let mut state = self.lock();
        state.is_gone = true;
        let left = std::mem::take(&mut state.items);
        let waker = state.waker.take();
        drop(state);
        drop((left, waker));
    }

    /// Waits until the run has ended.
    fn wait_for_end(&self) {
        let mut state = self.lock();
        while !state.has_ended {
            state = self.sleep(state);
        }
    }
}

impl<T: Send> ResultQueue for Results<T> {
    fn has_room(&self) -> bool {
        self.has_room.load(Ordering::Acquire)
    }
}

/// Tells the reader when it is dropped that no more results will come.
pub(crate) struct Ending<T>(pub(crate) StdArc<Results<T>>);

impl<T> Drop for Ending<T> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The reader of a detached run. Dropping it stops the run and does not wait.
pub(crate) struct Reader<T> {
    pub(crate) results: StdArc<Results<T>>,
    pub(crate) token: CancelToken,
    /// Dropped last: where the reader waits for the end, its thread and not one of the pool ends the pool.
    pub(crate) pool: StdArc<Pool>,
}

impl<T> fmt::Debug for Reader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("token", &self.token).field("pool", &self.pool).finish_non_exhaustive()
    }
}

impl<T> Reader<T> {
    /// Waits for the next result. Resumes the panic of the run behind the last one.
    pub(crate) fn next(&self) -> Option<T> {
        let item = self.results.next();
        if item.is_none() {
            self.resume();
        }
        item
    }

    /// Returns the next result if it is there.
    pub(crate) fn try_next(&self) -> Result<T, TryRecvError> {
        self.results.try_next()
    }

    #[cfg(feature = "futures")]
    pub(crate) fn poll(&self, context: &mut Context<'_>) -> Poll<Option<T>> {
        let polled = self.results.poll(context);
        if let Poll::Ready(None) = polled {
            self.resume();
        }
        polled
    }

    fn resume(&self) {
        let panic = self.results.lock().panic.take();
        if let Some(payload) = panic {
            std::panic::resume_unwind(payload);
        }
    }

    /// Stops the run, and waits until its data was dropped.
    pub(crate) fn stop(&self) {
        self.results.close();
        self.token.cancel();
        self.results.wait_for_end();
    }
}

impl<T> Drop for Reader<T> {
    fn drop(&mut self) {
        self.results.close();
        self.token.cancel();
    }
}

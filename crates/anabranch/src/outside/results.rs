//! The results of a stream, between its sink and a reader that is outside of its run.

use std::any::Any;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc as StdArc;
use std::sync::mpsc::TryRecvError;
use std::task::Waker;
#[cfg(feature = "futures")]
use std::task::{Context, Poll};

use anabranch_record::EventCount;
use anabranch_record::backoff::{Backoff, Polling};
use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{Arc, AtomicBool, Condvar, Mutex, MutexGuard, Ordering, lock};

use crate::engine::{Halt, Kept, KeptPanic, ResultQueue};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_NOTICE_OF_A_TAKEN_RESULT: Mutant = Mutant("no_notice_of_a_taken_result");

/// The results that wait for the reader.
///
/// In a detached run, the sink is poked only while there is room. Otherwise it waits for room. There is room until
/// `capacity` results wait, and then again once half of them were taken: so the run is not woken for each of them. If
/// the capacity is 0, there is room only while the reader waits.
pub(crate) struct Results<T> {
    state: Mutex<Waiting<T>>,
    /// Notified of a result, and of the end.
    filled: Condvar,
    /// Written under the lock.
    has_room: AtomicBool,
    /// Whether a result waits, or the run has ended. Written under the lock.
    is_filled: AtomicBool,
    capacity: usize,
    /// Notified of room. The event of the run if this is detached.
    event: Arc<EventCount>,
    /// How long the reader polls.
    reading: Backoff,
    /// How long the sink polls.
    sending: Backoff,
}

struct Waiting<T> {
    items: VecDeque<T>,
    /// The result after all items: the error of the run.
    last: Option<Kept<T>>,
    /// Wakes an asynchronous reader.
    waker: Option<Waker>,
    /// How many threads wait on `filled`.
    sleepers: usize,
    /// The panic of the run, until the reader has got it.
    panic: Option<KeptPanic>,
    has_ended: bool,
    is_gone: bool,
}

impl<T> Results<T> {
    /// Results of which up to `capacity` wait. `event` is notified of room.
    pub(crate) fn new(capacity: usize, event: &Arc<EventCount>) -> StdArc<Self> {
        let state = Waiting {
            items: VecDeque::new(),
            last: None,
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
            reading: Backoff::new(),
            sending: Backoff::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<T>> {
        lock(&self.state)
    }

    /// Wakes the reader, and unlocks the state.
    fn wake(&self, mut state: MutexGuard<'_, Waiting<T>>) {
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

    /// Waits for room, and adds a result. Breaks if the reader was dropped.
    pub(crate) fn send<E>(&self, item: T) -> ControlFlow<Halt<E>> {
        let has_room = || self.has_room.load(Ordering::Acquire).then_some(());
        if has_room().is_none() {
            self.event.wait_until(&self.sending, Polling::Outside, has_room);
        }
        if self.push(item) { ControlFlow::Continue(()) } else { ControlFlow::Break(Halt::Break) }
    }

    fn end(&self) {
        let mut state = self.lock();
        state.has_ended = true;
        self.wake(state);
    }

    /// Tells the run that there is room, and unlocks the state.
    fn make_room(&self, state: MutexGuard<'_, Waiting<T>>) {
        let was_full = !self.has_room.swap(true, Ordering::Release);
        drop(state);
        if was_full && !NO_NOTICE_OF_A_TAKEN_RESULT.is_on() {
            self.event.notify();
        }
    }

    /// Takes a result, if one waits. Otherwise it returns the locked state.
    fn take<'s>(&self, mut state: MutexGuard<'s, Waiting<T>>) -> Result<T, MutexGuard<'s, Waiting<T>>> {
        let Some(item) = state.items.pop_front() else {
            return state.last.take().map(Kept::into_inner).ok_or(state);
        };
        self.is_filled.store(!state.items.is_empty() || state.has_ended, Ordering::Relaxed);
        let is_full = !self.has_room.load(Ordering::Relaxed);
        if is_full && self.capacity > 0 && state.items.len() <= self.capacity / 2 {
            self.make_room(state);
        }
        Ok(item)
    }

    /// Waits for the next result. `None` if the run has ended.
    pub(crate) fn next(&self) -> Option<T> {
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
            let _ = self.reading.poll(Polling::Outside, is_filled);
            state = self.lock();
        }
    }

    /// Sleeps until a result or the end comes.
    fn sleep<'s>(&self, mut state: MutexGuard<'s, Waiting<T>>) -> MutexGuard<'s, Waiting<T>> {
        state.sleepers += 1;
        state = self.filled.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        state.sleepers -= 1;
        state
    }

    pub(crate) fn try_next(&self) -> Result<T, TryRecvError> {
        self.take(self.lock()).map_err(|state| {
            let has_ended = state.has_ended;
            if self.capacity == 0 && !has_ended {
                self.make_room(state);
            }
            if has_ended { TryRecvError::Disconnected } else { TryRecvError::Empty }
        })
    }

    #[cfg(feature = "futures")]
    pub(crate) fn poll(&self, context: &mut Context<'_>) -> Poll<Option<T>> {
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
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.is_gone = true;
        let left = (std::mem::take(&mut state.items), state.last.take(), state.waker.take());
        // A sink that waits for room learns that nobody takes its result.
        self.make_room(state);
        drop(left);
    }

    /// The panic of the run, for the first caller.
    pub(crate) fn panic(&self) -> Option<Box<dyn Any + Send>> {
        self.lock().panic.take().map(KeptPanic::into_inner)
    }

    /// Waits until the run has ended.
    pub(crate) fn wait_for_end(&self) {
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

impl<T> Ending<T> {
    /// Ends the results as the run has ended: with its error as the last result, or with its panic.
    pub(crate) fn end<E>(self, ended: std::thread::Result<Result<(), E>>, wrap: impl Fn(E) -> T) {
        match ended {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                // If the reader was dropped, nobody takes it.
                let last = Kept::new(wrap(error));
                self.0.lock().last = Some(last);
            }
            Err(payload) => self.0.lock().panic = Some(Kept::new(payload)),
        }
    }
}

impl<T> Drop for Ending<T> {
    fn drop(&mut self) {
        self.0.end();
    }
}

//! The threads of readers and writers, in a process that may fork, beside signals that Python handles.

use std::any::Any;
use std::cell::RefCell;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use abz::{Pool, Tools};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

/// The threads that all readers and writers of this process share. A child process that was forked has no threads but one,
/// so it gets a pool of its own.
pub(crate) fn pool(_: Python<'_>) -> Arc<Pool> {
    static POOL: Mutex<Option<(u32, Arc<Pool>)>> = Mutex::new(None);
    // No other thread has the lock at a fork: it is held by attached threads only, and `os.fork` is called by one.
    let mut shared = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let here = process::id();
    match &*shared {
        Some((process, pool)) if *process == here => Arc::clone(pool),
        _ => {
            let workers = thread::available_parallelism().map_or(1, usize::from);
            let pool = Arc::new(Pool::new(workers));
            // The threads of the other pool are not here, so nothing can wait for them.
            mem::forget(shared.replace((here, Arc::clone(&pool))));
            pool
        }
    }
}

/// Lends the encoders that this thread keeps. A child process that was forked has encoders of its own: threads that it does not have
/// may have locked the others.
pub(crate) fn with_tools<T>(f: impl FnOnce(&Tools) -> T) -> T {
    thread_local!(static TOOLS: RefCell<Option<(u32, Tools)>> = const { RefCell::new(None) });
    TOOLS.with_borrow_mut(|kept| {
        let here = process::id();
        if kept.as_ref().is_none_or(|(process, _)| *process != here) {
            mem::forget(kept.replace((here, Tools::new())));
        }
        f(&kept.as_ref().expect("it was just made").1)
    })
}

/// Work on another thread.
pub(crate) struct Task<T>(Receiver<Result<T, Box<dyn Any + Send>>>);

impl<T: Send + 'static> Task<T> {
    /// Starts the work, or does it here if the system has no thread.
    pub(crate) fn start(work: impl FnOnce() -> T + Send + 'static) -> Self {
        let (sender, receiver) = channel();
        let run = move || {
            let result = catch_unwind(AssertUnwindSafe(work));
            if let Err(unsent) = sender.send(result) {
                // A signal has ended the wait. The result may have objects of Python.
                Python::try_attach(|_| drop(unsent));
            }
        };
        // The work goes to the thread once that is there.
        let (hand, taken) = channel::<Box<dyn FnOnce() + Send>>();
        let take = move || taken.recv().map_or((), |run| run());
        match thread::Builder::new().name("abz-task".into()).spawn(take) {
            Ok(_) => hand.send(Box::new(run)).expect("the thread waits for its work"),
            Err(_) => run(),
        }
        Task(receiver)
    }

    /// Waits for the result. Handlers of signals run meanwhile; an exception of one ends the wait, but not the work.
    pub(crate) fn wait(&mut self, py: Python<'_>) -> PyResult<T> {
        const PATIENCE: Duration = Duration::from_millis(50);
        loop {
            let receiver = &mut self.0;
            match py.detach(move || receiver.recv_timeout(PATIENCE)) {
                Ok(Ok(result)) => return Ok(result),
                Ok(Err(panic)) => resume_unwind(panic),
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => unreachable!("the result is sent, or the panic"),
            }
        }
    }
}

/// The state of a file, which one call uses at a time. Calls of other threads wait.
pub(crate) struct Exclusive<T> {
    state: Mutex<T>,
    /// The thread whose call uses the state.
    user: Mutex<Option<thread::ThreadId>>,
    /// The process that has the threads of this file.
    process: u32,
}

impl<T: Send> Exclusive<T> {
    pub(crate) fn new(state: T) -> Self {
        Exclusive { state: Mutex::new(state), user: Mutex::new(None), process: process::id() }
    }

    /// Whether this is a child of the process in which the file was opened.
    pub(crate) fn is_forked(&self) -> bool {
        self.process != process::id()
    }

    /// Calls `f` with the state.
    ///
    /// # Errors
    ///
    /// If this is a forked child, or `f` is called from within `f`, as by a file object or a signal handler.
    pub(crate) fn with<R>(&self, py: Python<'_>, f: impl FnOnce(&mut T) -> PyResult<R>) -> PyResult<R> {
        if self.is_forked() {
            let message = "this file was opened before the process forked: open it in the child process";
            return Err(PyRuntimeError::new_err(message));
        }
        let here = thread::current().id();
        if *lock(&self.user) == Some(here) {
            return Err(PyRuntimeError::new_err("this file is used within another call of it"));
        }
        let mut state = self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        *lock(&self.user) = Some(here);
        let _user = OnDrop(|| *lock(&self.user) = None);
        f(&mut state)
    }
}

impl<T> Exclusive<T> {
    /// Takes the state for the last time, which is only lent to the owner of this.
    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.state.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Locks what is locked for moments only.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

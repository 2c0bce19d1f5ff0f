//! A value that stays on the thread that created it, inside something that may move between threads.

use std::cell::Cell as StdCell;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64 as StdAtomicU64, Ordering as StdOrdering};

/// The number that the next thread gets. 0 means that a thread has no number yet.
static NEXT_THREAD: StdAtomicU64 = StdAtomicU64::new(1);

std::thread_local! {
    static THREAD: StdCell<u64> = const { StdCell::new(0) };
}

/// The number of the calling thread. No other thread of this process ever has it.
#[inline]
fn this_thread() -> u64 {
    match THREAD.get() {
        0 => number_this_thread(),
        number => number,
    }
}

#[cold]
fn number_this_thread() -> u64 {
    let number = NEXT_THREAD.fetch_add(1, StdOrdering::Relaxed);
    THREAD.set(number);
    number
}

/// A value that need not be `Send`, in a box that is `Send`.
///
/// Accessing the value on another thread than the one that created it panics. Dropping the box on another
/// thread leaks the value.
///
/// An executor that runs everything on one thread keeps the states of parallel stages in such boxes, because
/// the same types also describe lines whose parts move between threads.
///
/// ```
/// use anabranch_record::ThreadBound;
/// use std::rc::Rc;
///
/// let mut count = ThreadBound::new(Rc::new(1));
/// assert_eq!(**count.get_mut(), 1);
/// let elsewhere = std::thread::spawn(move || { count.get_mut(); });
/// assert!(elsewhere.join().is_err());
/// ```
pub struct ThreadBound<T> {
    thread: u64,
    value: ManuallyDrop<T>,
}

// SAFETY: only `get_mut` and `drop` access `value`. Both compare the number of the calling thread with that
// of the thread that created the value. Thread numbers are never reused, so the value is used and dropped on
// its own thread, or not at all.
unsafe impl<T> Send for ThreadBound<T> {}

impl<T> fmt::Debug for ThreadBound<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadBound").finish_non_exhaustive()
    }
}

impl<T> ThreadBound<T> {
    /// Binds a value to the calling thread.
    pub fn new(value: T) -> Self {
        Self { thread: this_thread(), value: ManuallyDrop::new(value) }
    }

    /// The value.
    ///
    /// # Panics
    /// If the calling thread is not the one that created the value.
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        assert!(
            self.thread == this_thread(),
            "the value belongs to another thread, and may only be used there"
        );
        &mut self.value
    }
}

impl<T> Drop for ThreadBound<T> {
    fn drop(&mut self) {
        if self.thread == this_thread() {
            // SAFETY: the value is dropped once, here, and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}

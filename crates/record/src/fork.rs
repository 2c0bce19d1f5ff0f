//! Forks: a child process has a copy of the memory of its parent, and one of its threads.
//!
//! Code that waits for another thread waits for ever in a child, because that thread is in the parent only. So code that starts
//! threads notes its [`Birth`], and looks at it before it waits.
//!
//! ```
//! use anabranch_record::fork::Birth;
//!
//! let birth = Birth::here();
//! assert!(!birth.is_forked());
//! ```
//!
//! The C library counts the forks by a function that `pthread_atfork` (POSIX.1-2024, System Interfaces) registers. A look is one load.
//! A child that was created by another call than `fork` counts as the same process.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// How many forks lie between this process and the one that has called [`Birth::here`] first.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// The process in which something was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Birth(u32);

impl Birth {
    /// The process that calls this.
    pub fn here() -> Self {
        count::start();
        Self(FORKS.load(Ordering::Relaxed))
    }

    /// Whether this process was forked since then.
    #[inline]
    pub fn is_forked(self) -> bool {
        FORKS.load(Ordering::Relaxed) != self.0
    }

    /// Ends a forked process, with a message on standard error. It is called before a thread waits for others of its run, in places
    /// that a panic could not leave without waiting for them.
    #[inline]
    pub fn end_if_forked(self) {
        if self.is_forked() {
            end();
        }
    }

    /// Calls [`end_if_forked`](Self::end_if_forked) when it is dropped, also by a panic. It is held where threads are joined.
    pub fn guard(self) -> Guard {
        Guard(self)
    }
}

/// Ends a forked process when it is dropped: see [`Birth::guard`].
#[derive(Debug)]
pub struct Guard(Birth);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.end_if_forked();
    }
}

#[cold]
fn end() -> ! {
    let message = "anabranch: a function that a run calls has forked this process. The other threads of the run are in the parent \
                   only, so the run cannot go on here. Let the child end within that function, or run another program there.\n";
    // Not by `eprintln!`: another thread may have had its lock at the fork.
    count::write_error(message);
    std::process::abort()
}

/// How long a forked process waits for a lock that another thread had at the fork. No lock of this workspace is held for so long.
const LOCK_LIMIT: Duration = Duration::from_secs(5);

/// Locks `mutex` and ignores poisoning, also in a forked process, where the thread that has locked it may be missing.
///
/// # Panics
/// In a forked process, if the mutex stays locked for 5 s.
#[inline]
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    if FORKS.load(Ordering::Relaxed) == 0 {
        return mutex.lock().unwrap_or_else(PoisonError::into_inner);
    }
    lock_in_child(mutex)
}

#[cold]
fn lock_in_child<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    let began = Instant::now();
    loop {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {}
        }
        assert!(
            began.elapsed() < LOCK_LIMIT,
            "this process was forked while another thread used the same object, which cannot be used here: create another one"
        );
        std::thread::yield_now();
    }
}

#[cfg(all(unix, not(any(loom, shuttle, miri))))]
mod count {
    use std::ffi::{c_int, c_void};
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::FORKS;

    type Handler = Option<extern "C" fn()>;

    // SAFETY: this is the C library's function, which `std` links. Its C declaration is `int pthread_atfork(void (*prepare)(void),
    // void (*parent)(void), void (*child)(void))`, and a null pointer stands for no function. It keeps the pointers for the life
    // of the process, or until the library that contains the functions is unloaded.
    unsafe extern "C" {
        fn pthread_atfork(prepare: Handler, parent: Handler, child: Handler) -> c_int;
    }

    // SAFETY: this is the C library's function too. Its C declaration is `ssize_t write(int, const void *, size_t)`.
    unsafe extern "C" {
        fn write(file: c_int, bytes: *const c_void, size: usize) -> isize;
    }

    /// Writes to standard error without a lock. Text that cannot be written is lost.
    pub(super) fn write_error(message: &str) {
        // SAFETY: the call reads the bytes of the message and nothing else.
        unsafe { write(2, message.as_ptr().cast(), message.len()) };
    }

    extern "C" fn note() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }

    /// Starts to count forks.
    #[inline]
    pub(super) fn start() {
        // No lock: a process that was forked while another thread starts would wait for that thread for ever. Two threads may
        // both start, so that a fork is counted twice.
        static HAS_STARTED: AtomicBool = AtomicBool::new(false);
        if !HAS_STARTED.load(Ordering::Acquire) {
            // SAFETY: `note` only adds to an atomic number, which a child may do between `fork` and `exec`. If the system has no
            // memory for the entry, forks are not seen.
            unsafe { pthread_atfork(None, None, Some(note)) };
            HAS_STARTED.store(true, Ordering::Release);
        }
    }
}

#[cfg(not(all(unix, not(any(loom, shuttle, miri)))))]
mod count {
    /// There are no forks.
    pub(super) fn start() {}

    /// It is not called.
    pub(super) fn write_error(_: &str) {}
}

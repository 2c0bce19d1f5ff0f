//! One name for each primitive that the crate synchronises with, so that the same source runs on the
//! real machine, under loom (`--cfg loom`: memory order) and under shuttle (`--cfg shuttle`: whole runs).
//!
//! `anabranch` builds its executors on the same names; nothing else of this module is public API.

#[cfg(loom)]
pub use loom::{
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence},
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread, thread_local,
};

#[cfg(shuttle)]
pub use shuttle::{
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence},
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread, thread_local,
};

#[cfg(not(any(loom, shuttle)))]
pub use std::{
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence},
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread, thread_local,
};

/// Tells the processor, or the model checker, that this thread is polling.
#[inline]
pub fn spin_hint() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(shuttle)]
    shuttle::thread::yield_now();
    #[cfg(not(any(loom, shuttle)))]
    std::hint::spin_loop();
}

/// A cell whose accesses loom can check; elsewhere it is `std::cell::UnsafeCell`.
#[derive(Debug)]
pub struct RawCell<T> {
    #[cfg(loom)]
    inner: loom::cell::UnsafeCell<T>,
    #[cfg(not(loom))]
    inner: std::cell::UnsafeCell<T>,
}

impl<T> RawCell<T> {
    /// A cell that holds `value`.
    pub fn new(value: T) -> Self {
        #[cfg(loom)]
        let inner = loom::cell::UnsafeCell::new(value);
        #[cfg(not(loom))]
        let inner = std::cell::UnsafeCell::new(value);
        Self { inner }
    }

    /// The value, given up by the cell's owner.
    pub fn into_inner(self) -> T {
        self.inner.into_inner()
    }

    /// Calls `f` with a pointer for reading. The pointer may be used inside `f` only.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        #[cfg(loom)]
        return self.inner.with(f);
        #[cfg(not(loom))]
        f(self.inner.get())
    }

    /// Calls `f` with a pointer for writing. The pointer may be used inside `f` only.
    #[inline]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        #[cfg(loom)]
        return self.inner.with_mut(f);
        #[cfg(not(loom))]
        f(self.inner.get())
    }
}

/// Locks `mutex`; a panic of another holder is no reason to fail, since no holder leaves a broken state.
#[inline]
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// A value on cache lines of its own, so that writers of its neighbours do not slow its readers.
///
/// 128 bytes: two lines of 64, since processors fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Padded<T>(pub T);

impl<T> std::ops::Deref for Padded<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

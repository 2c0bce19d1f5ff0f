//! The synchronisation primitives of the crate, under one name for each.
//!
//! The same source compiles against the standard library, against loom (`--cfg loom`, which checks memory
//! orderings) and against shuttle (`--cfg shuttle`, which checks schedules of whole runs).
//!
//! The crate `anabranch` uses these names too. They are not part of the public API otherwise.

use std::mem::MaybeUninit;

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

/// The stack of a thread that [`named_thread`] starts, in bytes. An item of 128 KiB is copied up to 24 times on its way through a
/// stage, and in a debug build up to 80 times. Each copy is on the stack. The system takes memory only for what was used.
const STACK_BYTES: usize = if cfg!(debug_assertions) { 16 << 20 } else { 4 << 20 };

/// Prepares a thread that runs code of the user. It has a stack of 4 MiB, or 16 MiB in a debug build. The environment
/// variable `RUST_MIN_STACK` sets another size. A zero in `name`, which the system does not take, becomes a space.
pub fn named_thread(name: &str) -> std::thread::Builder {
    let builder = std::thread::Builder::new().name(name.replace('\0', " "));
    let is_set = std::env::var_os("RUST_MIN_STACK").is_some();
    if is_set { builder } else { builder.stack_size(STACK_BYTES) }
}

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

/// A cell whose accesses loom checks. Without loom it is a `std::cell::UnsafeCell`.
#[derive(Debug)]
pub struct RawCell<T> {
    #[cfg(loom)]
    inner: loom::cell::UnsafeCell<T>,
    #[cfg(not(loom))]
    inner: std::cell::UnsafeCell<T>,
}

impl<T> RawCell<T> {
    /// Creates a cell that holds `value`.
    pub fn new(value: T) -> Self {
        #[cfg(loom)]
        let inner = loom::cell::UnsafeCell::new(value);
        #[cfg(not(loom))]
        let inner = std::cell::UnsafeCell::new(value);
        Self { inner }
    }

    /// Consumes the cell and returns its value.
    pub fn into_inner(self) -> T {
        self.inner.into_inner()
    }

    /// Calls `f` with a pointer to the value, for reading. The pointer must not be used after `f` has
    /// returned.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        #[cfg(loom)]
        return self.inner.with(f);
        #[cfg(not(loom))]
        f(self.inner.get())
    }

    /// Calls `f` with a pointer to the value, for writing. The pointer must not be used after `f` has
    /// returned.
    #[inline]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        #[cfg(loom)]
        return self.inner.with_mut(f);
        #[cfg(not(loom))]
        f(self.inner.get())
    }
}

/// Locks `mutex` and ignores poisoning: no holder of a lock in this workspace leaves a broken state behind. A forked process does
/// not wait for ever: see [`fork::lock`](crate::fork::lock).
#[inline]
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    #[cfg(not(any(loom, shuttle)))]
    return crate::fork::lock(mutex);
    #[cfg(any(loom, shuttle))]
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// A value that has its cache lines to itself, so that writes to its neighbours do not slow down its readers.
///
/// Unused bytes before and after it keep everything else at least two cache lines of 64 bytes away, because
/// many processors fetch lines in pairs. It needs no alignment: allocators take several times as long for
/// memory that is aligned to 128 bytes, and a short run consists mostly of allocations.
#[repr(C)]
pub struct Padded<T> {
    before: MaybeUninit<[u64; GAP_WORDS]>,
    value: T,
    after: MaybeUninit<[u64; GAP_WORDS]>,
}

/// The unused words on each side: with the first or the last word of the value they fill 128 bytes.
const GAP_WORDS: usize = 15;

impl<T> Padded<T> {
    /// Puts `value` on cache lines of its own.
    #[inline]
    pub const fn new(value: T) -> Self {
        Self { before: MaybeUninit::uninit(), value, after: MaybeUninit::uninit() }
    }

    /// Takes the value out.
    #[inline]
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T: Default> Default for Padded<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Padded<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.value.fmt(f)
    }
}

impl<T> std::ops::Deref for Padded<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> std::ops::DerefMut for Padded<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

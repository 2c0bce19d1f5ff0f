//! Buffers that are used again.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Gives out buffers and takes them back when they are dropped, wherever that is.
///
/// Allocating a large buffer and touching it for the first time costs more than passing it (the allocator
/// study of FastFlow, section IV). A source takes buffers, the sink drops them, and at most `keep` idle ones are kept: with
/// that many as are out at once, no more are ever made.
///
/// ```
/// use anabranch::{Recycler, Stream};
///
/// let buffers = Recycler::new(16, || Vec::with_capacity(1 << 16));
/// let total: usize = Stream::from_iter(0..1_000)
///     .map(|n| {
///         let mut buffer = buffers.take(); // as its last user left it
///         buffer.clear();
///         buffer.resize(n, 0u8);
///         buffer
///     })
///     .fold(0, |total, buffer| total + buffer.len());
/// assert_eq!(total, 499_500);
/// ```
pub struct Recycler<B> {
    shared: Arc<Shared<B>>,
}

struct Shared<B> {
    make: Box<dyn Fn() -> B + Send + Sync>,
    idle: Mutex<Vec<B>>,
    keep: usize,
}

impl<B> Shared<B> {
    fn idle(&self) -> MutexGuard<'_, Vec<B>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B> Clone for Recycler<B> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<B> fmt::Debug for Recycler<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let idle = self.shared.idle().len();
        f.debug_struct("Recycler").field("idle", &idle).field("keep", &self.shared.keep).finish()
    }
}

impl<B> Recycler<B> {
    /// A recycler that makes buffers with `make` and keeps at most `keep` idle ones: as many as the stream's
    /// window has, for steady work.
    pub fn new(keep: usize, make: impl Fn() -> B + Send + Sync + 'static) -> Self {
        let shared = Shared { make: Box::new(make), idle: Mutex::new(Vec::new()), keep };
        Self { shared: Arc::new(shared) }
    }

    /// A buffer that was given back, as its last user left it, or a new one.
    pub fn take(&self) -> Recycled<B> {
        let idle = self.shared.idle().pop();
        let buffer = idle.unwrap_or_else(|| (self.shared.make)());
        Recycled { buffer: Some(buffer), home: Arc::clone(&self.shared) }
    }

    /// How many buffers are idle.
    pub fn idle(&self) -> usize {
        self.shared.idle().len()
    }
}

/// A buffer that goes back to its [`Recycler`] when it is dropped.
pub struct Recycled<B> {
    /// There until it is dropped or detached.
    buffer: Option<B>,
    home: Arc<Shared<B>>,
}

impl<B> Recycled<B> {
    /// Keeps the buffer: it will not go back.
    pub fn detach(mut self) -> B {
        self.buffer.take().expect("a buffer is there until it is dropped")
    }
}

impl<B> Deref for Recycled<B> {
    type Target = B;

    fn deref(&self) -> &B {
        self.buffer.as_ref().expect("a buffer is there until it is dropped")
    }
}

impl<B> DerefMut for Recycled<B> {
    fn deref_mut(&mut self) -> &mut B {
        self.buffer.as_mut().expect("a buffer is there until it is dropped")
    }
}

impl<B: fmt::Debug> fmt::Debug for Recycled<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<B> Drop for Recycled<B> {
    fn drop(&mut self) {
        let Some(buffer) = self.buffer.take() else { return };
        let mut idle = self.home.idle();
        if idle.len() < self.home.keep {
            idle.push(buffer);
        }
        // One too many is dropped after the lock is free.
    }
}

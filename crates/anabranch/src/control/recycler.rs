//! Buffers that are used more than once.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard};

use anabranch_record::fork;

/// Hands out buffers, and takes them back when they are dropped, on any thread.
///
/// Allocating a large buffer and touching it for the first time costs more than passing it on (the allocator
/// study of FastFlow, section IV). In a stream, the source takes buffers and the sink drops them. The
/// recycler keeps at most `keep` idle buffers. If no more than `keep` buffers are in use at a time, it never
/// creates more than `keep`.
///
/// ```
/// use anabranch::{Recycler, Stream};
///
/// let buffers = Recycler::new(16, || Vec::with_capacity(1 << 16));
/// let total: usize = Stream::from_iter(0..1_000)
///     .map(|n| {
///         let mut buffer = buffers.take(); // with the content that its last user left
///         buffer.clear();
///         buffer.resize(n, 0u8);
///         buffer
///     })
///     .fold(0, |total, buffer| total + buffer.len());
/// assert_eq!(total, 499_500);
/// ```
pub struct Recycler<B> {
    shared: Arc<IdleBuffers<B>>,
}

struct IdleBuffers<B> {
    make: Box<dyn Fn() -> B + Send + Sync>,
    idle: Mutex<Vec<B>>,
    keep: usize,
}

impl<B> IdleBuffers<B> {
    fn idle(&self) -> MutexGuard<'_, Vec<B>> {
        fork::lock(&self.idle)
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
    /// Creates a recycler that calls `make` for new buffers and keeps at most `keep` idle ones. For steady
    /// work, choose `keep` as large as the window of the stream.
    pub fn new(keep: usize, make: impl Fn() -> B + Send + Sync + 'static) -> Self {
        let shared = IdleBuffers { make: Box::new(make), idle: Mutex::new(Vec::new()), keep };
        Self { shared: Arc::new(shared) }
    }

    /// Takes an idle buffer, with the content that its last user left, or a new one if none is idle.
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
    /// `Some` until the buffer is dropped or detached.
    buffer: Option<B>,
    home: Arc<IdleBuffers<B>>,
}

impl<B> Recycled<B> {
    /// Takes the buffer out. It will not go back to the recycler.
    pub fn detach(mut self) -> B {
        self.buffer.take().expect("the buffer is there until it is dropped or detached")
    }
}

impl<B> Deref for Recycled<B> {
    type Target = B;

    fn deref(&self) -> &B {
        self.buffer.as_ref().expect("the buffer is there until it is dropped or detached")
    }
}

impl<B> DerefMut for Recycled<B> {
    fn deref_mut(&mut self) -> &mut B {
        self.buffer.as_mut().expect("the buffer is there until it is dropped or detached")
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
        // A buffer beyond `keep` is dropped here, after the lock was released.
    }
}

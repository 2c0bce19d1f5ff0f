//! A domain: one sequence of indices, one window, and the source that creates the indices.

use super::cell::Cell;
use super::serial::Committed;
use super::slots::Slots;
use crate::sync::{Arc, AtomicU64, Ordering, Padded};

/// The state that all ports of one stretch of a pipeline share.
#[derive(Debug)]
pub struct Domain {
    /// How many indices may be between the source and the sink. At least 1.
    window: u64,
    /// Every index below this one has left the sink. Only the sink raises it.
    released: Padded<AtomicU64>,
    /// The lowest index at which something has failed; `u64::MAX` while nothing has.
    stop: Padded<AtomicU64>,
}

impl Domain {
    /// Opens a domain with room for `window` items between its source and its sink.
    ///
    /// The capacity of its lanes is `window` rounded up to a power of two. The bound on the items is not
    /// rounded.
    ///
    /// # Panics
    /// If `window` is 0 or above 2^48.
    pub fn open<T: Send>(window: usize) -> (Source<T>, Committed<T>) {
        assert!(window > 0 && window as u64 <= 1 << 48, "a window is 1 to 2^48 items, not {window}");
        let domain = Arc::new(Self {
            window: window as u64,
            released: Padded(AtomicU64::new(0)),
            stop: Padded(AtomicU64::new(u64::MAX)),
        });
        let slots = Arc::new(Slots::new(window));
        let source = Source { domain: Arc::clone(&domain), slots: Arc::clone(&slots), next: 0, limit: 0 };
        (source, Committed::new(domain, slots))
    }

    /// How many indices may be between the source and the sink.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// How many indices the sink has given back: every index below this one.
    #[inline]
    pub fn released(&self) -> u64 {
        self.released.load(Ordering::Acquire)
    }

    /// The lowest index at which something has failed, or `u64::MAX` if nothing has. It never rises.
    #[inline]
    pub fn stop(&self) -> u64 {
        self.stop.load(Ordering::Relaxed)
    }

    /// Stops the stream at `index`: later items need not be processed. The lowest index of all calls counts.
    pub fn stop_at(&self, index: u64) {
        #[cfg(not(mutant = "stop_by_a_store"))]
        self.stop.fetch_min(index, Ordering::AcqRel);
        #[cfg(mutant = "stop_by_a_store")]
        self.stop.store(index, Ordering::Release);
    }

    /// Gives back every index below `next`.
    #[inline]
    pub(super) fn release(&self, next: u64) {
        let order = if cfg!(mutant = "relaxed_released") { Ordering::Relaxed } else { Ordering::Release };
        self.released.store(next, order);
    }
}

/// The port that creates indices. It is the writing end of a domain's first lane.
#[derive(Debug)]
pub struct Source<T> {
    domain: Arc<Domain>,
    slots: Arc<Slots<T>>,
    /// The index of the next cell. Only this port has it.
    next: u64,
    /// The value of `released + window` when it was last read. `next` never passes it.
    limit: u64,
}

impl<T> Source<T> {
    /// The domain of this source.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// How many more cells surely fit into the window. The result is 0 only if the window is full at this
    /// moment.
    #[inline]
    pub fn room(&mut self) -> u64 {
        if self.limit <= self.next {
            self.refresh();
        }
        self.limit - self.next
    }

    /// How many more cells fit into the window, computed from a fresh read of what the sink has given back.
    pub fn fresh_room(&mut self) -> u64 {
        self.refresh();
        self.limit - self.next
    }

    fn refresh(&mut self) {
        self.limit = self.domain.released() + self.domain.window;
    }

    /// Returns a view of the room, for threads that do not hold the source.
    pub fn watch(&self) -> RoomWatch<T> {
        RoomWatch { domain: Arc::clone(&self.domain), slots: Arc::clone(&self.slots) }
    }

    /// The index that the next cell will have.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Publishes `cell` at the next index.
    ///
    /// # Panics
    /// If the window has no room.
    #[inline]
    pub fn put(&mut self, cell: Cell<T>) {
        assert!(self.room() > 0, "the window is full");
        // SAFETY: this port alone creates indices, each of them once. Index `next` is below `released +
        // window`, so the index that used the same slot before is below `released` in every lane: the sink
        // has taken its cell, and a cell that reaches the sink was taken from every earlier lane. The acquire
        // load of `released` orders all of this before the write.
        unsafe { self.slots.write(self.next, cell, Ordering::Relaxed) };
        self.next += 1;
        #[cfg(not(mutant = "relaxed_commit"))]
        let order = Ordering::Release;
        #[cfg(mutant = "relaxed_commit")]
        let order = Ordering::Relaxed;
        self.slots.commit.store(self.next, order);
    }
}

/// A view of a source from outside. It tells whether the source would find room.
#[derive(Debug)]
pub struct RoomWatch<T> {
    domain: Arc<Domain>,
    slots: Arc<Slots<T>>,
}

impl<T> RoomWatch<T> {
    /// Whether something has failed in the domain. The source must not be asked for more items then.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.domain.stop() != u64::MAX
    }

    /// How many cells were put.
    #[inline]
    pub fn put(&self) -> u64 {
        self.slots.commit.load(Ordering::Relaxed)
    }

    /// Whether the window has room for one more index. The answer may be outdated: a source that goes on may
    /// have used the room already.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.slots.commit.load(Ordering::Relaxed) < self.domain.released() + self.domain.window
    }
}

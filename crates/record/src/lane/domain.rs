//! A domain: one index, one window, and the source that makes the indices.

use super::cell::Cell;
use super::serial::Committed;
use super::slots::Slots;
use crate::sync::{Arc, AtomicU64, Ordering, Padded};

/// What the ports of one stretch of a pipeline share.
#[derive(Debug)]
pub struct Domain {
    /// How many indices may be between source and sink. At least 1.
    window: u64,
    /// Indices below this have left the sink. Raised by the sink only.
    released: Padded<AtomicU64>,
    /// The least index at which something failed; `u64::MAX` while nothing has.
    stop: Padded<AtomicU64>,
}

impl Domain {
    /// Opens a domain with room for `window` indices between its source and its sink. Lanes have the next
    /// power of two as capacity; the bound is not rounded.
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

    /// How many indices may be between source and sink.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// How many indices the sink has given back: all below this one.
    #[inline]
    pub fn released(&self) -> u64 {
        self.released.load(Ordering::Acquire)
    }

    /// The least index at which something has failed, `u64::MAX` while nothing has. It only ever falls.
    #[inline]
    pub fn stop(&self) -> u64 {
        self.stop.load(Ordering::Relaxed)
    }

    /// Says that the stream stops at `index`: what comes after it need not be run any more.
    pub fn stop_at(&self, index: u64) {
        #[cfg(not(mutant = "stop_by_a_store"))]
        self.stop.fetch_min(index, Ordering::AcqRel);
        #[cfg(mutant = "stop_by_a_store")]
        self.stop.store(index, Ordering::Release);
    }

    /// Gives back all indices below `next`.
    #[inline]
    pub(super) fn release(&self, next: u64) {
        let order = if cfg!(mutant = "relaxed_released") { Ordering::Relaxed } else { Ordering::Release };
        self.released.store(next, order);
    }
}

/// The port that makes indices: the writing end of a domain's first lane.
#[derive(Debug)]
pub struct Source<T> {
    domain: Arc<Domain>,
    slots: Arc<Slots<T>>,
    /// The index of the next cell. Ours alone.
    next: u64,
    /// The `released + window` that was last read: `next` may not reach it.
    limit: u64,
}

impl<T> Source<T> {
    /// The domain that this is the source of.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// For how many more cells room is known: 0 only if the window is full just now.
    #[inline]
    pub fn room(&mut self) -> u64 {
        if self.limit <= self.next {
            self.refresh();
        }
        self.limit - self.next
    }

    /// How many more cells the window has room for, counted anew.
    pub fn fresh_room(&mut self) -> u64 {
        self.refresh();
        self.limit - self.next
    }

    fn refresh(&mut self) {
        self.limit = self.domain.released() + self.domain.window;
    }

    /// A view on the room for threads that do not hold the source.
    pub fn watch(&self) -> RoomWatch<T> {
        RoomWatch { domain: Arc::clone(&self.domain), slots: Arc::clone(&self.slots) }
    }

    /// The index that the next cell will have.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Publishes one cell at the next index.
    ///
    /// # Panics
    /// If the window has no room.
    #[inline]
    pub fn put(&mut self, cell: Cell<T>) {
        assert!(self.room() > 0, "the window is full");
        // SAFETY: indices are made here and only here, each once. Index `next` is below released + window, so
        // the index that used its slot before is below `released` in every lane: the sink has taken it, and
        // what the sink takes was taken from every earlier lane. The acquire load of `released` orders that
        // before this write.
        unsafe { self.slots.write(self.next, cell, Ordering::Relaxed) };
        self.next += 1;
        #[cfg(not(mutant = "relaxed_commit"))]
        let order = Ordering::Release;
        #[cfg(mutant = "relaxed_commit")]
        let order = Ordering::Relaxed;
        self.slots.commit.store(self.next, order);
    }
}

/// Looks from outside whether a source would find room.
#[derive(Debug)]
pub struct RoomWatch<T> {
    domain: Arc<Domain>,
    slots: Arc<Slots<T>>,
}

impl<T> RoomWatch<T> {
    /// Whether something has failed in the domain, so that its source is not to be asked again.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.domain.stop() != u64::MAX
    }

    /// How many cells have been put.
    #[inline]
    pub fn put(&self) -> u64 {
        self.slots.commit.load(Ordering::Relaxed)
    }

    /// Whether the window has room for one more index. May say yes a moment too long, while the source goes on.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.slots.commit.load(Ordering::Relaxed) < self.domain.released() + self.domain.window
    }
}

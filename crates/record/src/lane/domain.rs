//! A domain: one index, one window, the port that makes the indices and the port that takes them back.

use super::serial::{Committed, Writer};
use super::slots::Slots;
use super::turn::{Turn, new_domain};
use crate::sync::{Arc, AtomicU64, Ordering, Padded};

/// What the ports of one stretch of a pipeline share.
#[derive(Debug)]
pub struct Domain {
    /// Tells the turns of this domain from those of others.
    pub(super) id: u64,
    /// How many indices may be between source and exit. At least 1.
    window: u64,
    /// Indices below this were made, as far as was shown. Raised by [`Indices`] only.
    made: Padded<AtomicU64>,
    /// Indices below this were given back. Raised by the exit only.
    released: Padded<AtomicU64>,
    /// The least index at which something failed; `u64::MAX` while nothing has.
    stop: Padded<AtomicU64>,
}

/// The widest window that a domain may have, in indices.
pub const WINDOW_LIMIT: usize = 1 << 48;

impl Domain {
    /// Opens a domain with room for `window` indices between the port that makes them and the exit. Lanes have the next
    /// power of two as capacity; the bound is not rounded.
    ///
    /// # Panics
    /// If `window` is 0 or above [`WINDOW_LIMIT`].
    pub fn open(window: usize) -> (Indices, Exit) {
        assert!(window > 0 && window <= WINDOW_LIMIT, "a window is 1 to 2^48 items, not {window}");
        let id = new_domain();
        let domain = Arc::new(Self {
            id,
            window: window as u64,
            made: Padded(AtomicU64::new(0)),
            released: Padded(AtomicU64::new(0)),
            stop: Padded(AtomicU64::new(u64::MAX)),
        });
        let indices = Indices { domain: Arc::clone(&domain), next: 0, limit: 0, turn: Turn::closed(id) };
        (indices, Exit { domain, next: 0 })
    }

    /// Makes a lane whose writer is serial: the end that writes, and the end that reads.
    pub fn lane<T: Send>(self: &Arc<Self>) -> (Writer<T>, Committed<T>) {
        let slots = Arc::new(Slots::new(self.window as usize));
        (Writer::new(self.id, Arc::clone(&slots)), Committed::new(Arc::clone(self), slots))
    }

    /// How many indices may be between source and exit.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// How many indices were made, as far as [`Indices::show`] has told: all below this one.
    #[inline]
    pub fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// How many indices the exit has given back: all below this one.
    #[inline]
    pub fn released(&self) -> u64 {
        self.released.load(Ordering::Acquire)
    }

    /// Whether the window has room for one more index. May say yes a moment too long, while indices are made.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.made() < self.released() + self.window
    }

    /// The least index at which something has failed, `u64::MAX` while nothing has. It only ever falls.
    #[inline]
    pub fn stop(&self) -> u64 {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether something has failed in the domain, so that its source is not to be asked again.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stop() != u64::MAX
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

/// The port that makes the indices of a domain, while its window has room.
#[derive(Debug)]
pub struct Indices {
    domain: Arc<Domain>,
    /// The index that is made next. Ours alone.
    next: u64,
    /// The `released + window` that was last read: `next` never passes it.
    limit: u64,
    turn: Turn,
}

impl Indices {
    /// The domain whose indices these are.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// For how many more indices room is known: 0 only if the window is full just now.
    #[inline]
    pub fn room(&mut self) -> u64 {
        if self.limit <= self.next {
            self.refresh();
        }
        self.limit - self.next
    }

    /// How many more indices the window has room for, counted anew.
    pub fn fresh_room(&mut self) -> u64 {
        self.refresh();
        self.limit - self.next
    }

    fn refresh(&mut self) {
        self.limit = self.domain.released() + self.domain.window;
    }

    /// The index that is made next.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Makes the next index and opens a turn for it.
    ///
    /// # Panics
    /// If the window has no room, or the turn that was opened last was not used up.
    #[inline]
    pub fn open(&mut self) -> &mut Turn {
        assert!(!self.turn.is_open() && self.room() > 0, "the window is full, or a turn is open");
        // Indices are made here and only here, each once. The acquire load of `released` in `refresh` orders everything
        // that was done for index `next - window` before what is done for this one.
        self.turn.open(self.next);
        self.next += 1;
        &mut self.turn
    }

    /// Shows to [`Domain::made`] and [`Domain::has_room`] how many indices were made. They lag behind until this is called,
    /// so that a port which makes many indices does not write a shared counter for each.
    #[inline]
    pub fn show(&self) {
        self.domain.made.store(self.next, Ordering::Relaxed);
    }

    /// The turn that was opened last.
    #[inline]
    pub fn turn(&mut self) -> &mut Turn {
        &mut self.turn
    }
}

/// The last port of a domain: gives indices back to the port that makes them.
#[derive(Debug)]
pub struct Exit {
    domain: Arc<Domain>,
    /// The index that is given back next.
    next: u64,
}

impl Exit {
    /// The domain that this is the exit of.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// How many indices were given back.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Gives back the index of a turn. Whoever may have waited for the room is the caller's affair.
    ///
    /// # Panics
    /// If the turn is used up, is of another domain, or is not for the index after the one that was given back last.
    #[inline]
    pub fn release(&mut self, turn: &mut Turn) {
        turn.close(self.domain.id, self.next);
        self.next += 1;
        self.domain.release(self.next);
    }
}

//! A domain: one sequence of indices, one window, the port that creates the indices and the port that takes
//! them back.

use super::turn::{Turn, new_number};
use crate::mutant::Mutant;
use crate::sync::{Arc, AtomicU64, Ordering, Padded};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const STOP_BY_A_STORE: Mutant = Mutant("stop_by_a_store");
const RELAXED_RELEASED: Mutant = Mutant("relaxed_released");

/// The state that all ports of one stretch of a pipeline share.
#[derive(Debug)]
pub struct Domain {
    /// Distinguishes the turns of this domain from those of other domains.
    pub(super) id: u64,
    /// How many indices may be between the source and the exit. At least 1.
    window: u64,
    /// Every index below this one was created, as far as it was shown. Only [`Indices`] raises it.
    made: Padded<AtomicU64>,
    /// Every index below this one was given back. Only the exit raises it.
    released: Padded<AtomicU64>,
    /// The index behind which the domain has stopped, by a failure or because a stage needs no more items; `u64::MAX`
    /// while it has not.
    stop: Padded<AtomicU64>,
}

/// The widest window that a domain may have, in indices.
pub const WINDOW_LIMIT: usize = 1 << 48;

impl Domain {
    /// Opens a domain with room for `window` indices between the port that creates them and the exit.
    ///
    /// The capacity of its lanes is `window` rounded up to a power of two. The bound on the items is not
    /// rounded.
    ///
    /// # Panics
    /// If `window` is 0 or above [`WINDOW_LIMIT`].
    pub fn open(window: usize) -> (Indices, Exit) {
        assert!(window > 0 && window <= WINDOW_LIMIT, "a window is 1 to 2^48 items, not {window}");
        let id = new_number();
        let domain = Arc::new(Self {
            id,
            window: window as u64,
            made: Padded::new(AtomicU64::new(0)),
            released: Padded::new(AtomicU64::new(0)),
            stop: Padded::new(AtomicU64::new(u64::MAX)),
        });
        let indices = Indices { domain: Arc::clone(&domain), next: 0, limit: 0, turn: Turn::closed(id) };
        (indices, Exit { domain, next: 0 })
    }

    /// How many indices may be between the source and the exit.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// The number of created indices that [`Indices::show`] has published last.
    #[inline]
    pub fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// How many indices the exit has given back: every index below this one.
    #[inline]
    pub fn released(&self) -> u64 {
        self.released.load(Ordering::Acquire)
    }

    /// Whether the window has room for one more index. The answer may be outdated: the room may have been
    /// used already.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.made() < self.released() + self.window
    }

    /// The index behind which the domain has stopped, by a failure or because a stage needs no more items, or
    /// `u64::MAX` if it has not. It never rises.
    #[inline]
    pub fn stop(&self) -> u64 {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether the domain has stopped. The source must not be asked for more items then.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stop() != u64::MAX
    }

    /// Stops the stream at `index`: later items need not be processed. The lowest index of all calls counts.
    pub fn stop_at(&self, index: u64) {
        if !STOP_BY_A_STORE.is_on() {
            self.stop.fetch_min(index, Ordering::AcqRel);
        }
        if STOP_BY_A_STORE.is_on() {
            self.stop.store(index, Ordering::Release);
        }
    }

    /// Gives back every index below `next`.
    #[inline]
    pub(super) fn release(&self, next: u64) {
        let order = if RELAXED_RELEASED.is_on() { Ordering::Relaxed } else { Ordering::Release };
        self.released.store(next, order);
    }
}

/// The port that creates the indices of a domain, while its window has room.
#[derive(Debug)]
pub struct Indices {
    domain: Arc<Domain>,
    /// The index that is created next. Only this port has it.
    next: u64,
    /// The value of `released + window` when it was last read. `next` never passes it.
    limit: u64,
    turn: Turn,
}

impl Indices {
    /// The domain of these indices.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// How many more indices surely have room. The result is 0 only if the window is full at this moment.
    #[inline]
    pub fn room(&mut self) -> u64 {
        if self.limit <= self.next {
            self.refresh();
        }
        self.limit - self.next
    }

    /// How many more indices have room, computed from a fresh read of what the exit has given back.
    pub fn fresh_room(&mut self) -> u64 {
        self.refresh();
        self.limit - self.next
    }

    fn refresh(&mut self) {
        self.limit = self.domain.released() + self.domain.window;
    }

    /// The index that is created next.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Creates the next index and opens a turn for it.
    ///
    /// # Panics
    /// If the window has no room, or if the previous turn was not used up.
    #[inline]
    pub fn open(&mut self) -> &mut Turn {
        assert!(
            !self.turn.is_open() && self.room() > 0,
            "an index needs room in the window, and the previous turn must be used up"
        );
        // Only this port creates indices, each of them once. The acquire load of `released` in `refresh`
        // orders everything that was done for index `next - window` before what is done for this one.
        self.turn.open(self.next);
        self.next += 1;
        &mut self.turn
    }

    /// Shows to [`Domain::made`] and [`Domain::has_room`] how many indices were created. They lag behind
    /// until this is called, so a port that creates many indices does not write a shared counter for each of
    /// them.
    #[inline]
    pub fn show(&self) {
        self.domain.made.store(self.next, Ordering::Relaxed);
    }

    /// The turn that was last opened.
    #[inline]
    pub fn turn(&mut self) -> &mut Turn {
        &mut self.turn
    }
}

/// The last port of a domain. It gives indices back to the port that creates them.
#[derive(Debug)]
pub struct Exit {
    domain: Arc<Domain>,
    /// The index that is given back next.
    next: u64,
}

impl Exit {
    /// The domain of this exit.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// How many indices were given back.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Gives back the index of a turn. The caller must wake the port that creates indices if it waits for
    /// room.
    ///
    /// # Panics
    /// If the turn is used up, belongs to another domain, or is not for the index after the last one that was
    /// given back.
    #[inline]
    pub fn release(&mut self, turn: &mut Turn) {
        turn.close(self.domain.id, self.next);
        self.next += 1;
        self.domain.release(self.next);
    }
}

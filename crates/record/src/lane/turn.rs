//! Turns: the right to act for indices of a domain.

use std::sync::atomic::AtomicU64 as StdAtomicU64;

use crate::sync::Ordering;

/// How many domains and dealers this process has created, and 1. The number identifies them; it does not wrap in practice,
/// since that takes 2^64 of them.
static NUMBERS: StdAtomicU64 = StdAtomicU64::new(1);

/// The number of a new domain or dealer, which no other one of this process has.
pub(super) fn new_number() -> u64 {
    NUMBERS.fetch_add(1, Ordering::Relaxed)
}

/// The right to act for the indices of a range, one after the other, on the thread that has it. Most ranges have one index.
///
/// A turn is *open* from the moment at which a port gives its indices until the last of them is used up, by
/// [`Writer::put`](super::Writer::put), [`Putter::put`](super::Putter::put) or [`Exit::release`](super::Exit::release). A serial
/// port lends its turn as `&mut`, and gives no further index while the turn is open. A claim gives its turn away.
///
/// Invariant: an index of a domain that was created and not yet released is in exactly one place: in an open
/// turn, in a claim, or stored in one lane. Turns cannot be copied, and users of this
/// module can create none that a port accepts, so they cannot break this. It is the reason why slots may be written again. Index *i* +
/// capacity is created only after index *i* was released, and the thread that released *i* had taken it out of every
/// lane in which it was ever stored.
#[derive(Debug)]
pub struct Turn {
    /// The number of the domain or of the dealer whose ports take the turn. 0 if there is none.
    of: u64,
    /// The first index of the range.
    pub(super) first: u64,
    /// Every index of the range below this one was used up.
    index: u64,
    pub(super) end: u64,
}

impl Turn {
    /// Creates a turn for `index` that no port accepts, for a loop that has no lanes and only numbers its items.
    #[inline]
    pub fn without_lanes(index: u64) -> Self {
        Self { of: 0, first: 0, index, end: u64::MAX }
    }

    pub(super) fn closed(of: u64) -> Self {
        Self { of, first: 0, index: 0, end: 0 }
    }

    /// A turn for the indices of a claim.
    #[inline]
    pub(super) fn of_claim(dealer: u64, first: u64, end: u64) -> Self {
        Self { of: dealer, first, index: first, end }
    }

    /// The index that the turn is for. If the turn was used up, the index after the last one.
    #[inline]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Whether an index is not used up yet.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.index < self.end
    }

    /// Goes on to the next index, without a port.
    ///
    /// # Panics
    /// If the turn is not one [without lanes](Self::without_lanes): a port uses up the others.
    #[inline]
    pub fn advance(&mut self) {
        assert!(self.of == 0, "an index of a lane is used up by a port");
        self.index += 1;
    }

    /// Opens the turn for `index`. The caller moves the index here from where it was.
    #[inline]
    pub(super) fn open(&mut self, index: u64) {
        debug_assert!(!self.is_open());
        (self.index, self.end) = (index, index + 1);
    }

    /// Uses up the next index, for a port of `of`. Returns the index.
    ///
    /// # Panics
    /// If the turn is used up or belongs to other ports.
    #[inline]
    pub(super) fn use_up(&mut self, of: u64) -> u64 {
        let index = self.index;
        let is_right = (index < self.end) & (self.of == of);
        assert!(is_right, "a turn has each index once, and its own ports use it up");
        self.index += 1;
        index
    }

    /// Uses up the turn, for a port of `of` whose next index is `next`.
    ///
    /// # Panics
    /// If the turn is used up, belongs to other ports, or is for another index.
    #[inline]
    pub(super) fn close(&mut self, of: u64, next: u64) {
        let is_right = (self.index < self.end) & (self.of == of) & (self.index == next);
        assert!(is_right, "a turn can be used once only, in its own domain, and in the order of the indices");
        self.index += 1;
    }
}

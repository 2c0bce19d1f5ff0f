//! The writing side: stall, fill, commit.

use super::{OneToOne, notifier::Listener};
use crate::record::burst::{Slots, WriteSide};
use crate::record::{Closed, INDEX_LIMIT, TryStallError, sleep::Sleep, store::Store};
use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{Arc, Ordering};
use std::fmt;

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const RELAXED_PUBLISH: Mutant = Mutant("relaxed_publish");

/// The writing end of a [one-to-one record](super::one_to_one()). Dropping it ends the stream.
pub struct Writer<T> {
    pub(super) shared: Arc<OneToOne<T>>,
    /// The first index that is not committed, which is the value of `shared.committed`.
    pub(super) next: u64,
    /// Every slot below this index was free when the writer last looked. At most `released + bound` and
    /// [`INDEX_LIMIT`].
    pub(super) limit: u64,
    /// The most slots that one stall may reserve, at least 1.
    horizon: u64,
    /// The most items in the record: the sum of both horizons.
    bound: u64,
    listener: Listener,
}

impl<T> Writer<T> {
    pub(super) fn new(shared: Arc<OneToOne<T>>, next: u64, limit: u64, horizon: u64, bound: u64) -> Self {
        Self { shared, next, limit, horizon, bound, listener: Listener::default() }
    }

    /// The index of the next item to be committed, which is also the number of items that were committed so
    /// far.
    #[inline]
    pub fn index(&self) -> u64 {
        self.next
    }

    /// The most slots that one stall may reserve.
    #[inline]
    pub fn horizon(&self) -> usize {
        self.horizon as usize
    }

    /// Whether the reader was dropped. If it was, nothing that is written will be read.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.shared.reader_gone.load(Ordering::Acquire)
    }

    /// Reserves the next `n` slots. It waits while they would pass the horizon (Erbium, section 3, `stall`).
    ///
    /// Slots that were reserved but not committed are reserved again by the next call.
    ///
    /// # Errors
    /// [`Closed`] once the reader was dropped.
    ///
    /// # Panics
    /// If `n` is 0 or above the horizon. Also at the index limit of 2^63 items, which takes 292 years at one
    /// item a nanosecond: indices never wrap.
    #[inline]
    pub fn stall(&mut self, n: usize) -> Result<Slots<'_, Self>, Closed> {
        match self.reserve(n, true) {
            Ok(end) => Ok(Slots::new(self, end)),
            Err(_) => Err(Closed),
        }
    }

    /// Reserves the next `n` slots if it need not wait for them.
    ///
    /// # Errors
    /// [`TryStallError::Full`] while the slots would pass the horizon, and [`TryStallError::Closed`] once the
    /// reader was dropped.
    ///
    /// # Panics
    /// The same as for [`stall`](Self::stall).
    #[inline]
    pub fn try_stall(&mut self, n: usize) -> Result<Slots<'_, Self>, TryStallError> {
        self.reserve(n, false).map(|end| Slots::new(self, end))
    }

    /// Reserves the next `n` slots, and waits for room if it may. Returns their end.
    #[inline]
    pub(in crate::record) fn reserve(&mut self, n: usize, wait: bool) -> Result<u64, TryStallError> {
        let end = self.end_of(n);
        if self.is_closed() {
            return Err(TryStallError::Closed);
        }
        if end > self.limit {
            if wait {
                self.wait_for_room(end)?;
            } else if !self.look_for_room(end) {
                return Err(TryStallError::Full);
            }
        }
        Ok(end)
    }

    #[inline]
    pub(super) fn end_of(&self, n: usize) -> u64 {
        let n = n as u64;
        assert!(n > 0 && n <= self.horizon, "a burst has 1 to {} slots, not {n}", self.horizon);
        self.next + n
    }

    /// Loads the reader's index again. Returns whether the slots below `end` are free.
    fn look_for_room(&mut self, end: u64) -> bool {
        assert!(end <= INDEX_LIMIT, "the index limit of 2^63 items is reached");
        self.limit = INDEX_LIMIT.min(self.shared.released.load(Ordering::Acquire) + self.bound);
        end <= self.limit
    }

    #[cold]
    fn wait_for_room(&mut self, end: u64) -> Result<(), Closed> {
        let (shared, bound) = (&*self.shared, self.bound);
        self.limit = self.listener.until(&shared.room, || look_for_room(shared, end, bound))?;
        Ok(())
    }

    /// The new limit, or `None` if `how` gives up.
    #[cold]
    pub(super) fn wait_for_room_by(&mut self, end: u64, how: &impl Sleep) -> Option<Result<u64, Closed>> {
        let (shared, bound) = (&*self.shared, self.bound);
        self.listener.until_by(&shared.room, how, || look_for_room(shared, end, bound))
    }
}

// SAFETY: `next <= written < end <= limit <= released + bound` says that the slots of a burst belong to the writer. The reader has
// taken or dropped what they held.
unsafe impl<T> WriteSide for Writer<T> {
    type Item = T;

    #[inline]
    fn store(&self, _: u64) -> &Store<T> {
        &self.shared.store
    }

    #[inline]
    fn open(&mut self, _: u64) -> u64 {
        self.next
    }

    #[inline]
    fn publish(&mut self, index: u64) {
        self.next = index;
        let order = if RELAXED_PUBLISH.is_on() { Ordering::Relaxed } else { Ordering::Release };
        self.shared.committed.store(index, order);
        self.shared.items.notify();
    }
}

/// The limit if the slots below `end` are free, and an error if the reader has gone.
fn look_for_room<T>(shared: &OneToOne<T>, end: u64, bound: u64) -> Option<Result<u64, Closed>> {
    assert!(end <= INDEX_LIMIT, "the index limit of 2^63 items is reached");
    if shared.reader_gone.load(Ordering::Acquire) {
        return Some(Err(Closed));
    }
    let released = shared.released.load(Ordering::Acquire);
    (released >= end - bound).then(|| Ok(INDEX_LIMIT.min(released + bound)))
}

impl<T> Drop for Writer<T> {
    fn drop(&mut self) {
        self.shared.writer_gone.store(true, Ordering::Release);
        self.shared.items.notify_last();
    }
}

impl<T> fmt::Debug for Writer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("index", &self.next)
            .field("horizon", &self.horizon)
            .finish_non_exhaustive()
    }
}

//! A hop: the port of a parallel stage. Threads claim ranges of committed cells and carry them across.

use std::marker::PhantomData;
use std::sync::atomic::AtomicU64 as StdAtomicU64;

use super::arrival::{Arrivals, Arrived};
use super::cell::Cell;
use super::domain::Domain;
use super::serial::{Committed, Stamped};
use super::slots::Slots;
use crate::leftovers::Leftovers;
use crate::sync::{Arc, Ordering};

/// The two lanes around a parallel stage.
///
/// A cell is claimed from the first lane, and its result is put into the second lane at the same index.
#[derive(Debug)]
pub struct Hop<T, U> {
    domain: Arc<Domain>,
    input: Arc<Slots<T>>,
    output: Arc<Slots<U>>,
    /// Where claims are announced, if the second lane is read in the order of arrival.
    arrivals: Option<Arc<Arrivals>>,
    /// Distinguishes the permits of this hop from those of other hops.
    id: u64,
}

/// How many hops this process has created. The number identifies a hop; it does not wrap in practice, since
/// that takes 2^64 hops.
static HOPS: StdAtomicU64 = StdAtomicU64::new(0);

/// The number of a new hop.
pub(super) fn new_id() -> u64 {
    HOPS.fetch_add(1, Ordering::Relaxed)
}

impl<T> Committed<T> {
    /// Creates the port of a parallel stage that turns `T` into `U`, and the reading end of the lane after
    /// it.
    pub fn hop<U: Send>(self) -> (Hop<T, U>, Stamped<U>) {
        let output = Arc::new(Slots::new(self.domain.window() as usize));
        let hop = Hop::new(Arc::clone(&self.domain), self.slots, Arc::clone(&output), None);
        (hop, Stamped::new(self.domain, output))
    }

    /// Like [`hop`](Self::hop), but the lane after it is read in the order of arrival.
    pub fn unordered_hop<U: Send>(self) -> (Hop<T, U>, Arrived<U>) {
        let output = Arc::new(Slots::new(self.domain.window() as usize));
        let (lane, arrivals) = Arrived::new(Arc::clone(&self.domain), Arc::clone(&output));
        let hop = Hop::new(self.domain, self.slots, output, Some(arrivals));
        (hop, lane)
    }
}

impl<T, U> Hop<T, U> {
    pub(super) fn new(
        domain: Arc<Domain>,
        input: Arc<Slots<T>>,
        output: Arc<Slots<U>>,
        arrivals: Option<Arc<Arrivals>>,
    ) -> Self {
        Self { domain, input, output, arrivals, id: new_id() }
    }

    /// The domain of this hop.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// How many cells are committed and not yet claimed. Other threads may change the number at any moment.
    #[inline]
    pub fn ready(&self) -> u64 {
        self.input.unclaimed()
    }

    /// How many cells were claimed.
    #[inline]
    pub fn claimed(&self) -> u64 {
        self.input.claimed()
    }

    /// Claims the first of the cells that are ready, at most `most` of them. Returns `None` if there is none,
    /// or if `most` is 0.
    #[inline]
    pub fn claim(&self, most: u64) -> Option<Claim<'_, T, U>> {
        let (first, end) = self.input.claim_up_to(most)?;
        Some(Claim { hop: self, first, put: first, taken: first, end, not_send: PhantomData })
    }

    /// Takes the first cell that is ready, together with a permit to put its result.
    ///
    /// The result may be [put](Self::put) at any time and from any thread. If only one thread at a time calls
    /// `deal`, cells are dealt in the order of their indices.
    pub fn deal(&self) -> Option<(PutPermit, Cell<T>)> {
        let mut claim = self.claim(1)?;
        let permit = PutPermit { index: claim.index(), hop: self.id };
        claim.take().map(|cell| (permit, cell))
    }

    /// Puts the result of a cell that was [dealt](Self::deal).
    ///
    /// # Panics
    /// If the permit comes from another hop.
    pub fn put(&self, permit: PutPermit, cell: Cell<U>) {
        assert_eq!(permit.hop, self.id, "a permit is valid only for the hop that issued it");
        // SAFETY: `deal` of this hop made the permit, from a claim of exactly this index. The permit is not
        // `Clone` and is consumed here, so the index is put once. It was handed over from the thread that
        // claimed the index, which orders the claim before this call.
        unsafe { self.put_at(permit.index, cell) };
        if let Some(arrivals) = &self.arrivals {
            arrivals.arrive(permit.index, permit.index + 1);
        }
    }

    /// Puts the result of `index`.
    ///
    /// # Safety
    /// The caller has claimed `index` and has not put it before.
    #[inline]
    unsafe fn put_at(&self, index: u64, cell: Cell<U>) {
        // SAFETY: a thread that holds an index on the reading side of a hop also holds it on the writing
        // side, and the caller puts it once. The cell of the slot's previous index was taken, as
        // `Turn` says. The commit and the claim of this index order that before this write.
        unsafe { self.output.put(index, cell) };
    }
}

/// Permission to put the result of one cell that was [dealt](Hop::deal), or taken from a [`Deal`](super::Deal).
///
/// If the permit is dropped instead, its index is never put. That is allowed only if the stream has stopped
/// at a lower index.
#[derive(Debug)]
#[must_use = "an index that is never put blocks all later ones"]
pub struct PutPermit {
    pub(super) index: u64,
    pub(super) hop: u64,
}

impl PutPermit {
    /// The index of the cell.
    pub fn index(&self) -> u64 {
        self.index
    }
}

/// A range of indices that one thread holds exclusively, on both sides of a hop.
///
/// Calls of [`take`](Self::take) and [`put`](Self::put) alternate. Dropping the claim drops the cells that
/// were not taken, and their indices are never put. That is allowed only if the stream has stopped at a lower
/// index.
#[derive(Debug)]
pub struct Claim<'h, T, U> {
    hop: &'h Hop<T, U>,
    first: u64,
    /// Every index below this one was put. `put <= taken <= end`, and `taken - put` is 0 or 1.
    put: u64,
    /// Every index below this one was taken.
    taken: u64,
    end: u64,
    /// A claim stays on the thread that made it.
    not_send: PhantomData<*const ()>,
}

impl<T, U> Claim<'_, T, U> {
    /// The index that the next [`put`](Self::put) fills.
    #[inline]
    pub fn index(&self) -> u64 {
        self.put
    }

    /// How many cells of the claim were not put yet.
    #[inline]
    pub fn remaining(&self) -> u64 {
        self.end - self.put
    }

    /// Takes the next cell. Returns `None` if the range is used up, or if the result of the previous cell was
    /// not put.
    #[inline]
    pub fn take(&mut self) -> Option<Cell<T>> {
        if self.taken == self.end || self.taken != self.put {
            return None;
        }
        self.taken += 1;
        // SAFETY: the compare-exchange that made the claim gave this thread the indices `put..end` of the
        // reading side. They were below a `commit` that was loaded with acquire, and `taken` passes each of
        // them once.
        Some(unsafe { self.hop.input.take(self.taken - 1) })
    }

    /// Puts the result of the cell that was taken last.
    ///
    /// # Panics
    /// If no cell was taken since the previous call.
    #[inline]
    pub fn put(&mut self, cell: Cell<U>) {
        assert!(self.taken != self.put, "`put` needs a cell: call `take` first");
        // SAFETY: the claim holds the index exclusively, and `put` passes each index once.
        unsafe { self.hop.put_at(self.put, cell) };
        if self.put == self.first
            && let Some(arrivals) = &self.hop.arrivals
        {
            arrivals.arrive(self.first, self.end);
        }
        self.put += 1;
    }
}

impl<T, U> Drop for Claim<'_, T, U> {
    #[inline]
    fn drop(&mut self) {
        if self.taken < self.end {
            self.drop_rest();
        }
    }
}

impl<T, U> Claim<'_, T, U> {
    #[cold]
    fn drop_rest(&mut self) {
        let mut leftovers = Leftovers::default();
        while self.taken < self.end {
            self.taken += 1;
            // SAFETY: as in `take`.
            leftovers.drop(|| drop(unsafe { self.hop.input.take(self.taken - 1) }));
        }
    }
}

//! A hop in two halves. The half that claims cells does not know the type of their results.

use std::marker::PhantomData;

use super::arrival::{Arrivals, Arrived};
use super::cell::Cell;
use super::domain::Domain;
use super::hop::{PutPermit, new_id};
use super::serial::{Committed, Stamped};
use super::slots::Slots;
use crate::leftovers::Leftovers;
use crate::sync::Arc;

/// The reading half of a [`Hop`](super::Hop): claims cells, and gives a permit with each.
///
/// The result of a cell is put under its permit into the lane that the [`Outlet`] of the same hop made.
#[derive(Debug)]
pub struct Dealer<T> {
    domain: Arc<Domain>,
    input: Arc<Slots<T>>,
    id: u64,
}

/// The right to make the second lane of a hop, once the type of its cells is known.
#[derive(Debug)]
pub struct Outlet {
    domain: Arc<Domain>,
    id: u64,
}

/// The writing half of a hop: puts results under the permits of its [`Dealer`].
#[derive(Debug)]
pub struct Putter<U> {
    output: Arc<Slots<U>>,
    /// Notes the index of each put, if the lane is read in the order of arrival.
    arrivals: Option<Arc<Arrivals>>,
    id: u64,
}

impl<T> Committed<T> {
    /// Creates the port of a parallel stage in two halves, for a thread that claims without knowing what the results are.
    pub fn dealer(self) -> (Dealer<T>, Outlet) {
        let id = new_id();
        let outlet = Outlet { domain: Arc::clone(&self.domain), id };
        (Dealer { domain: self.domain, input: self.slots, id }, outlet)
    }
}

impl<T> Dealer<T> {
    /// The domain of this hop.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// How many cells are committed and not claimed yet. Other threads may change the number at any moment.
    #[inline]
    pub fn ready(&self) -> u64 {
        self.input.unclaimed()
    }

    /// How many cells were claimed.
    #[inline]
    pub fn claimed(&self) -> u64 {
        self.input.claimed()
    }

    /// Claims the first of the ready cells, at most `most` of them. Returns `None` if no cell is ready, or if
    /// `most` is 0.
    #[inline]
    pub fn claim(&self, most: u64) -> Option<Deal<'_, T>> {
        let (first, end) = self.input.claim_up_to(most)?;
        Some(Deal { dealer: self, next: first, end, not_send: PhantomData })
    }
}

impl Outlet {
    /// Makes the second lane of the hop.
    pub fn lane<U: Send>(self) -> (Putter<U>, Stamped<U>) {
        let output = Arc::new(Slots::new(self.domain.window() as usize));
        let putter = Putter { output: Arc::clone(&output), arrivals: None, id: self.id };
        (putter, Stamped::new(self.domain, output))
    }

    /// Like [`lane`](Self::lane), but the lane is read in the order of arrival.
    pub fn unordered_lane<U: Send>(self) -> (Putter<U>, Arrived<U>) {
        let output = Arc::new(Slots::new(self.domain.window() as usize));
        let (lane, arrivals) = Arrived::new(self.domain, Arc::clone(&output));
        (Putter { output, arrivals: Some(arrivals), id: self.id }, lane)
    }
}

impl<U> Putter<U> {
    /// Puts the result of a cell.
    ///
    /// # Panics
    /// If the permit comes from another hop.
    #[inline]
    pub fn put(&self, permit: PutPermit, cell: Cell<U>) {
        assert_eq!(permit.hop, self.id, "a permit is valid only for the hop that issued it");
        // SAFETY: the dealer of this hop made the permit, from a claim of exactly this index. The permit is
        // not `Clone` and is consumed here, and the hop has one outlet, which made one lane. The index is
        // therefore put into this lane only once. The slot's previous index was taken, as `Turn` says. The
        // commit and the claim of this index order that before this write, and moving the permit from thread
        // to thread keeps that order.
        unsafe { self.output.put(permit.index, cell) };
        if let Some(arrivals) = &self.arrivals {
            arrivals.arrive(permit.index, permit.index + 1);
        }
    }
}

/// A range of indices that one thread has claimed. Each cell is taken with a permit for its result.
///
/// Dropping it drops the cells that were not taken, and their indices are never put. That is allowed only if
/// the stream has stopped at a lower index.
#[derive(Debug)]
pub struct Deal<'d, T> {
    dealer: &'d Dealer<T>,
    /// Every index below this one was taken.
    next: u64,
    end: u64,
    /// A claim stays on the thread that made it.
    not_send: PhantomData<*const ()>,
}

impl<T> Deal<'_, T> {
    /// The index of the next cell.
    #[inline]
    pub fn index(&self) -> u64 {
        self.next
    }

    /// How many cells were not taken yet.
    #[inline]
    pub fn remaining(&self) -> u64 {
        self.end - self.next
    }

    /// Takes the next cell. Returns `None` if the range is used up.
    #[inline]
    pub fn take(&mut self) -> Option<(PutPermit, Cell<T>)> {
        if self.next == self.end {
            return None;
        }
        let index = self.next;
        self.next += 1;
        // SAFETY: the compare-exchange that made the claim gave this thread the indices up to `end` of the
        // reading side. They were below a `commit` that was loaded with acquire, and `next` passes each of
        // them once.
        let cell = unsafe { self.dealer.input.take(index) };
        Some((PutPermit { index, hop: self.dealer.id }, cell))
    }
}

impl<T> Drop for Deal<'_, T> {
    fn drop(&mut self) {
        let mut leftovers = Leftovers::default();
        while let Some((_, cell)) = self.take() {
            leftovers.drop(|| drop(cell));
        }
    }
}

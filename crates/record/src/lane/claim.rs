//! The two ports of a parallel unit. Threads claim ranges of committed cells, and put a result for each.
//!
//! The port that claims does not know the type of the results, and the port that puts does not know the type of the cells. So
//! any number of stages can lie between them.

use std::marker::PhantomData;

use super::arrival::{Arrivals, Arrived};
use super::cell::Cell;
use super::domain::Domain;
use super::serial::{Committed, Stamped};
use super::slots::Slots;
use super::turn::{Turn, new_number};
use crate::leftovers::Leftovers;
use crate::sync::Arc;

/// The port that claims the cells of a lane. The results are put into the lane that the [`Outlet`] of the same dealer makes.
#[derive(Debug)]
pub struct Dealer<T> {
    domain: Arc<Domain>,
    input: Arc<Slots<T>>,
    /// Distinguishes the claims of this dealer from those of others.
    id: u64,
}

/// The right to make the lane of the results, once the type of its cells is known.
#[derive(Debug)]
pub struct Outlet {
    domain: Arc<Domain>,
    id: u64,
}

/// The port that puts the results of claims.
#[derive(Debug)]
pub struct Putter<U> {
    output: Arc<Slots<U>>,
    /// Announces claims, if the lane is read in the order of arrival.
    arrivals: Option<Arc<Arrivals>>,
    id: u64,
}

impl<T> Committed<T> {
    /// Creates the port that claims the cells of the lane, and the right to make the lane of their results.
    pub fn dealer(self) -> (Dealer<T>, Outlet) {
        let id = new_number();
        let outlet = Outlet { domain: Arc::clone(&self.domain), id };
        (Dealer { domain: self.domain, input: self.slots, id }, outlet)
    }
}

impl<T> Dealer<T> {
    /// The domain of the lane.
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

    /// Claims the first of the ready cells, at most `most` of them. Returns the cells, and the turn for putting their results.
    /// Returns `None` if no cell is ready, or if `most` is 0.
    ///
    /// If the turn is dropped, the indices that are left are never put, and block all later ones. That is allowed only if the stream
    /// has stopped at a lower index.
    #[inline]
    pub fn claim(&self, most: u64) -> Option<(Claim<'_, T>, Turn)> {
        let (first, end) = self.input.claim_up_to(most)?;
        let claim = Claim { dealer: self, next: first, end, not_send: PhantomData };
        Some((claim, Turn::of_claim(self.id, first, end)))
    }
}

impl Outlet {
    /// Makes the lane of the results.
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
    /// Puts the result of the next index of a claim.
    ///
    /// # Panics
    /// If the turn comes from another dealer, or all of its results were put.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn put(&self, turn: &mut Turn, cell: Cell<U>) {
        let index = turn.use_up(self.id);
        // SAFETY: the dealer of this lane made the turn, from a claim of its indices. A turn is not `Clone`, and `use_up`
        // passes each index once. The dealer has one outlet, which made one lane. The index is therefore put into this lane
        // only once. The slot's previous index was taken, as `Turn` says. The commit and the claim of this index order that
        // before this write, and moving the turn from thread to thread keeps that order.
        unsafe { self.output.put(index, cell) };
        if index == turn.first
            && let Some(arrivals) = &self.arrivals
        {
            arrivals.arrive(index, turn.end);
        }
    }
}

/// The cells of a range of indices that one thread has claimed. Dropping it drops the cells that were not taken.
#[derive(Debug)]
pub struct Claim<'d, T> {
    dealer: &'d Dealer<T>,
    /// Every index below this one was taken.
    next: u64,
    end: u64,
    /// A claim stays on the thread that made it.
    not_send: PhantomData<*const ()>,
}

impl<T> Claim<'_, T> {
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
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn take(&mut self) -> Option<Cell<T>> {
        if self.next == self.end {
            return None;
        }
        self.next += 1;
        // SAFETY: the compare-exchange that made the claim gave this thread the indices up to `end` of the
        // reading side. They were below a `commit` that was loaded with acquire, and `next` passes each of
        // them once.
        Some(unsafe { self.dealer.input.take(self.next - 1) })
    }
}

impl<T> Drop for Claim<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.next < self.end {
            self.drop_rest();
        }
    }
}

impl<T> Claim<'_, T> {
    #[cold]
    fn drop_rest(&mut self) {
        let mut leftovers = Leftovers::default();
        while let Some(cell) = self.take() {
            leftovers.drop(|| drop(cell));
        }
    }
}

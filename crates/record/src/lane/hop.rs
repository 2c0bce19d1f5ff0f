//! A hop: the port of a parallel stage. Threads claim ranges of what is committed and carry them across.

use std::marker::PhantomData;
use std::sync::atomic::AtomicU64 as StdAtomicU64;

use super::arrival::Arrivals;
use super::cell::Cell;
use super::domain::Domain;
use super::slots::Slots;
use crate::leftovers::Leftovers;
use crate::sync::{Arc, Ordering};

/// The two lanes around a parallel stage: cells are claimed from one and put, at the same index, into the other.
#[derive(Debug)]
pub struct Hop<T, U> {
    domain: Arc<Domain>,
    input: Arc<Slots<T>>,
    output: Arc<Slots<U>>,
    /// Where indices are noted as they are put, if the lane is read in the order of arrival.
    arrivals: Option<Arc<Arrivals>>,
    /// Tells this hop's tickets from those of others.
    id: u64,
}

/// How many hops were made in this process. No two have the same number: 2^64 are out of reach.
static HOPS: StdAtomicU64 = StdAtomicU64::new(0);

impl<T, U> Hop<T, U> {
    pub(super) fn new(
        domain: Arc<Domain>,
        input: Arc<Slots<T>>,
        output: Arc<Slots<U>>,
        arrivals: Option<Arc<Arrivals>>,
    ) -> Self {
        Self { domain, input, output, arrivals, id: HOPS.fetch_add(1, Ordering::Relaxed) }
    }

    /// The domain that this hop is part of.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// How many cells are committed and not yet claimed. A moment later it may be otherwise.
    #[inline]
    pub fn ready(&self) -> u64 {
        let commit = self.input.commit.load(Ordering::Acquire);
        commit.saturating_sub(self.input.claim.load(Ordering::Relaxed))
    }

    /// How many cells have been claimed.
    #[inline]
    pub fn claimed(&self) -> u64 {
        self.input.claim.load(Ordering::Relaxed)
    }

    /// Claims up to `most` of the cells that are ready, the first ones. `None` if there is none.
    #[inline]
    pub fn claim(&self, most: u64) -> Option<Claim<'_, T, U>> {
        let mut first = self.input.claim.load(Ordering::Relaxed);
        loop {
            let order =
                if cfg!(mutant = "claim_without_acquire") { Ordering::Relaxed } else { Ordering::Acquire };
            let commit = self.input.commit.load(order);
            // A claim counter read late may be past a commit read early.
            if first >= commit || most == 0 {
                return None;
            }
            let end = commit.min(first.saturating_add(most));
            #[cfg(mutant = "claim_by_a_store")]
            {
                self.input.claim.store(end, Ordering::Relaxed);
                return Some(Claim { hop: self, put: first, taken: first, end, not_send: PhantomData });
            }
            #[cfg(not(mutant = "claim_by_a_store"))]
            match self.input.claim.compare_exchange_weak(first, end, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    return Some(Claim { hop: self, put: first, taken: first, end, not_send: PhantomData });
                }
                Err(now) => first = now,
            }
        }
    }

    /// Takes the first cell that is ready. Its result is [put](Self::put) whenever it is there, from any thread;
    /// cells that are dealt by one thread at a time are dealt in the order of their indices.
    pub fn deal(&self) -> Option<(Ticket, Cell<T>)> {
        let mut claim = self.claim(1)?;
        let ticket = Ticket { index: claim.index(), hop: self.id };
        claim.take().map(|cell| (ticket, cell))
    }

    /// Puts the result of a cell that was dealt.
    ///
    /// # Panics
    /// If the ticket is of another hop.
    pub fn put(&self, ticket: Ticket, cell: Cell<U>) {
        assert_eq!(ticket.hop, self.id, "a ticket is good for the hop that gave it");
        // SAFETY: the ticket is of this hop, was made for the one claim of its index, and ends here. Who has it
        // was handed it by the thread that claimed.
        unsafe { self.put_at(ticket.index, cell) };
    }

    /// Puts the result of `index`.
    ///
    /// # Safety
    /// The caller has claimed `index` and has not put it before.
    #[inline]
    unsafe fn put_at(&self, index: u64, cell: Cell<U>) {
        #[cfg(not(mutant = "relaxed_stamp"))]
        let order = Ordering::Release;
        #[cfg(mutant = "relaxed_stamp")]
        let order = Ordering::Relaxed;
        // SAFETY: who holds an index on the reading side of a hop holds it on the writing side, and the caller
        // puts it once. The slot's last user was taken, as `Turn` says, and the commit and the claim of
        // this index order that before us.
        unsafe { self.output.write(index, cell, order) };
        if let Some(arrivals) = &self.arrivals {
            arrivals.arrive(index);
        }
    }
}

/// The right to put the result of one cell that was [dealt](Hop::deal). Where it is dropped instead, its index is
/// never put: the stream must have stopped before it.
#[derive(Debug)]
#[must_use = "an index that is never put holds up all behind it"]
pub struct Ticket {
    index: u64,
    hop: u64,
}

impl Ticket {
    /// The index of the cell.
    pub fn index(&self) -> u64 {
        self.index
    }
}

/// A range of indices that one thread has to itself on both sides of a hop.
///
/// [`take`](Self::take) and [`put`](Self::put) alternate. What is left when the claim is dropped is dropped
/// with it, and its indices are never put: the stream must have stopped before them.
#[derive(Debug)]
pub struct Claim<'h, T, U> {
    hop: &'h Hop<T, U>,
    /// Indices below this were put. `put <= taken <= end`, and `taken - put` is 0 or 1.
    put: u64,
    /// Indices below this were taken.
    taken: u64,
    end: u64,
    /// A claim stays on the thread that took it.
    not_send: PhantomData<*const ()>,
}

impl<T, U> Claim<'_, T, U> {
    /// The index that the next [`put`](Self::put) fills.
    #[inline]
    pub fn index(&self) -> u64 {
        self.put
    }

    /// How many cells of the claim were not yet put.
    #[inline]
    pub fn remaining(&self) -> u64 {
        self.end - self.put
    }

    /// Takes the next cell. `None` when the range is used up, or while the last cell taken was not put.
    #[inline]
    pub fn take(&mut self) -> Option<Cell<T>> {
        if self.taken == self.end || self.taken != self.put {
            return None;
        }
        self.taken += 1;
        // SAFETY: the exchange that made the claim gave us the indices put..end of the reading side, which
        // were below a `commit` that was read with acquire; `taken` passes each once.
        Some(unsafe { self.hop.input.take(self.taken - 1) })
    }

    /// Puts the result of the cell that was taken last.
    ///
    /// # Panics
    /// If no cell has been taken since the last call.
    #[inline]
    pub fn put(&mut self, cell: Cell<U>) {
        assert!(self.taken != self.put, "take a cell before putting its result");
        // SAFETY: the claim has the index to itself, and `put` passes each once.
        unsafe { self.hop.put_at(self.put, cell) };
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

//! Operations on a record with many views from outside: waits that the caller arranges, and ending a view
//! that is elsewhere.

use super::{
    core::{Core, Cursor, Which, checked},
    deal::{Deal, ReadDeal, WriteDeal},
    handle::Record,
    lease::Lease,
    reader::ReadView,
    side::Side,
    writer::WriteView,
};
use crate::record::burst::{Items, Slots};
use crate::record::{
    Closed, TryStallError,
    sleep::{Sleep, sleep_until},
};
use anabranch_record::{
    EventCount,
    backoff::{Backoff, Polling},
    sync::{Arc, Ordering},
};
use std::{fmt, marker::PhantomData};

impl<T: Send, W: WriteDeal, R: ReadDeal<T>> Record<T, W, R> {
    /// Creates a record that holds at most as many items as its widest horizon.
    ///
    /// No thread waits inside of the record: [`WriteView::stall_by`] and [`ReadView::receive_by`] sleep as
    /// their caller arranges. The record calls `on_items` when readers that have announced themselves may
    /// continue, and `on_room` when writers may. It calls them on the thread that made the change. They
    /// should do no more than wake a thread.
    pub fn bounded(
        writers: W,
        readers: R,
        on_items: impl Fn() + Send + Sync + 'static,
        on_room: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let core = Core::on(
            Side::new(W::TICKETS, (0..writers.views()).map(|id| writers.own(id, 0))),
            Side::new(R::TICKETS, (0..readers.views()).map(|id| readers.own(id, 0))),
            EventCount::with_hook(Box::new(on_items)),
            EventCount::with_hook(Box::new(on_room)),
            true,
        );
        Self { core: Arc::new(core), writers, readers, items: PhantomData }
    }

    /// How many ids there are for writers and for readers.
    pub fn ids(&self) -> (usize, usize) {
        (self.writers.views(), self.readers.views())
    }

    /// How many consecutive indices each writer owns, if there are several writers and the indices are dealt
    /// by stride.
    pub fn write_range(&self) -> Option<usize> {
        range(&self.writers)
    }

    /// How many consecutive indices each reader owns, if there are several readers and the indices are dealt
    /// by stride.
    pub fn read_range(&self) -> Option<usize> {
        range(&self.readers)
    }
}

/// Polls, and then sleeps by means of `how`, until `look` returns a value.
fn until_by<R>(
    backoff: &Backoff,
    event: &EventCount,
    how: &impl Sleep,
    mut look: impl FnMut() -> Option<R>,
) -> Option<R> {
    backoff.poll(Polling::Busy, &mut look).or_else(|| sleep_until(how, event, look))
}

fn range(deal: &impl Deal) -> Option<usize> {
    let end = if deal.views() > 1 { deal.run_end(0, 0) } else { u64::MAX };
    (end < u64::MAX).then_some(end as usize)
}

impl<T, W: WriteDeal> WriteView<T, W> {
    /// Like [`stall`](Self::stall), for a [`bounded`](Record::bounded) record. The writer sleeps by means of
    /// `how`. Returns `None` if `how` has given up and there is still no room. It does not wait for indices
    /// with [`Tickets`](crate::record::Tickets).
    ///
    /// # Panics
    /// The same as for [`stall`](Self::stall).
    pub fn stall_by(&mut self, n: usize, how: &impl Sleep) -> Option<Result<Slots<'_, Self>, Closed>> {
        Some(self.reserve_by(n, how)?.map(|end| Slots::new(self, end)))
    }

    /// The end of the slots that [`stall_by`](Self::stall_by) reserves.
    pub(in crate::record) fn reserve_by(
        &mut self,
        n: usize,
        how: &impl Sleep,
    ) -> Option<Result<u64, Closed>> {
        match self.reserve(n, false) {
            Ok(end) => return Some(Ok(end)),
            Err(TryStallError::Closed) => return Some(Err(Closed)),
            Err(TryStallError::Full) => {}
        }
        let end = self.deal.run_end(self.id, self.cursor.next).min(self.cursor.next + n as u64);
        let core = &*self.core;
        let limit = until_by(&self.backoff, &core.room, how, || core.room(end))?;
        Some(limit.map(|limit| {
            self.limit = limit;
            end
        }))
    }

    /// Announces that the writer is about to wait for room, although its thread does not sleep. The caller
    /// must look once more afterwards. From then on every change calls the hook, until
    /// [`withdraw`](Self::withdraw).
    pub fn announce(&self) {
        self.core.room.announce();
    }

    /// Takes back the announcement.
    pub fn withdraw(&self) {
        self.core.room.withdraw();
    }

    /// Creates a handle that ends this view from elsewhere. A view may have only one such handle.
    pub fn revoker(&mut self) -> Revoker<T> {
        let lease = self.lease.get_or_insert_with(|| Arc::new(Lease::new()));
        Revoker { core: Arc::clone(&self.core), which: Which::Writers, id: self.id, lease: Arc::clone(lease) }
    }
}

impl<T, R: Deal> ReadView<T, R> {
    /// Like [`receive`](Self::receive), for a [`bounded`](Record::bounded) record. The reader sleeps by means
    /// of `how`. Returns `None` if `how` has given up and the items are not there. It does not wait for
    /// indices with [`Tickets`](crate::record::Tickets).
    ///
    /// # Panics
    /// The same as for [`receive`](Self::receive).
    pub fn receive_by(&mut self, n: usize, how: &impl Sleep) -> Option<Items<'_, Self>> {
        let end = self.await_items_by(n, how)?;
        Some(Items::new(self, end))
    }

    /// The end of the burst that [`receive_by`](Self::receive_by) returns.
    pub(in crate::record) fn await_items_by(&mut self, n: usize, how: &impl Sleep) -> Option<u64> {
        if let Some(end) = self.await_items(n, false) {
            return Some(end);
        }
        let end = self.deal.run_end(self.id, self.cursor.next).min(self.cursor.next + n as u64);
        let core = &*self.core;
        let look = || {
            let (committed, is_final) = core.writers.low_and_final();
            (committed >= end || is_final).then_some(committed)
        };
        self.committed = until_by(&self.backoff, &core.items, how, look)?;
        Some(if self.begin() { end.min(self.committed).max(self.cursor.next) } else { self.cursor.next })
    }

    /// Announces that the reader is about to wait for items, although its thread does not sleep. The caller
    /// must look once more afterwards. From then on every change calls the hook, until
    /// [`withdraw`](Self::withdraw).
    pub fn announce(&self) {
        self.core.items.announce();
    }

    /// Takes back the announcement.
    pub fn withdraw(&self) {
        self.core.items.withdraw();
    }

    /// Creates a handle that ends this view from elsewhere. A view may have only one such handle.
    pub fn revoker(&mut self) -> Revoker<T> {
        let lease = self.lease.get_or_insert_with(|| Arc::new(Lease::new()));
        Revoker { core: Arc::clone(&self.core), which: Which::Readers, id: self.id, lease: Arc::clone(lease) }
    }
}

/// Ends one view of a [`Record`] while the view is elsewhere. For the other views this is the same as
/// dropping the view.
///
/// A burst of the view that is in use stays valid, and the view ends with it. Afterwards the view receives
/// nothing and reserves nothing.
pub struct Revoker<T> {
    core: Arc<Core<T>>,
    which: Which,
    id: usize,
    lease: Arc<Lease>,
}

impl<T> Revoker<T> {
    /// Ends the view: now, or with its current burst.
    pub fn revoke(&self) {
        if self.lease.revoke() {
            let cursor = Cursor { next: 0, end: 0, cell: self.id };
            self.core.disconnect(self.which, self.id, cursor, false);
        }
    }

    /// For a writer: how many items the record would have to hold so that `n` more of its slots were free
    /// now.
    pub fn span_for(&self, n: usize) -> usize {
        let at = self.core.side(self.which).cells[self.id].at.load(Ordering::Acquire);
        at.saturating_add(n as u64).saturating_sub(self.core.low()) as usize
    }

    /// Lets the record hold `horizon` items, if it holds fewer.
    ///
    /// # Panics
    /// If `horizon` is 0 or above 2^32.
    pub fn widen(&self, horizon: usize) {
        self.core.widen(self.which, checked(horizon));
    }
}

impl<T> fmt::Debug for Revoker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Revoker").field("id", &self.id).finish_non_exhaustive()
    }
}

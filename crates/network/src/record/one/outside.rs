//! Operations on a one-to-one record from outside: waits that the caller arranges, and closing a side whose
//! view is elsewhere.

use super::{OneToOne, Reader, Writer};
use crate::record::burst::{Items, Slots};
use crate::record::{
    Closed,
    sleep::{Announced, Sleep},
};
use anabranch_record::sync::{Arc, Ordering};
use std::fmt;

impl<T> Writer<T> {
    /// Like [`stall`](Self::stall), for a [`bounded`](super::bounded) record. The writer sleeps by means of
    /// `how`. Returns `None` if `how` has given up and there is still no room.
    ///
    /// # Panics
    /// The same as for [`stall`](Self::stall).
    #[inline]
    pub fn stall_by(&mut self, n: usize, how: &impl Sleep) -> Option<Result<Slots<'_, Self>, Closed>> {
        Some(self.reserve_by(n, how)?.map(|end| Slots::new(self, end)))
    }

    /// The end of the slots that [`stall_by`](Self::stall_by) reserves.
    #[inline]
    pub(in crate::record) fn reserve_by(
        &mut self,
        n: usize,
        how: &impl Sleep,
    ) -> Option<Result<u64, Closed>> {
        let end = self.end_of(n);
        if end > self.limit {
            match self.wait_for_room_by(end, how)? {
                Ok(limit) => self.limit = limit,
                Err(closed) => return Some(Err(closed)),
            }
        }
        Some(self.reserve(n, false).map_err(|_| Closed))
    }

    /// Announces that the writer is about to wait for room, although its thread does not sleep. The caller
    /// must look once more afterwards. The next release calls the hook, unless the caller
    /// [withdraws](Self::withdraw) before. The caller must then look, and announce itself again if it still has
    /// to wait.
    #[inline]
    pub fn announce(&self) {
        self.shared.room.announce();
    }

    /// Takes back the announcement.
    #[inline]
    pub fn withdraw(&self) {
        self.shared.room.withdraw();
    }

    /// Promises that from now on one thread alone writes, reads, announces and closes. Fences are left out
    /// then. If the promise is broken, hooks may not be called.
    pub fn set_alone(&self) {
        self.shared.items.set_alone();
        self.shared.room.set_alone();
    }

    /// Creates a handle that closes this side from elsewhere.
    pub fn closer(&self) -> Closer<T> {
        Closer { shared: Arc::clone(&self.shared), is_writer: true }
    }
}

impl<T> Reader<T> {
    /// Like [`receive`](Self::receive), for a [`bounded`](super::bounded) record. The reader sleeps by means
    /// of `how`. Returns `None` if `how` has given up and the items are not there.
    ///
    /// # Panics
    /// The same as for [`receive`](Self::receive).
    #[inline]
    pub fn receive_by(&mut self, n: usize, how: &impl Sleep) -> Option<Items<'_, Self>> {
        let end = self.await_items_by(n, how)?;
        Some(Items::new(self, end))
    }

    /// The end of the burst that [`receive_by`](Self::receive_by) returns.
    #[inline]
    pub(in crate::record) fn await_items_by(&mut self, n: usize, how: &impl Sleep) -> Option<u64> {
        let end = self.end_of(n);
        if end > self.committed {
            self.committed = self.wait_for_items_by(end, how)?;
        }
        Some(end.min(self.committed))
    }

    /// Announces that the reader is about to wait for items, although its thread does not sleep. The caller
    /// must look once more afterwards. The next commit calls the hook, unless the caller
    /// [withdraws](Self::withdraw) before. The caller must then look, and announce itself again if it still has
    /// to wait.
    #[inline]
    pub fn announce(&self) {
        self.shared.items.announce();
    }

    /// Takes back the announcement.
    #[inline]
    pub fn withdraw(&self) {
        self.shared.items.withdraw();
    }

    /// Creates a handle that closes this side from elsewhere.
    pub fn closer(&self) -> Closer<T> {
        Closer { shared: Arc::clone(&self.shared), is_writer: false }
    }
}

/// Closes one side of a one-to-one record while its view is elsewhere. For the other side this is the same as
/// dropping the view.
///
/// The closed view can still be used, but the other side may not see what it commits or releases.
pub struct Closer<T> {
    shared: Arc<OneToOne<T>>,
    is_writer: bool,
}

impl<T> Closer<T> {
    /// Closes the side. Items that were committed can still be read.
    pub fn close(&self) {
        // These flags give no slot to another side: the writer still stays below `released + bound`, and the
        // reader below `committed`.
        if self.is_writer {
            self.shared.writer_gone.store(true, Ordering::Release);
            self.shared.items.notify_last();
        } else {
            self.shared.reader_gone.store(true, Ordering::Release);
            self.shared.room.notify_last();
        }
    }

    /// For the writer: how many items the record would have to hold so that `n` more slots were free now.
    pub fn span_for(&self, n: usize) -> usize {
        let released = self.shared.released.load(Ordering::Acquire);
        (self.shared.committed.load(Ordering::Acquire) + n as u64 - released) as usize
    }
}

impl<T> fmt::Debug for Closer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closer").field("is_writer", &self.is_writer).finish_non_exhaustive()
    }
}

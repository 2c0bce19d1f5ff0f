//! What is done to a one-to-one record from outside: waits that the caller arranges, and closing a side whose
//! view somebody else holds.

use super::{Reader, Shared, Slots, Writer, reader::Items};
use crate::{
    record::{Closed, sleep::Sleep},
    sync::{Arc, Ordering},
};
use std::fmt;

impl<T> Writer<T> {
    /// As [`stall`](Self::stall), for a [`bounded`](super::bounded) record: sleeps as `how` says. `None` if `how`
    /// has given up and there still is no room.
    ///
    /// # Panics
    /// As [`stall`](Self::stall).
    pub fn stall_by(&mut self, n: usize, how: &impl Sleep) -> Option<Result<Slots<'_, T>, Closed>> {
        let end = self.end_of(n);
        if end > self.limit {
            match self.wait_for_room_by(end, how)? {
                Ok(limit) => self.limit = limit,
                Err(closed) => return Some(Err(closed)),
            }
        }
        Some(self.try_stall(n).map_err(|_| Closed))
    }

    /// Announces that the writer is about to wait for room without a thread that sleeps. It must look once more
    /// afterwards. From then on every release calls the hook, until [`withdraw`](Self::withdraw).
    #[inline]
    pub fn announce(&self) {
        self.shared.room.announce();
    }

    /// The writer no longer waits.
    #[inline]
    pub fn withdraw(&self) {
        self.shared.room.withdraw();
    }

    /// Says that from now on one thread alone writes, reads, announces and closes. It spares the fences. If it is
    /// not so, hooks may not be called.
    pub fn set_alone(&self) {
        self.shared.items.set_alone();
        self.shared.room.set_alone();
    }

    /// A handle that closes this side from elsewhere.
    pub fn closer(&self) -> Closer<T> {
        Closer { shared: Arc::clone(&self.shared), is_writer: true }
    }
}

impl<T> Reader<T> {
    /// As [`receive`](Self::receive), for a [`bounded`](super::bounded) record: sleeps as `how` says. `None` if
    /// `how` has given up and the items are not there.
    ///
    /// # Panics
    /// As [`receive`](Self::receive).
    pub fn receive_by(&mut self, n: usize, how: &impl Sleep) -> Option<Items<'_, T>> {
        let end = self.end_of(n);
        if end > self.committed {
            self.committed = self.wait_for_items_by(end, how)?;
        }
        let end = end.min(self.committed);
        Some(Items { end, reader: self })
    }

    /// Announces that the reader is about to wait for items without a thread that sleeps. It must look once more
    /// afterwards. From then on every commit calls the hook, until [`withdraw`](Self::withdraw).
    #[inline]
    pub fn announce(&self) {
        self.shared.items.announce();
    }

    /// The reader no longer waits.
    #[inline]
    pub fn withdraw(&self) {
        self.shared.items.withdraw();
    }

    /// A handle that closes this side from elsewhere.
    pub fn closer(&self) -> Closer<T> {
        Closer { shared: Arc::clone(&self.shared), is_writer: false }
    }
}

/// Closes one side of a one-to-one record, as dropping its view would, while somebody else holds the view.
///
/// The other side learns it. The view itself goes on working, on a record where nobody listens any more: a
/// release or commit of a closed view may or may not be seen.
pub struct Closer<T> {
    shared: Arc<Shared<T>>,
    is_writer: bool,
}

impl<T> Closer<T> {
    /// Closes the side. Items that were committed stay readable.
    pub fn close(&self) {
        // No slot changes hands by these flags: the writer still stays below `released + bound`, and the reader
        // below `committed`.
        if self.is_writer {
            self.shared.writer_gone.store(true, Ordering::Release);
            self.shared.items.ring_out();
        } else {
            self.shared.reader_gone.store(true, Ordering::Release);
            self.shared.room.ring_out();
        }
    }

    /// For the writer: how many items the record would have to hold for `n` more slots to be free now.
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

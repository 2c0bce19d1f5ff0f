//! The writing view of a process. It has two interfaces: reserve, write and commit several slots, or push
//! single items.

use std::fmt;

use crate::record::Closed;
use crate::record::port::WritePort;

use super::view_handle::{Lazy, ViewHandle, view};

/// Writes into a record of a [`Network`](super::Network).
///
/// A writer belongs to the process that uses it first. It closes when it is dropped, or when that process
/// ends, even if the process has only borrowed it. A closed writer ends the stream: its readers get the items
/// that were committed, and then nothing.
///
/// If the indices are [dealt](super::Network::shared) to several writers, each writes ranges of indices in
/// turn.
pub struct Writer<T> {
    // Dropped first, because it notes which process has closed the view.
    pub(super) handle: ViewHandle,
    pub(super) port: WritePort<T>,
}

impl<T> Writer<T> {
    /// Waits for room, and writes and commits one item.
    ///
    /// # Errors
    /// [`Closed`] if no reader is left.
    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), Closed> {
        self.handle.enter()?;
        if let WritePort::One(view) = &mut self.port
            && let Ok(mut slots) = view.try_stall(1)
        {
            slots.push(item);
            slots.commit();
            return Ok(());
        }
        self.push_slowly(item)
    }

    /// Writes and commits an item if there is room and a reader now. Gives it back otherwise.
    pub(super) fn try_push(&mut self, item: T) -> Result<(), T> {
        match self.port.try_stall(1) {
            Ok(mut slots) => {
                slots.push(item);
                slots.commit();
                Ok(())
            }
            Err(_) => Err(item),
        }
    }

    #[cold]
    fn push_slowly(&mut self, item: T) -> Result<(), Closed> {
        let mut slots = self.stall(1)?;
        slots.push(item);
        slots.commit();
        Ok(())
    }

    /// Waits for room, and reserves the next `n` slots. With [dealt](super::Network::shared) indices there
    /// are fewer slots at the end of a range. Slots that are not committed are reserved again by the next
    /// call.
    ///
    /// # Errors
    /// [`Closed`] if no reader is left. If `n` is more than the largest horizon that the record may have, the
    /// result is [`Closed`] too, and the network ends with an error.
    ///
    /// # Panics
    /// If `n` is 0.
    #[inline]
    pub fn stall(&mut self, n: usize) -> Result<Slots<'_, T>, Closed> {
        assert!(n > 0, "`stall(0)`: a burst has 1 slot or more");
        self.handle.enter()?;
        if n > self.handle.record.horizon() && !self.widen(n) {
            self.handle.too_wide(n);
            return Err(Closed);
        }
        self.port.widen(n);
        let how = Lazy::new(&mut self.handle, n);
        match self.port.stall_by(n, &how) {
            Some(Ok(slots)) => Ok(slots),
            Some(Err(Closed)) | None => {
                how.notice();
                Err(Closed)
            }
        }
    }

    /// The index in the stream of the next item that the writer will commit.
    pub fn index(&self) -> u64 {
        self.port.index()
    }
}

view!([T] Writer<T>);

impl<T> fmt::Debug for Writer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("record", &self.handle.record.title())
            .field("index", &self.index())
            .finish_non_exhaustive()
    }
}

/// Slots that a [`Writer`] has reserved. Only the writer sees them until they are committed. Dropping this
/// value drops items that were written and not committed.
pub type Slots<'a, T> = crate::record::Slots<'a, WritePort<T>>;

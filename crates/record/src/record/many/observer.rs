//! A look at what flows by, without a place in the record.

use super::core::Core;
use crate::sync::Arc;
use std::{fmt, ops::Range};

/// An unregistered reader of plain-old-data: for instruments and displays (Erbium, section 3, registration).
///
/// It sees the newest items and misses what it is too late for; what it sees is whole. It copies at most
/// the window's items under the lock that moves the window's edge, so a writer that has used up its grant at
/// that moment waits for one copy of a few items, and nobody ever waits for the observer's own code.
///
/// # Examples
/// ```
/// let record = anabranch_record::Record::<u64>::broadcast(1);
/// let (mut writer, _reader) = (record.writer(0, 8).unwrap(), record.reader(0, 8).unwrap());
/// let mut observer = record.observer();
/// let mut slots = writer.stall(6).unwrap();
/// slots.fill(0..);
/// slots.commit();
/// let mut seen = vec![];
/// assert_eq!(observer.observe(4, &mut seen), 2..6);
/// assert_eq!(seen, [2, 3, 4, 5]);
/// assert!(observer.observe(4, &mut seen).is_empty()); // nothing new
/// ```
pub struct Observer<T> {
    core: Arc<Core<T>>,
    /// Items below were seen or missed.
    next: u64,
}

impl<T: Copy + Sync> Observer<T> {
    pub(super) fn new(core: Arc<Core<T>>) -> Self {
        Self { core, next: 0 }
    }

    /// Appends the newest items, at most `n`, that it has not seen, and says their indices. Those between the end
    /// of the last range and the start of this one were missed.
    pub fn observe(&mut self, n: usize, into: &mut Vec<T>) -> Range<u64> {
        into.reserve(n.min(self.core.span() as usize));
        let control = self.core.lock();
        let committed = self.core.writers.low();
        let start = self.next.max(control.floor).max(committed.saturating_sub(n as u64));
        if start >= committed {
            return start..start;
        }
        let mut generation = &*control.oldest;
        for index in start..committed {
            generation = generation.serving(index);
            // SAFETY: the item was committed. Its slot is written over only once an index `capacity` above is
            // granted, which takes a `limit` above `index + capacity >= floor + span`; that cannot happen while
            // the lock is held. Readers may take a `Copy` item, which leaves it in place.
            into.push(*unsafe { generation.get(index) });
        }
        drop(control);
        self.next = committed;
        start..committed
    }
}

impl<T> fmt::Debug for Observer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").field("next", &self.next).finish_non_exhaustive()
    }
}

//! Observers: readers for which no view ever waits.

use super::core::Core;
use anabranch_record::sync::Arc;
use std::{fmt, ops::Range};

/// A reader of `Copy` items that does not register, for instruments and displays (Erbium, section 3,
/// registration).
///
/// It sees the newest items, misses those for which it is too late, and never sees a torn item. It copies at
/// most as many items as the record may hold, and does so under the lock that moves the end of the window. A
/// writer that needs this lock at that moment waits until the items are copied. No view ever waits for the
/// code that uses the observer.
///
/// # Examples
/// ```
/// let record = anabranch_network::record::Record::<u64>::broadcast(1);
/// let (mut writer, _reader) = (record.writer(0, 8).unwrap(), record.reader(0, 8).unwrap());
/// let mut observer = record.observer();
/// let mut slots = writer.stall(6).unwrap();
/// slots.fill(0..);
/// slots.commit();
/// let mut seen = vec![];
/// assert_eq!(observer.observe(4, &mut seen), 2..6);
/// assert_eq!(seen, [2, 3, 4, 5]);
/// assert!(observer.observe(4, &mut seen).is_empty()); // nothing new was committed
/// ```
pub struct Observer<T> {
    core: Arc<Core<T>>,
    /// Every item below this index was seen or missed.
    next: u64,
}

impl<T: Copy + Sync> Observer<T> {
    pub(super) fn new(core: Arc<Core<T>>) -> Self {
        Self { core, next: 0 }
    }

    /// Appends the newest items that it has not seen to `into`, at most `n` of them, and returns their
    /// indices.
    ///
    /// The items between the end of the previous range and the start of this one were missed.
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
            // SAFETY: the item was committed. Its slot is overwritten only after a writer may write an index
            // that is `capacity` higher, which takes a `limit` above `index + capacity >= floor + span`. This
            // cannot happen while the lock is held. Readers may take a `Copy` item, which leaves its bits in
            // place.
            into.push(*unsafe { generation.store(index).get(index) });
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

//! One writer, one reader: the fastest form, and the one whose items the reader owns.
//!
//! Indices only rise: `released <= committed <= released + bound`. Slot *i* belongs to
//!
//! - the reader, if `released <= i < committed`;
//! - the writer, if `committed <= i < released + bound`;
//! - nobody otherwise: the ring has at least `bound` slots, so no two indices of the window share a slot.
//!
//! Each side keeps the other's index as it last saw it, which is a bound on the safe side, and reads it again
//! only when that is not enough. So a burst costs each side one store, one fence and, now and then, one
//! transfer of a cache line.

mod bell;
mod reader;
mod writer;

pub use reader::{Items, Reader};
pub use writer::{Slots, Writer};

use super::{LAST, store::Store};
use crate::leftovers::Leftovers;
use crate::sync::{Arc, AtomicBool, AtomicU64, Ordering, Padded};
use bell::Bell;

/// What the two sides share.
struct Shared<T> {
    /// Items below this index have been handed over. Written by the writer only, with Release: whoever reads
    /// it with Acquire sees those items. At most `released + bound`, at most [`LAST`].
    committed: Padded<AtomicU64>,
    /// Items below this index are gone. Written by the reader only, with Release: whoever reads it with
    /// Acquire may write over them. At most `committed`.
    released: Padded<AtomicU64>,
    /// The reader waits here for items.
    items: Bell,
    /// The writer waits here for room.
    room: Bell,
    /// False at first, true once the writer was dropped; `committed` is final then.
    writer_gone: AtomicBool,
    /// False at first, true once the reader was dropped; `released` is final then.
    reader_gone: AtomicBool,
    store: Store<T>,
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        if std::mem::needs_drop::<T>() {
            let released = self.released.load(Ordering::Acquire);
            let mut leftovers = Leftovers::default();
            for index in released..self.committed.load(Ordering::Acquire) {
                // SAFETY: both sides are gone, so this is the only access, and `released <= index < committed`
                // says that the slot holds an item. Each is taken once.
                leftovers.drop(|| drop(unsafe { self.store.take(index) }));
            }
        }
    }
}

/// A record with one writer and one reader.
///
/// The writer may reserve at most `write_horizon` slots at a time, and the reader hold at most `read_horizon`
/// items; together they are the most items that are ever in the record (Erbium, section 4: the buffer is the
/// sum of the widest write view and the widest read view).
///
/// # Panics
/// If a horizon is 0 or their sum is above 2^48.
///
/// # Examples
/// ```
/// let (mut writer, mut reader) = anabranch_record::one_to_one::<u64>(64, 64);
/// std::thread::scope(|scope| {
///     scope.spawn(move || {
///         for burst in 0..10 {
///             let mut slots = writer.stall(64).unwrap();
///             for slice in slots.slices_mut() {
///                 slice.fill(burst);
///             }
///             slots.commit();
///         }
///     });
///     let mut sum = 0;
///     loop {
///         let items = reader.receive(48); // need not be the writer's burst
///         if items.is_empty() {
///             break;
///         }
///         sum += items.slices().into_iter().flatten().sum::<u64>();
///         items.release();
///     }
///     assert_eq!(sum, 64 * 45);
/// });
/// ```
pub fn one_to_one<T: Send>(write_horizon: usize, read_horizon: usize) -> (Writer<T>, Reader<T>) {
    starting_at(0, write_horizon, read_horizon)
}

/// A record whose first index is `first`: for tests of what happens at [`LAST`].
fn starting_at<T: Send>(first: u64, write_horizon: usize, read_horizon: usize) -> (Writer<T>, Reader<T>) {
    assert!(write_horizon > 0 && read_horizon > 0, "a horizon is at least 1");
    let (write_horizon, read_horizon) = (write_horizon as u64, read_horizon as u64);
    let bound = write_horizon.saturating_add(read_horizon);
    let shared = Arc::new(Shared {
        committed: Padded(AtomicU64::new(first)),
        released: Padded(AtomicU64::new(first)),
        items: Bell::new(),
        room: Bell::new(),
        writer_gone: AtomicBool::new(false),
        reader_gone: AtomicBool::new(false),
        store: Store::new(bound),
    });
    let limit = first.saturating_add(bound).min(LAST);
    (
        Writer::new(Arc::clone(&shared), first, limit, write_horizon, bound),
        Reader::new(shared, first, read_horizon),
    )
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "index limit")]
    fn stalling_past_the_last_index_panics_instead_of_wrapping() {
        let (mut writer, mut reader) = starting_at::<u8>(LAST - 3, 4, 4);
        let mut slots = writer.stall(3).unwrap();
        slots.slices_mut()[0].fill(7);
        slots.commit();
        assert_eq!(reader.receive(3).len(), 3);
        let _ = writer.stall(1);
    }
}

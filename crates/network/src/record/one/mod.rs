//! One writer and one reader. This is the fastest form of a record, and the reader owns the items.
//!
//! Indices only rise, and `released <= committed <= released + bound` holds at all times. Slot *i* belongs to
//!
//! - the reader, if `released <= i < committed`;
//! - the writer, if `committed <= i < released + bound`;
//! - neither of them otherwise. The ring has at least `bound` slots, so no two indices of the window share a
//!   slot.
//!
//! Each side keeps the other's index as it last saw it. An old value errs on the safe side, so a side reads
//! the index again only when the old value is not enough. A burst therefore costs each side one store, one
//! fence and, now and then, one transfer of a cache line.

mod notifier;
mod outside;
mod reader;
mod writer;

pub use outside::Closer;
pub use reader::Reader;
pub use writer::Writer;

use super::{INDEX_LIMIT, store::Store};
use anabranch_record::leftovers::Leftovers;
use anabranch_record::sync::{Arc, AtomicBool, AtomicU64, Ordering, Padded};
use notifier::Notifier;

/// The state that both sides share.
struct OneToOne<T> {
    /// Every item below this index was handed over. Only the writer writes it, with Release: a thread that
    /// loads it with Acquire sees those items. At most `released + bound`, and at most [`INDEX_LIMIT`].
    committed: Padded<AtomicU64>,
    /// Every item below this index is gone. Only the reader writes it, with Release: a thread that loads it
    /// with Acquire may overwrite those slots. At most `committed`.
    released: Padded<AtomicU64>,
    /// The reader waits here for items.
    items: Notifier,
    /// The writer waits here for room.
    room: Notifier,
    /// Set when the writer was dropped. `committed` is final then.
    writer_gone: AtomicBool,
    /// Set when the reader was dropped. `released` is final then.
    reader_gone: AtomicBool,
    store: Store<T>,
}

impl<T> Drop for OneToOne<T> {
    fn drop(&mut self) {
        if std::mem::needs_drop::<T>() {
            let released = self.released.load(Ordering::Acquire);
            let mut leftovers = Leftovers::default();
            for index in released..self.committed.load(Ordering::Acquire) {
                // SAFETY: both sides are gone, so this is the only access. `released <= index < committed`
                // says that the slot holds an item, and each item is taken once.
                leftovers.drop(|| drop(unsafe { self.store.take(index) }));
            }
        }
    }
}

/// Creates a record with one writer and one reader.
///
/// The writer may reserve at most `write_horizon` slots at a time, and the reader may hold at most
/// `read_horizon` items. The record never holds more items than the sum of the two (Erbium, section 4: the
/// buffer is the widest write view plus the widest read view).
///
/// # Panics
/// If a horizon is 0, or if their sum is above 2^48.
///
/// # Examples
/// ```
/// let (mut writer, mut reader) = anabranch_network::record::one_to_one::<u64>(64, 64);
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
///         let items = reader.receive(48); // may differ from the writer's burst
///         if items.is_empty() {
///             break;
///         }
///         sum += items.slices().flatten().sum::<u64>();
///         items.release();
///     }
///     assert_eq!(sum, 64 * 45);
/// });
/// ```
pub fn one_to_one<T: Send>(write_horizon: usize, read_horizon: usize) -> (Writer<T>, Reader<T>) {
    starting_at(0, write_horizon, read_horizon)
}

/// Creates a record whose first index is `first`, to test what happens at [`INDEX_LIMIT`].
fn starting_at<T: Send>(first: u64, write_horizon: usize, read_horizon: usize) -> (Writer<T>, Reader<T>) {
    assert!(write_horizon > 0 && read_horizon > 0, "a horizon must be at least 1, not 0");
    let bound = (write_horizon as u64).saturating_add(read_horizon as u64);
    with_bells(first, (write_horizon, read_horizon), bound, (Notifier::new(), Notifier::new()))
}

/// Creates a record with one writer and one reader that holds at most `horizon` items. Each side may use all
/// of them at once.
///
/// No thread waits inside of the record: [`Writer::stall_by`] and [`Reader::receive_by`] sleep as their
/// caller arranges. The record calls `on_items` when a reader that has announced itself may continue, and
/// `on_room` when a writer may. It calls them on the thread that made the change. They should do no more than
/// wake a thread.
///
/// # Panics
/// If `horizon` is 0 or above 2^48.
pub fn bounded<T: Send>(
    horizon: usize,
    on_items: impl Fn() + Send + Sync + 'static,
    on_room: impl Fn() + Send + Sync + 'static,
) -> (Writer<T>, Reader<T>) {
    assert!(horizon > 0, "a horizon must be at least 1, not 0");
    let notifiers = (Notifier::with_hook(Box::new(on_items)), Notifier::with_hook(Box::new(on_room)));
    with_bells(0, (horizon, horizon), horizon as u64, notifiers)
}

fn with_bells<T: Send>(
    first: u64,
    (write_horizon, read_horizon): (usize, usize),
    bound: u64,
    (items, room): (Notifier, Notifier),
) -> (Writer<T>, Reader<T>) {
    let (write_horizon, read_horizon) = (write_horizon as u64, read_horizon as u64);
    let shared = Arc::new(OneToOne {
        committed: Padded::new(AtomicU64::new(first)),
        released: Padded::new(AtomicU64::new(first)),
        items,
        room,
        writer_gone: AtomicBool::new(false),
        reader_gone: AtomicBool::new(false),
        store: Store::new(first, bound),
    });
    let limit = first.saturating_add(bound).min(INDEX_LIMIT);
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
        let (mut writer, mut reader) = starting_at::<u8>(INDEX_LIMIT - 3, 4, 4);
        let mut slots = writer.stall(3).unwrap();
        slots.slices_mut().next().unwrap().fill(7);
        slots.commit();
        assert_eq!(reader.receive(3).len(), 3);
        let _ = writer.stall(1);
    }
}

//! The handle of a record, with which views register.

use super::{
    core::{Core, Which, checked},
    deal::{All, Dealt, ReadDeal, WriteDeal},
    observer::Observer,
    reader::ReadView,
    side::Side,
    writer::WriteView,
};
use crate::record::RegisterError;
use anabranch_record::sync::Arc;
use std::{fmt, marker::PhantomData};

/// A record with any number of writers and readers. The value is a handle with which views register.
///
/// A record is created for a fixed number of views on each side, and their ids count from 0. Items flow once
/// every view has registered, so no item is lost to a late reader. A view that [leaves](WriteView::leave)
/// hands its id to a successor, which continues exactly where the view stopped. A view that is dropped ends
/// its part for good:
///
/// - A writer with [`Dealt`] indices: the stream ends at the first index that this writer will not write.
/// - A writer with [`Tickets`](crate::record::Tickets): other writers take over its claim. The stream ends when all writers have
///   gone.
/// - A reader that sees [`All`] items: the record no longer waits for it.
/// - A reader with [`Dealt`] indices: its share is dropped unread.
/// - A reader with [`Tickets`](crate::record::Tickets): other readers take over its claim.
/// - The last reader: the record is closed, and writers get an error.
///
/// When the last clone of the handle is dropped, ids without a connected view have ended too.
///
/// The record holds at most as many items as the widest horizon of a writer plus the widest horizon of a
/// reader (Erbium, section 4). It grows when a wider view connects, and no view is stopped for that.
///
/// # Examples
/// ```
/// use anabranch_network::record::Record;
///
/// let record = Record::broadcast(2); // one writer, two readers that see every item
/// let mut writer = record.writer(0, 16).unwrap();
/// let sums = std::thread::scope(|scope| {
///     let readers = [0, 1].map(|id| {
///         let mut reader = record.reader(id, 16).unwrap();
///         scope.spawn(move || {
///             let mut sum = 0u64;
///             loop {
///                 let items = reader.receive(8);
///                 if items.is_empty() {
///                     return sum;
///                 }
///                 sum += items.iter().sum::<u64>();
///                 items.release();
///             }
///         })
///     });
///     for i in 0..10 {
///         let mut slots = writer.stall(10).unwrap();
///         slots.fill(i * 10..);
///         slots.commit();
///     }
///     drop(writer);
///     readers.map(|reader| reader.join().unwrap())
/// });
/// assert_eq!(sums, [4950, 4950]);
/// ```
pub struct Record<T, W: WriteDeal = Dealt, R: ReadDeal<T> = All> {
    pub(super) core: Arc<Core<T>>,
    pub(super) writers: W,
    pub(super) readers: R,
    pub(super) items: PhantomData<T>,
}

impl<T: Send + Sync> Record<T, Dealt, All> {
    /// Creates a record with one writer and `readers` readers. Each reader sees every item.
    ///
    /// # Panics
    /// If `readers` is 0.
    pub fn broadcast(readers: usize) -> Self {
        Self::new(Dealt::one(), All::of(readers))
    }
}

impl<T: Send, W: WriteDeal, R: ReadDeal<T>> Record<T, W, R> {
    /// Creates a record whose indices are dealt to `writers` and to `readers` (Erbium, section 3,
    /// `new_record`).
    ///
    /// # Examples
    /// ```
    /// use anabranch_network::record::{Dealt, Record, Tickets};
    ///
    /// // three writers take turns of eight items; two readers take items on demand
    /// let record = Record::<String, _, _>::new(Dealt::of(3, 8), Tickets::of(2));
    /// ```
    pub fn new(writers: W, readers: R) -> Self {
        let core = Core::new(
            Side::new(W::TICKETS, (0..writers.views()).map(|id| writers.own(id, 0))),
            Side::new(R::TICKETS, (0..readers.views()).map(|id| readers.own(id, 0))),
        );
        Self { core: Arc::new(core), writers, readers, items: PhantomData }
    }

    /// Registers writer `id`, which will reserve at most `horizon` slots at a time.
    ///
    /// # Errors
    /// [`RegisterError`] if there is no such id, if a view with this id is connected, or if the id has ended.
    ///
    /// # Panics
    /// If `horizon` is 0 or above 2^32.
    pub fn writer(&self, id: usize, horizon: usize) -> Result<WriteView<T, W>, RegisterError> {
        let horizon = checked(horizon);
        let (cursor, generation) =
            self.core.connect(Which::Writers, id, horizon, || self.writers.own(id, 0))?;
        Ok(WriteView::new(Arc::clone(&self.core), self.writers, id, cursor, generation, horizon))
    }

    /// Registers reader `id`, which will hold at most `horizon` items at a time.
    ///
    /// # Errors
    /// [`RegisterError`] if there is no such id, if a view with this id is connected, or if the id has ended.
    ///
    /// # Panics
    /// If `horizon` is 0 or above 2^32.
    pub fn reader(&self, id: usize, horizon: usize) -> Result<ReadView<T, R>, RegisterError> {
        let horizon = checked(horizon);
        let (cursor, generation) =
            self.core.connect(Which::Readers, id, horizon, || self.readers.own(id, 0))?;
        Ok(ReadView::new(Arc::clone(&self.core), self.readers, id, cursor, generation, horizon))
    }

    /// Creates an observer: a reader that does not register. It misses the items for which it is too late,
    /// and no view ever waits for it.
    pub fn observer(&self) -> Observer<T>
    where
        T: Copy + Sync,
    {
        Observer::new(Arc::clone(&self.core))
    }

    /// How many items the record may hold at a time. 0 until every view has registered.
    pub fn span(&self) -> usize {
        self.core.span() as usize
    }
}

impl<T, W: WriteDeal, R: ReadDeal<T>> Clone for Record<T, W, R> {
    fn clone(&self) -> Self {
        self.core.add_handle();
        Self {
            core: Arc::clone(&self.core),
            writers: self.writers,
            readers: self.readers,
            items: PhantomData,
        }
    }
}

impl<T, W: WriteDeal, R: ReadDeal<T>> Drop for Record<T, W, R> {
    fn drop(&mut self) {
        self.core.remove_handle(|which, id| match which {
            Which::Writers => self.writers.own(id, 0),
            Which::Readers => self.readers.own(id, 0),
        });
    }
}

impl<T, W: WriteDeal, R: ReadDeal<T>> fmt::Debug for Record<T, W, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("writers", &self.writers)
            .field("readers", &self.readers)
            .field("span", &self.core.span())
            .finish_non_exhaustive()
    }
}

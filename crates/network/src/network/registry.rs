//! Records whose views are registered while the network runs.

use std::fmt;
use std::sync::{Arc, Weak};

use crate::record::{Dealt, Observer, ReadDeal, Record, RegisterError};
use anabranch_record::sync::{Mutex, lock};

use super::{
    Horizon,
    contents::{Contents, ViewControl},
    reader::Reader,
    records::{RecordInfo, Side},
    wait_list::WaitLists,
    writer::Writer,
};

/// A record with which processes register views while they run.
/// [`Network::registry`](super::Network::registry) makes it. [`Here::writer`](super::Here::writer) and
/// [`Here::reader`](super::Here::reader) register views. A clone is a handle of the same record.
///
/// Items flow after every id of both sides has been registered, so no reader misses an item. A view that
/// [leaves](Reader::leave) hands its id to the next process that asks for it, which goes on where the view
/// stopped. A view that is dropped, or closes with its process, ends its id for good. A view with a wider
/// horizon makes the record grow. Ids without a view end when the last clone of the registry is dropped, or
/// when all processes of the network wait.
pub struct Registry<T: Send, R: ReadDeal<T>> {
    shared: Arc<Registered<T, R>>,
}

struct Registered<T: Send, R: ReadDeal<T>> {
    /// Locked, so that a registry can be shared between threads even if items cannot.
    record: Mutex<Record<T, Dealt, R>>,
    info: anabranch_record::sync::Arc<RecordInfo>,
    wait_lists: WaitLists,
}

/// Ends the ids that have no view.
struct Vacant<T: Send, R: ReadDeal<T>>(Weak<Registered<T, R>>);

impl<T: Send, R: ReadDeal<T>> ViewControl for Vacant<T, R> {
    fn close(&self) {
        let Some(shared) = self.0.upgrade() else { return };
        let record = lock(&shared.record);
        let (writers, readers) = record.ids();
        // A view that is registered and dropped ends its id. The registration fails for ids that have a view
        // or have ended.
        (0..writers).for_each(|id| drop(record.writer(id, 1)));
        (0..readers).for_each(|id| drop(record.reader(id, 1)));
    }

    fn span_for(&self, _: usize) -> usize {
        0
    }

    fn grow(&self, _: usize) {}
}

impl<'env, E: Send> Contents<'env, E> {
    pub(super) fn registry<T: Send + 'env, R: ReadDeal<T>>(
        &self,
        mut horizon: Horizon,
        writers: Dealt,
        readers: R,
    ) -> Registry<T, R> {
        let info = self.new_record::<T>(&mut horizon, 0);
        let wait_lists = WaitLists::new(&self.network);
        let (on_items, on_room) = wait_lists.hooks();
        let record = Mutex::new(Record::bounded(writers, readers, on_items, on_room));
        let shared = Arc::new(Registered { record, info, wait_lists });
        lock(&self.views).add(Side::Writers, Vacant(Arc::downgrade(&shared)));
        Registry { shared }
    }

    /// The horizon of a view that asks for this one. If a record cannot hold so many items, the network ends with an error.
    fn horizon_of_view(&self, asked: usize, info: &RecordInfo) -> usize {
        if asked <= *Horizon::POSSIBLE.end() {
            return asked.max(1);
        }
        self.network.misuse(format!(
            "a view with a horizon of {asked} items is registered with {}: a horizon is 1 to 2^32",
            info.title()
        ));
        1
    }

    pub(super) fn register_writer<T: Send + 'env, R: ReadDeal<T>>(
        &self,
        registry: &Registry<T, R>,
        id: usize,
        horizon: usize,
    ) -> Result<Writer<T>, RegisterError> {
        let Registered { record, info, wait_lists } = &*registry.shared;
        let horizon = self.horizon_of_view(horizon, info);
        let writer = self.writer(&lock(record), id, horizon, info, wait_lists)?;
        info.set_horizon(info.horizon().max(horizon));
        Ok(writer)
    }

    pub(super) fn register_reader<T: Send + 'env, R: ReadDeal<T>>(
        &self,
        registry: &Registry<T, R>,
        id: usize,
        horizon: usize,
    ) -> Result<Reader<T, R>, RegisterError> {
        let Registered { record, info, wait_lists } = &*registry.shared;
        let horizon = self.horizon_of_view(horizon, info);
        let reader = self.reader(&lock(record), id, horizon, info, wait_lists)?;
        info.set_horizon(info.horizon().max(horizon));
        Ok(reader)
    }
}

impl<T: Copy + Send + Sync, R: ReadDeal<T>> Registry<T, R> {
    /// Creates an observer: a reader that is not registered. No writer waits for it. It sees the items that
    /// are in the record when it looks, and misses the others. This depends on the schedule, so an observer
    /// is for instruments and displays.
    pub fn observer(&self) -> Observer<T> {
        lock(&self.shared.record).observer()
    }
}

impl<T: Send, R: ReadDeal<T>> Registry<T, R> {
    /// How many items the record may hold. The widest views decide. The result is 0 until every id has been
    /// registered.
    pub fn span(&self) -> usize {
        lock(&self.shared.record).span()
    }
}

impl<T: Send, R: ReadDeal<T>> Clone for Registry<T, R> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<T: Send, R: ReadDeal<T>> fmt::Debug for Registry<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("record", &self.shared.info.title()).finish_non_exhaustive()
    }
}

//! Descriptions of the records and views of a network that do not depend on the type of the items.

use anabranch_record::sync::{Arc, AtomicUsize, Mutex, Ordering};

/// How many items a record of a [`Network`](super::Network) may hold. Items count from the time when a writer
/// reserves their slots until they are released. A horizon is made from a number, or by [`Horizon::of`].
///
/// ```
/// use anabranch_network::{Horizon, Network};
///
/// let mut net = Network::<String>::new();
/// let (_give, _take) = net.record::<f32>(64);
/// // 8 items, and up to 1,024 if that is needed to avoid a deadlock
/// let (_give, _take) = net.record::<f32>(Horizon::of(8).grow_to(1_024).named("samples"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Horizon {
    pub(super) items: usize,
    pub(super) most: usize,
    pub(super) name: Option<String>,
    /// The stage in front of which the items wait, if this is not a record of the user.
    pub(super) stage: Option<String>,
}

impl Horizon {
    /// The numbers of items that a record may hold.
    pub(super) const POSSIBLE: std::ops::RangeInclusive<usize> = 1..=1 << 32;

    /// A horizon of `items` items, from 1 to 2^32.
    pub fn of(items: usize) -> Self {
        Self { items, most: items, name: None, stage: None }
    }

    /// Lets the record grow up to `most` items. Records grow only when no process can go on otherwise; then
    /// the smallest full record grows (T. Parks, *Bounded Scheduling of Process Networks*, 1995, section
    /// 4.2).
    #[must_use]
    pub fn grow_to(mut self, most: usize) -> Self {
        self.most = most.max(self.items);
        self
    }

    /// Says that the items wait in front of a stage.
    pub(super) fn of_stage(self, stage: &str) -> Self {
        Self { stage: Some(stage.into()), ..self }
    }

    /// Names the record, for messages and graphs.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }
}

impl From<usize> for Horizon {
    fn from(items: usize) -> Self {
        Self::of(items)
    }
}

/// One of the two sides of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Writers,
    Readers,
}

impl Side {
    pub(super) fn other(self) -> Self {
        match self {
            Side::Writers => Side::Readers,
            Side::Readers => Side::Writers,
        }
    }
}

/// The description of a record.
#[derive(Debug)]
pub struct RecordInfo {
    pub(super) index: usize,
    pub(super) name: Option<String>,
    /// The stage in front of which the items wait, if this is not a record of the user.
    pub(super) stage: Option<String>,
    /// The name of the items' type.
    pub(super) type_name: &'static str,
    /// The size of an item in bytes.
    pub(super) item_bytes: usize,
    /// How many items the record may hold at this moment.
    horizon: AtomicUsize,
    /// How many items the record may hold after it has grown as far as it may.
    pub(super) most: usize,
    /// How many items are in the record from the start.
    pub(super) initial: usize,
    pub(super) writers: Mutex<Vec<Arc<ViewInfo>>>,
    pub(super) readers: Mutex<Vec<Arc<ViewInfo>>>,
}

impl RecordInfo {
    pub(super) fn new<T>(index: usize, horizon: &super::Horizon, initial: usize) -> Arc<Self> {
        Arc::new(Self {
            index,
            name: horizon.name.clone(),
            stage: horizon.stage.clone(),
            type_name: std::any::type_name::<T>(),
            item_bytes: size_of::<T>(),
            horizon: AtomicUsize::new(horizon.items),
            most: horizon.most,
            initial,
            writers: Mutex::default(),
            readers: Mutex::default(),
        })
    }

    pub(super) fn horizon(&self) -> usize {
        self.horizon.load(Ordering::Relaxed)
    }

    pub(super) fn set_horizon(&self, items: usize) {
        self.horizon.store(items, Ordering::Relaxed);
    }

    pub(super) fn views(&self, side: Side) -> &Mutex<Vec<Arc<ViewInfo>>> {
        match side {
            Side::Writers => &self.writers,
            Side::Readers => &self.readers,
        }
    }

    /// The record as messages name it, for example `record "samples" of f32` or `record 3 of u64`.
    pub(super) fn title(&self) -> String {
        let type_name = short(self.type_name);
        match (&self.stage, &self.name) {
            (Some(stage), _) => format!("the queue of {type_name} before stage \"{stage}\""),
            (None, Some(name)) => format!("record \"{name}\" of {type_name}"),
            (None, None) => format!("record {} of {type_name}", self.index),
        }
    }
}

/// The name of a type, without the paths of the types in it.
fn short(name: &str) -> String {
    let mut text = String::new();
    for part in name.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
        text.push_str(part.rsplit("::").next().unwrap_or(part));
    }
    text
}

/// No process.
const NOBODY: usize = 0;
/// The view was closed because the network ends.
const ENDING: usize = usize::MAX;
/// The view was closed because nobody had used it when the network stood still.
const FORGOTTEN: usize = usize::MAX - 1;

/// The reason why a view was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// The process with this index has dropped the view, or has ended.
    Process(usize),
    /// A thread outside of the network has dropped the view.
    Outside,
    /// The network ends.
    Ending,
    /// All processes waited, and no process had used the view.
    Forgotten,
}

/// The description of a view.
#[derive(Debug)]
pub struct ViewInfo {
    /// The key of the view in [`Views`](super::contents::Views).
    pub(super) index: usize,
    pub(super) side: Side,
    /// The index of the process that owns the view, plus 1. `NOBODY` if no process owns it.
    owner: AtomicUsize,
    /// 0 while the view is open. Afterwards the reason why it was closed: 1 for a thread outside of the
    /// network, `ENDING`, `FORGOTTEN`, or the index of a process plus 2.
    closing: AtomicUsize,
}

impl ViewInfo {
    pub(super) fn new(index: usize, side: Side) -> Arc<Self> {
        Arc::new(Self { index, side, owner: AtomicUsize::new(NOBODY), closing: AtomicUsize::new(0) })
    }

    /// The index of the process that owns the view.
    pub(super) fn owner(&self) -> Option<usize> {
        self.owner.load(Ordering::Acquire).checked_sub(1)
    }

    pub(super) fn set_owner(&self, process: Option<usize>) {
        self.owner.store(process.map_or(NOBODY, |index| index + 1), Ordering::Release);
    }

    pub(super) fn is_open(&self) -> bool {
        self.closing.load(Ordering::Acquire) == 0
    }

    /// The reason why the view was closed. `None` while it is open.
    pub(super) fn closing(&self) -> Option<Closing> {
        match self.closing.load(Ordering::Acquire) {
            0 => None,
            1 => Some(Closing::Outside),
            ENDING => Some(Closing::Ending),
            FORGOTTEN => Some(Closing::Forgotten),
            index => Some(Closing::Process(index - 2)),
        }
    }

    /// Notes the reason of a close. To be called before the view is closed. Returns `false` if the view was
    /// closed already.
    pub(super) fn close(&self, by: Closing) -> bool {
        let word = match by {
            Closing::Process(index) => index + 2,
            Closing::Outside => 1,
            Closing::Ending => ENDING,
            Closing::Forgotten => FORGOTTEN,
        };
        self.closing.compare_exchange(0, word, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

/// The items or the room that a process waits for.
#[derive(Debug, Clone)]
pub struct Wait {
    pub(super) record: Arc<RecordInfo>,
    /// The index of the view that waits.
    pub(super) view: usize,
    pub(super) side: Side,
    /// How many items or slots.
    pub(super) count: usize,
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_types_name_is_shown_without_paths() {
        assert_eq!(super::short("alloc::vec::Vec<core::option::Option<u8>>"), "Vec<Option<u8>>");
        assert_eq!(super::short("(f32, &str)"), "(f32, &str)");
    }
}

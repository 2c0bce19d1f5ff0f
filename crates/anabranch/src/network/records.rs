//! What is known of each record and view of a network, whatever the type of its items.

use anabranch_record::sync::{Arc, AtomicUsize, Mutex, Ordering, lock};

use super::{hub::Hub, process::Actor, rule::RuleLink};

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

/// A record.
#[derive(Debug)]
pub struct RecordInfo {
    pub(super) index: usize,
    pub(super) name: Option<String>,
    /// The type of its items.
    pub(super) type_name: &'static str,
    pub(super) item_bytes: usize,
    /// How many items it may hold now.
    horizon: AtomicUsize,
    /// How many it may hold if it must.
    pub(super) most: usize,
    /// How many are there from the start.
    pub(super) initial: usize,
    pub(super) writers: Mutex<Vec<Arc<ViewInfo>>>,
    pub(super) readers: Mutex<Vec<Arc<ViewInfo>>>,
}

impl RecordInfo {
    pub(super) fn new<T>(index: usize, horizon: &super::Horizon, initial: usize) -> Arc<Self> {
        Arc::new(Self {
            index,
            name: horizon.name.clone(),
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

    /// How messages call it: `record "samples" of f32`, `record 3 of u64`.
    pub(super) fn title(&self) -> String {
        let type_name = short(self.type_name);
        match &self.name {
            Some(name) => format!("record \"{name}\" of {type_name}"),
            None => format!("record {} of {type_name}", self.index),
        }
    }
}

/// A type's name without the paths of its parts.
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

/// Who closed a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// The process of this index.
    Process(usize),
    /// Somebody outside of the network.
    Outside,
    /// The network ends.
    Ending,
    /// The network stood still and nobody had used the view.
    Forgotten,
}

/// A view, whoever holds it.
#[derive(Debug)]
pub struct ViewInfo {
    /// Where its face is.
    pub(super) index: usize,
    pub(super) side: Side,
    /// The process that owns it: its index and 1, or 0.
    owner: AtomicUsize,
    /// Who has closed it: 0 while it is open; the index of a process and 2; or 1 for somebody outside.
    closing: AtomicUsize,
}

impl ViewInfo {
    pub(super) fn new(index: usize, side: Side) -> Arc<Self> {
        Arc::new(Self { index, side, owner: AtomicUsize::new(NOBODY), closing: AtomicUsize::new(0) })
    }

    /// The index of the process that owns it.
    pub(super) fn owner(&self) -> Option<usize> {
        self.owner.load(Ordering::Acquire).checked_sub(1)
    }

    pub(super) fn set_owner(&self, process: Option<usize>) {
        self.owner.store(process.map_or(NOBODY, |index| index + 1), Ordering::Release);
    }

    pub(super) fn is_open(&self) -> bool {
        self.closing.load(Ordering::Acquire) == 0
    }

    /// Who closed it.
    pub(super) fn closing(&self) -> Option<Closing> {
        match self.closing.load(Ordering::Acquire) {
            0 => None,
            1 => Some(Closing::Outside),
            ENDING => Some(Closing::Ending),
            FORGOTTEN => Some(Closing::Forgotten),
            index => Some(Closing::Process(index - 2)),
        }
    }

    /// Says who closes it, before it is closed. False if somebody has closed it already.
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

/// Who waits at one side of a record: called by the record when that side may go on.
#[derive(Default)]
pub(super) struct Door {
    waiters: Mutex<Vec<Waiter>>,
    /// The one rule at this side of a record with one view on it.
    rule: std::sync::OnceLock<Arc<RuleLink>>,
}

/// Somebody who waits at a door now and then.
#[derive(Clone)]
pub(super) enum Waiter {
    Actor(Arc<Actor>),
    Rule(Arc<RuleLink>),
}

impl Door {
    /// Adds somebody for good.
    pub(super) fn enlist(&self, waiter: Waiter) {
        lock(&self.waiters).push(waiter);
    }

    /// Adds a rule, which is the only one who will ever wait here if it `is_alone`.
    pub(super) fn give_to_rule(&self, rule: &Arc<RuleLink>, is_alone: bool) {
        if !is_alone || self.rule.set(Arc::clone(rule)).is_err() {
            self.enlist(Waiter::Rule(Arc::clone(rule)));
        }
    }

    /// Wakes whoever sleeps here. Those who do not are not harmed.
    pub(super) fn knock(&self, hub: &Hub) {
        if let Some(rule) = self.rule.get() {
            return rule.poke();
        }
        for waiter in lock(&self.waiters).iter() {
            match waiter {
                Waiter::Actor(actor) => actor.wake(hub),
                Waiter::Rule(rule) => rule.poke(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_types_name_is_shown_without_paths() {
        assert_eq!(super::short("alloc::vec::Vec<core::option::Option<u8>>"), "Vec<Option<u8>>");
        assert_eq!(super::short("(f32, &str)"), "(f32, &str)");
    }
}

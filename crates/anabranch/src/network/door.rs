//! The doors of a record: who waits at each of its sides, and is woken when that side may go on.

use anabranch_record::sync::{Arc, Mutex, lock};

use super::{hub::Hub, process::Actor, queue::RuleLink};

/// The processes and rules that may wait at one side of a record. The record calls it when that side may go
/// on.
#[derive(Default)]
pub(super) struct Door {
    waiters: Mutex<Vec<Waiter>>,
    /// The rule at this side, if this side has one view and a rule has it.
    rule: std::sync::OnceLock<Arc<RuleLink>>,
}

/// A process or a rule that may wait at a door.
#[derive(Clone)]
pub(super) enum Waiter {
    Actor(Arc<Actor>),
    Rule(Arc<RuleLink>),
}

impl Door {
    /// Adds a waiter, which stays until the door is dropped.
    pub(super) fn enlist(&self, waiter: Waiter) {
        lock(&self.waiters).push(waiter);
    }

    /// Adds a rule. If it `is_alone`, nothing else ever waits at this door.
    pub(super) fn give_to_rule(&self, rule: &Arc<RuleLink>, is_alone: bool) {
        if !is_alone || self.rule.set(Arc::clone(rule)).is_err() {
            self.enlist(Waiter::Rule(Arc::clone(rule)));
        }
    }

    /// Wakes every process that sleeps at this door, and pokes every rule. A process that does not sleep just
    /// looks once more.
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

/// The doors at both sides of a record.
#[derive(Clone)]
pub(super) struct Doors {
    hub: Arc<Hub>,
    pub(super) items: Arc<Door>,
    pub(super) room: Arc<Door>,
}

impl Doors {
    pub(super) fn new(hub: &Arc<Hub>) -> Self {
        Self { hub: Arc::clone(hub), items: Arc::default(), room: Arc::default() }
    }

    /// The hooks of the record: one to call when readers may go on, and one for writers.
    pub(super) fn hooks(&self) -> (impl Fn() + Send + Sync + 'static, impl Fn() + Send + Sync + 'static) {
        let knock = |door: &Arc<Door>| {
            let (door, hub) = (Arc::clone(door), Arc::clone(&self.hub));
            move || door.knock(&hub)
        };
        (knock(&self.items), knock(&self.room))
    }
}

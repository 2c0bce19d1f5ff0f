//! The wait lists of a record: the processes and rules that wait at each of its sides, and are woken when that side may go on.

use anabranch_record::sync::{Arc, Mutex, lock};

use super::{process::Actor, queue::RuleLink, state::NetworkState};

/// The processes and rules that may wait at one side of a record. The record calls it when that side may go
/// on.
#[derive(Default)]
pub(super) struct WaitList {
    waiters: Mutex<Vec<Waiter>>,
    /// The rule at this side, if this side has one view and a rule has it.
    rule: std::sync::OnceLock<Arc<RuleLink>>,
}

/// A process or a rule that may wait in a list.
#[derive(Clone)]
pub(super) enum Waiter {
    Actor(Arc<Actor>),
    Rule(Arc<RuleLink>),
}

impl WaitList {
    /// Adds a waiter, which stays until the list is dropped.
    pub(super) fn add(&self, waiter: Waiter) {
        lock(&self.waiters).push(waiter);
    }

    /// Adds a rule. If it `is_alone`, nothing else ever waits at this side.
    pub(super) fn give_to_rule(&self, rule: &Arc<RuleLink>, is_alone: bool) {
        if !is_alone || self.rule.set(Arc::clone(rule)).is_err() {
            self.add(Waiter::Rule(Arc::clone(rule)));
        }
    }

    /// Wakes every process that sleeps at this side, and pokes every rule. A process that does not sleep just
    /// looks once more.
    pub(super) fn notify(&self, network: &NetworkState) {
        if let Some(rule) = self.rule.get() {
            return rule.poke();
        }
        for waiter in lock(&self.waiters).iter() {
            match waiter {
                Waiter::Actor(actor) => actor.wake(network),
                Waiter::Rule(rule) => rule.poke(),
            }
        }
    }
}

/// The wait lists at both sides of a record.
#[derive(Clone)]
pub(super) struct WaitLists {
    network: Arc<NetworkState>,
    pub(super) items: Arc<WaitList>,
    pub(super) room: Arc<WaitList>,
}

impl WaitLists {
    pub(super) fn new(network: &Arc<NetworkState>) -> Self {
        Self { network: Arc::clone(network), items: Arc::default(), room: Arc::default() }
    }

    /// The hooks of the record: one to call when readers may go on, and one for writers.
    pub(super) fn hooks(&self) -> (impl Fn() + Send + Sync + 'static, impl Fn() + Send + Sync + 'static) {
        let notify = |wait_list: &Arc<WaitList>| {
            let (wait_list, network) = (Arc::clone(wait_list), Arc::clone(&self.network));
            move || wait_list.notify(&network)
        };
        (notify(&self.items), notify(&self.room))
    }
}

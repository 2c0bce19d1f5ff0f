//! Rules that were placed on cores, and the workers that are pinned to these.
//!
//! A worker prefers the rules of its core, and leaves others to the queue for all workers. It still takes one of
//! them if it finds no other, so the placement changes when rules fire and never whether they do.

use std::cell::Cell;

use anabranch::host::Processors;

#[cfg(not(shuttle))]
std::thread_local! {
    /// The number of this worker. `None` if it is one of a pool, or no worker.
    static NUMBER: Cell<Option<usize>> = const { Cell::new(None) };
}

#[cfg(shuttle)]
anabranch_record::sync::thread_local! {
    static NUMBER: Cell<Option<usize>> = Cell::new(None);
}

/// The number of the calling worker: 0 for the thread that called `run`. `None` for a thread of a pool, and for one that is no
/// worker.
fn number() -> Option<usize> {
    NUMBER.try_with(Cell::get).unwrap_or(None)
}

/// Sets the number of the calling worker, and returns the one before.
pub(super) fn replace_number(number: Option<usize>) -> Option<usize> {
    NUMBER.with(|own| own.replace(number))
}

/// The workers of rules that were placed on cores.
pub(super) struct PlacedRules {
    /// For each rule, the number of its worker, if it was placed.
    of_rule: Vec<Option<usize>>,
    /// For each worker, its core.
    cores: Vec<usize>,
}

impl PlacedRules {
    /// `core` has the core of each rule that was placed, and `cores` are all of these.
    pub(super) fn new(core: &[Option<usize>], cores: Vec<usize>) -> Self {
        let worker = |core: &Option<usize>| cores.iter().position(|other| Some(*other) == *core);
        Self { of_rule: core.iter().map(worker).collect(), cores }
    }

    /// Whether the rule belongs to another worker than the calling thread.
    #[inline]
    pub(super) fn is_elsewhere(&self, rule: usize) -> bool {
        let home = self.of_rule.get(rule).copied().flatten();
        home.is_some_and(|home| number().is_some_and(|own| own != home))
    }

    /// Pins the calling thread, which is worker `number`, to the worker's core. A worker without a core, or with one that this
    /// machine does not have, may run on all.
    pub(super) fn pin(&self, processors: &Processors, number: usize) {
        if let Some(&core) = self.cores.get(number).filter(|core| **core < processors.count()) {
            processors.pin(core);
        }
    }
}

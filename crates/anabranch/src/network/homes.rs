//! Rules that were placed on cores, and the workers that are pinned to these.
//!
//! A worker prefers the rules of its core, and leaves others to the queue for all workers. It still takes one of
//! them if it finds no other, so the placement changes when rules fire and never whether they do.

use crate::affinity::Processors;

use super::worker;

/// The workers of rules that were placed on cores.
pub(super) struct Homes {
    /// For each rule, the number of its worker, if it was placed.
    of_rule: Vec<Option<usize>>,
    /// For each worker, its core.
    cores: Vec<usize>,
}

impl Homes {
    /// `core` has the core of each rule that was placed, and `cores` are all of these.
    pub(super) fn new(core: &[Option<usize>], cores: Vec<usize>) -> Self {
        let worker = |core: &Option<usize>| cores.iter().position(|other| Some(*other) == *core);
        Self { of_rule: core.iter().map(worker).collect(), cores }
    }

    /// Whether the rule belongs to another worker than the calling thread.
    #[inline]
    pub(super) fn is_elsewhere(&self, rule: usize) -> bool {
        let home = self.of_rule.get(rule).copied().flatten();
        home.is_some_and(|home| worker::number().is_some_and(|own| own != home))
    }

    /// Pins the calling thread, which is worker `number`, to the worker's core. A worker without a core, or with one that this
    /// machine does not have, may run on all.
    pub(super) fn pin(&self, processors: &Processors, number: usize) {
        if let Some(&core) = self.cores.get(number).filter(|core| **core < processors.count()) {
            processors.pin(core);
        }
    }
}

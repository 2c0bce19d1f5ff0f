//! Nodes of a direct line whose run is measured.

use std::rc::Rc;

use anabranch_record::lane::{Stop, Turn};

use super::step::{Demand, Step};
use crate::engine::nodes::stopwatch::Stopwatch;
use crate::measures::Mark;

/// A node of a direct line that is measured.
pub(crate) struct Timed<'run, A> {
    id: usize,
    stopwatch: Rc<Stopwatch>,
    enters: Mark,
    leaves: Mark,
    node: Box<dyn Step<A> + 'run>,
}

impl<'run, A: Send> Timed<'run, A> {
    pub(crate) fn new(
        id: usize,
        (enters, leaves): (Mark, Mark),
        stopwatch: Rc<Stopwatch>,
        node: Box<dyn Step<A> + 'run>,
    ) -> Self {
        Self { id, stopwatch, enters, leaves, node }
    }

    /// Measures `pass`, which takes this many items.
    #[inline]
    fn measure(
        &mut self,
        turn: &mut Turn,
        items: u64,
        pass: impl FnOnce(&mut (dyn Step<A> + 'run), &mut Turn) -> Demand,
    ) -> Demand {
        let index = turn.index();
        self.enters.enters(index);
        let giver = self.stopwatch.enter(self.id, items);
        let demand = pass(&mut *self.node, turn);
        self.stopwatch.leave(self.id, giver);
        self.leaves.has_left(index);
        demand
    }
}

impl<A: Send> Step<A> for Timed<'_, A> {
    fn item(&mut self, turn: &mut Turn, item: A) -> Demand {
        self.measure(turn, 1, |node, turn| node.item(turn, item))
    }

    fn items(&mut self, turn: &mut Turn, items: &mut Vec<A>, stop: Option<Stop>) -> Demand {
        self.measure(turn, items.len() as u64, |node, turn| node.items(turn, items, stop))
    }

    fn take_gain(&mut self) -> i64 {
        0
    }
}

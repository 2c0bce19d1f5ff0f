//! The place of a node in its run. A node uses it to report failures and measurements.

use std::ops::Deref;

use anabranch_record::lane::Domain;
use anabranch_record::sync::Arc;

use super::clock::Moment;
use super::failure::{Cause, ErrorSlot, Position};
use super::measures::{Mark, Tally};
use super::run::Run;

/// The place of a node in its run.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub(crate) run: Arc<Run>,
    /// The node's id in the plan. The site of a unit has the id of its first node.
    pub(crate) id: usize,
    /// The number of the node's domain.
    pub(crate) number: usize,
    /// The id of the node that opens the node's domain.
    pub(crate) opened_by: usize,
    /// Whether the order of the items was given up. Of several failures, the first in time then counts.
    pub(crate) in_time: bool,
    /// Whether the results of the node are taken in the order in which they are done.
    pub(crate) gives_arrivals: bool,
    /// Whether the node has a dedicated thread.
    pub(crate) is_dedicated: bool,
    /// The domain's shared state.
    pub(crate) domain: Arc<Domain>,
}

impl Site {
    /// Whether no other thread could process the node's items while the node blocks.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        !self.is_dedicated && self.run.is_alone()
    }

    /// Reads the clock for a claim or a serving, if it is needed. A worker that is alone needs no time
    /// limits, and in a run of a few microseconds the clock would take most of the time.
    #[inline]
    pub(crate) fn clock(&self) -> Option<Moment> {
        (self.run.measures().is_some() || !self.is_alone()).then(Moment::now)
    }

    /// Adds a piece of work of this node that took `nanos` nanoseconds, if the run is measured.
    #[inline]
    pub(crate) fn measure(&self, tally: Tally, began: Moment, nanos: u64) {
        if let Some(measures) = self.run.measures() {
            measures.end(self.id, tally, began, nanos);
        }
    }

    /// Enters the node's span until the guard is dropped.
    #[inline]
    pub(crate) fn enter(&self) -> impl Sized + '_ {
        self.run.spans().enter(self.id)
    }

    /// Measures how long indices of the node's domain are in it, from `index` on, if the run is measured.
    #[inline]
    pub(crate) fn mark(&self, index: u64) -> Mark {
        Mark::new(self.run.measures(), self.opened_by, index)
    }

    /// Notes the cause that stopped the stream at `index` (rule 12). The node then puts a stop at that index.
    #[cold]
    pub(crate) fn halt(&self, index: u64, cause: Cause) {
        self.run.halt(self.position(index), cause);
        self.stop_at(index);
    }

    fn position(&self, index: u64) -> Position {
        Position { domain: self.number, index, in_time: self.in_time }
    }

    fn stop_at(&self, index: u64) {
        self.domain.stop_at(if self.gives_arrivals { 0 } else { index });
    }
}

/// The site of a node whose code may fail with `E`.
#[derive(Debug)]
pub(crate) struct Spot<E> {
    pub(crate) site: Site,
    pub(crate) errors: Arc<ErrorSlot<E>>,
}

impl<E> Deref for Spot<E> {
    type Target = Site;

    #[inline]
    fn deref(&self) -> &Site {
        &self.site
    }
}

impl<E> Spot<E> {
    /// Notes an error at `index`.
    #[cold]
    pub(crate) fn fail(&self, index: u64, error: E) {
        self.errors.offer(self.position(index), error);
        self.halt(index, Cause::Error);
    }
}

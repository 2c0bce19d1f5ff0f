//! Where a node stands: what it needs in order to say what happened in it.

use std::ops::Deref;

use anabranch_record::lane::Domain;
use anabranch_record::sync::Arc;

use super::clock::Moment;
use super::failure::{Cause, ErrorSlot, Position};
use super::measures::{Mark, Tally};
use super::run::Run;

/// Where a node stands in its run.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub(crate) run: Arc<Run>,
    /// The node's id in the plan; a unit's is that of its first node.
    pub(crate) id: usize,
    /// The number of the domain in which the node's failures happen, and the node that opens it.
    pub(crate) number: usize,
    pub(crate) opened_by: usize,
    /// Order was given up: of several failures, the first in time counts.
    pub(crate) in_time: bool,
    /// The results of the node are taken in the order in which they are done.
    pub(crate) gives_arrivals: bool,
    /// The node has a thread of its own.
    pub(crate) is_dedicated: bool,
    /// The domain's shared state.
    pub(crate) domain: Arc<Domain>,
}

impl Site {
    /// Whether no other thread could do what the node makes available while it blocks.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        !self.is_dedicated && self.run.is_alone()
    }

    /// The clock for a claim or a serving, if somebody needs it. A caller that is alone has nobody to be fair to, and in
    /// a run of some microseconds reading the clock is what takes longest.
    #[inline]
    pub(crate) fn clock(&self) -> Option<Moment> {
        (self.run.measures().is_some() || !self.is_alone()).then(Moment::now)
    }

    /// Adds a piece of work that took the node `nanos`, if the run is reported.
    #[inline]
    pub(crate) fn measure(&self, tally: Tally, began: Moment, nanos: u64) {
        if let Some(measures) = self.run.measures() {
            measures.end(self.id, tally, began, nanos);
        }
    }

    /// Marks the calling thread as working in the node, for spans, until the guard is dropped.
    #[inline]
    pub(crate) fn enter(&self) -> impl Sized + '_ {
        self.run.spans().enter(self.id)
    }

    /// Watches the indices of the node's domain from `index` on, if the run is reported.
    #[inline]
    pub(crate) fn mark(&self, index: u64) -> Mark {
        Mark::new(self.run.measures(), self.opened_by, index)
    }

    /// Notes what stopped the stream at `index` (rule 12). The node then puts a stop at that index.
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

//! The place of a node in its run. A node uses it to report failures and measurements.

use std::ops::Deref;

use anabranch_record::lane::{Domain, Stop};
use anabranch_record::sync::Arc;

use super::failure::{Cause, ErrorSlot, Position};
use super::run::Run;
use crate::clock::Moment;
use crate::measures::{Mark, Tally};

/// The place of a node in its run.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub(crate) run: Arc<Run>,
    /// The node's id in the plan. The site of a unit has the id of its first node.
    pub(crate) id: usize,
    /// The number of the node's domain.
    pub(crate) number: usize,
    /// The number of the branch to which the node belongs; 0 on the main line.
    pub(crate) branch: usize,
    /// The id of the node that opens the node's domain.
    pub(crate) opened_by: usize,
    /// Whether the order of the items was given up. The first of several failures in time then counts.
    pub(crate) in_time: bool,
    /// Whether the results of the node are taken in the order in which they are done.
    pub(crate) gives_arrivals: bool,
    /// Whether the node has a dedicated thread.
    pub(crate) is_dedicated: bool,
    /// The shared state of the indices that the node uses: those of its domain, or those of its branch.
    pub(crate) domain: Arc<Domain>,
    /// The shared states of the domain and of all of its branches, if it has branches. They stop together.
    pub(crate) together: Arc<[Arc<Domain>]>,
}

impl Site {
    /// Whether no other thread could process the node's items while the node blocks.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        !self.is_dedicated && self.run.is_alone()
    }

    /// Whether `index` is behind the index at which the stream has stopped, or the run is over.
    #[inline]
    pub(crate) fn is_late(&self, index: u64) -> bool {
        self.run.is_ending() || index > self.domain.stop()
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
        let breaks = matches!(cause, Cause::Break | Cause::Leave);
        self.run.halt(Position { breaks, ..self.position(index) }, cause);
        self.stop_at(index);
    }

    fn position(&self, index: u64) -> Position {
        let Self { number, branch, in_time, .. } = *self;
        Position { domain: number, index, branch, breaks: false, in_time }
    }

    fn stop_at(&self, index: u64) {
        self.domain.stop_at(if self.gives_arrivals { 0 } else { index });
        for domain in &*self.together {
            domain.stop_at(index);
        }
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

impl<E> Clone for Spot<E> {
    fn clone(&self) -> Self {
        Self { site: self.site.clone(), errors: Arc::clone(&self.errors) }
    }
}

impl<E> Spot<E> {
    /// Notes an error at `index`, and returns the kind of stop to put there.
    #[cold]
    pub(crate) fn fail(&self, index: u64, error: E) -> Stop {
        let leaves = self.errors.leaves(&error);
        self.errors.offer(Position { breaks: leaves, ..self.position(index) }, error);
        let (cause, stop) = if leaves { (Cause::Leave, Stop::End) } else { (Cause::Error, Stop::Fail) };
        self.halt(index, cause);
        stop
    }
}

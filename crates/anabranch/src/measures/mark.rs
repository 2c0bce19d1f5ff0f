//! Points of a domain at which the indices that pass are measured.

use std::sync::Arc;

use super::run::Measures;
use super::transit::Transit;
use crate::clock::Moment;

/// Measures the indices that pass one point of a domain: its source, or its exit.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    /// When the run began, and the measurements of the domain. `None` if the run is not measured.
    of: Option<(Moment, Arc<Transit>)>,
    /// The next index to measure. `u64::MAX` if the run is not measured.
    next: u64,
}

impl Mark {
    /// Creates a mark of the domain that node `opened_by` opens, for the indices from `index` on.
    #[inline]
    pub(crate) fn new(measures: Option<&Measures>, opened_by: usize, index: u64) -> Self {
        match measures {
            None => Self { of: None, next: u64::MAX },
            Some(measures) => Self::measured(measures, opened_by, index),
        }
    }

    #[cold]
    fn measured(measures: &Measures, opened_by: usize, index: u64) -> Self {
        let of = measures.transit(opened_by).map(|transit| (measures.began(), Arc::clone(transit)));
        let next = of.as_ref().map_or(u64::MAX, |(_, transit)| transit.next(index));
        Self { of, next }
    }

    /// Notes that `index` is about to enter the domain, if it is to be measured.
    #[inline]
    pub(crate) fn enters(&mut self, index: u64) {
        if index == self.next {
            self.note(Transit::enter);
        }
    }

    /// Notes that `index` has left the domain, if it is to be measured.
    #[inline]
    pub(crate) fn has_left(&mut self, index: u64) {
        if index == self.next {
            self.note(Transit::leave);
        }
    }

    #[cold]
    fn note(&mut self, note: impl Fn(&Transit, u64, u64)) {
        if let Some((began, transit)) = &self.of {
            note(transit, self.next, began.elapsed());
            self.next = transit.next(self.next + 1);
        }
    }
}

/// Measures the indices that leave one domain and enter the next.
#[derive(Debug)]
pub(crate) struct Crossing {
    leaves: Mark,
    enters: Mark,
    /// How many indices have left the first domain.
    left: u64,
}

impl Crossing {
    /// Creates the measurement for the border between the domain that node `ends` has opened and the domain
    /// that node `opens` opens. `None` if the run is not measured.
    pub(crate) fn new(measures: Option<&Measures>, ends: usize, opens: usize) -> Option<Self> {
        let mark = |opened_by| Mark::new(measures, opened_by, 0);
        measures.is_some().then(|| Self { leaves: mark(ends), enters: mark(opens), left: 0 })
    }

    /// Notes that the next index leaves the first domain, and enters the second one as `index`.
    pub(crate) fn next(&mut self, index: u64) {
        self.has_left();
        self.enters.enters(index);
    }

    /// Notes that the next index has left the first domain.
    pub(crate) fn has_left(&mut self) {
        self.leaves.has_left(self.left);
        self.left += 1;
    }

    /// Notes that `index` enters the second domain.
    pub(crate) fn enters(&mut self, index: u64) {
        self.enters.enters(index);
    }
}

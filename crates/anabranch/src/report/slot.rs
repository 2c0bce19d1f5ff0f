//! The place for a report.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Report;

/// The place into which a stream puts the [`Report`] of its run, see [`Stream::report_to`](crate::Stream::report_to).
///
/// Its clones are the same place. A later run replaces a report that nobody has taken.
///
/// ```
/// use anabranch::{ReportSlot, Stream};
///
/// let slot = ReportSlot::new();
/// assert!(slot.take().is_none()); // nothing has run
/// let count = Stream::from_iter(0..100).map(|n| n + 1).report_to(&slot).count();
/// let report = slot.take().unwrap();
/// assert_eq!(report.nodes()[0].items, count as u64);
/// ```
#[derive(Debug, Clone, Default)]
pub struct ReportSlot(Arc<Mutex<Option<Report>>>);

impl ReportSlot {
    /// Creates an empty slot.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the report out. `None` if no run has put one in since the last call.
    pub fn take(&self) -> Option<Report> {
        self.place().take()
    }

    pub(crate) fn put(&self, report: Report) {
        *self.place() = Some(report);
    }

    fn place(&self) -> MutexGuard<'_, Option<Report>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

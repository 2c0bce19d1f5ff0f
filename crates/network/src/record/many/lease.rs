//! Whether a view may be used, for a view that can be ended from elsewhere.

use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{AtomicUsize, Ordering};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const LEASE_IS_NOT_ASKED: Mutant = Mutant("lease_is_not_asked");
const REVOKED_WHILE_BUSY: Mutant = Mutant("revoked_while_busy");

/// A burst of the view is in use.
const BUSY: usize = 1;
/// The view should end. If it is not busy, it has ended.
const REVOKED: usize = 2;

/// Whether a view may be used, for a view that can be ended from elsewhere.
///
/// The release index of a reader may pass its items only while no burst shows them. A view is therefore `BUSY` from a
/// receive to the end of its burst. The owner and the revoking thread may both try to end the view. The thread whose
/// operation leaves the state `REVOKED` without `BUSY` first ends it. A burst that was forgotten leaves the view busy
/// until its next receive or its drop. Both have exclusive access to the view, so no reference to an item is left.
pub(super) struct Lease(AtomicUsize);

impl Lease {
    pub(super) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// Begins a use of the view. Returns false if the view was revoked. The caller must hold the view
    /// mutably.
    pub(super) fn begin(&self) -> bool {
        if LEASE_IS_NOT_ASKED.is_on() {
            return true;
        }
        let begun = |state| (state & REVOKED == 0).then_some(state | BUSY);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, begun).is_ok()
    }

    /// Ends the use. Returns true if the caller must end the view now.
    pub(super) fn end(&self) -> bool {
        self.0.fetch_and(!BUSY, Ordering::AcqRel) == BUSY | REVOKED
    }

    /// The view is dropped or leaves. Returns true if it had not ended yet.
    pub(super) fn finish(&self) -> bool {
        self.0.swap(REVOKED, Ordering::AcqRel) != REVOKED
    }

    pub(super) fn is_revoked(&self) -> bool {
        self.0.load(Ordering::Acquire) & REVOKED != 0
    }

    /// Returns true if the caller must end the view now.
    pub(super) fn revoke(&self) -> bool {
        let before = self.0.fetch_or(REVOKED, Ordering::AcqRel);
        before == 0 || REVOKED_WHILE_BUSY.is_on() && before == BUSY
    }
}

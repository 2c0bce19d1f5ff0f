//! The two ways out of a domain: in index order, and in the order of arrival.

use anabranch_record::lane::{ArrivalSink, ArrivalWatch, Cell, Inlet, Sink, Watch};
use anabranch_record::sync::Arc;
use anabranch_record::{EventCount, Word};

use super::gate::Gate;

/// The last port of a domain.
pub(super) trait Exit<T>: Send {
    /// A view on its head from outside.
    type Look: Look;

    fn look(&self) -> Self::Look;
    fn take(&mut self) -> Option<Cell<T>>;
    fn release(&mut self);
}

/// A view on the head of a domain's last lane.
pub(super) trait Look: Sync + Send {
    fn is_ready(&self) -> bool;
    /// How many cells were taken.
    fn taken(&self) -> u64;
}

impl<T: Send, I: Inlet<T>> Exit<T> for Sink<T, I> {
    type Look = Watch<T, I>;

    fn look(&self) -> Watch<T, I> {
        self.watch()
    }

    #[inline]
    fn take(&mut self) -> Option<Cell<T>> {
        self.take()
    }

    #[inline]
    fn release(&mut self) {
        Sink::release(self);
    }
}

impl<T: Send, I: Inlet<T>> Look for Watch<T, I> {
    fn is_ready(&self) -> bool {
        self.is_ready()
    }

    fn taken(&self) -> u64 {
        self.taken()
    }
}

impl<T: Send> Exit<T> for ArrivalSink<T> {
    type Look = ArrivalWatch;

    fn look(&self) -> ArrivalWatch {
        self.watch()
    }

    #[inline]
    fn take(&mut self) -> Option<Cell<T>> {
        self.take()
    }

    #[inline]
    fn release(&mut self) {
        self.release();
    }
}

impl Look for ArrivalWatch {
    fn is_ready(&self) -> bool {
        self.is_ready()
    }

    fn taken(&self) -> u64 {
        self.taken()
    }
}

/// Where a domain's source is told that there is room (rule 10).
#[derive(Debug, Clone)]
pub(super) struct RoomNotice {
    /// The baton of the domain's source.
    pub(super) word: Arc<Word>,
    /// Where who would pull it waits.
    pub(super) event: Arc<EventCount>,
    /// What else it waits for.
    pub(super) gate: Option<Arc<Gate>>,
}

impl RoomNotice {
    /// There is room: tells who would pull, unless somebody pulls anyway and will look again.
    #[inline]
    pub(super) fn give(&self) {
        if cfg!(mutant = "no_room_notice") {
            return;
        }
        // Whoever has let go set the gate before: with the fence, we see it, or it sees what was given back.
        if self.word.is_free_after_fence() && self.gate.as_ref().is_none_or(|gate| gate.is_wide_open()) {
            self.event.notify();
        }
    }
}

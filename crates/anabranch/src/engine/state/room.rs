//! Tells the source of a domain that its window has room (rule 10).

use anabranch_record::mutant::Mutant;
use anabranch_record::sync::Arc;
use anabranch_record::{EventCount, Word};

use super::gate::Gate;

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_ROOM_NOTICE: Mutant = Mutant("no_room_notice");

/// Tells the source of a domain that its window has room.
#[derive(Debug, Clone)]
pub(crate) struct RoomNotice {
    /// The word of the baton of the domain's source.
    pub(crate) word: Arc<Word>,
    /// The event at which the threads that run the source wait.
    pub(crate) event: Arc<EventCount>,
    /// The conditions other than room that the source waits for.
    pub(crate) gate: Option<Arc<Gate>>,
}

impl RoomNotice {
    /// Wakes a thread that pulls, after an index was given back. If a thread holds the source, it wakes
    /// nobody, because the holder will look again.
    #[inline]
    pub(crate) fn give(&self) {
        if NO_ROOM_NOTICE.is_on() {
            return;
        }
        // A thread that may have to be woken is awake then, and looks again before it sleeps.
        if self.event.is_light() {
            return;
        }
        // The holder of the source sets the gate before it releases the baton. Because of the fence, either
        // this thread sees the free baton and that gate, or the holder sees the index that was given back.
        if self.word.is_free_after_fence() && self.gate.as_ref().is_none_or(|gate| gate.is_worth_waking()) {
            self.event.notify();
        }
    }
}

//! Where the source of a domain is told that there is room (rule 10).

use anabranch_record::sync::Arc;
use anabranch_record::{EventCount, Word};

use super::gate::Gate;

/// Where the source of a domain is told that there is room (rule 10).
#[derive(Debug, Clone)]
pub(super) struct RoomNotice {
    /// The word of the baton of the domain's source.
    pub(super) word: Arc<Word>,
    /// Where a thread that would pull it waits.
    pub(super) event: Arc<EventCount>,
    /// The other conditions that the source waits for.
    pub(super) gate: Option<Arc<Gate>>,
}

impl RoomNotice {
    /// There is room: wakes a thread that would pull, unless the source is held: its holder will look again.
    #[inline]
    pub(super) fn give(&self) {
        if cfg!(mutant = "no_room_notice") {
            return;
        }
        // The holder that lets go has set the gate before. Because of the fence, either this thread sees the baton free
        // and the gate as it was set, or the holder sees what was given back.
        if self.word.is_free_after_fence() && self.gate.as_ref().is_none_or(|gate| gate.is_wide_open()) {
            self.event.notify();
        }
    }
}

//! The sleep of a process in a view.

use anabranch_record::Sleep;
use anabranch_record::sync::Arc;

use super::{hub::Hub, process::Process, records::Wait};

/// Lets a process sleep in a view.
pub(super) struct Sleeper {
    pub(super) process: Arc<Process>,
    pub(super) hub: Arc<Hub>,
    pub(super) wait: Wait,
}

impl Sleep for Sleeper {
    fn prepare(&self) {
        self.process.actor().arm();
    }

    fn cancel(&self) {
        self.process.actor().disarm();
    }

    fn sleep(&self) -> bool {
        self.process.actor().sleep(&self.hub, &self.wait);
        !self.hub.is_ending()
    }
}

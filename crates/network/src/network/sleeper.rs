//! How a process sleeps in a view.

use anabranch_record::sync::Arc;

use super::{process::Process, records::Wait, state::NetworkState};
use crate::record::Sleep;

/// Lets a process sleep in a view.
pub(super) struct Sleeper {
    pub(super) process: Arc<Process>,
    pub(super) network: Arc<NetworkState>,
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
        self.process.actor().sleep(&self.network, &self.wait);
        !self.network.is_ending()
    }
}

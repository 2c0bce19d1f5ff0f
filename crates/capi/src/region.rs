//! A stream whose items are sent by a loop of the caller.

use std::sync::Arc;

use anabranch::default_workers;

use crate::border::Owned;
use crate::crew::Running;
use crate::inbox::{Sender, inbox};
use crate::line::{Ended, Line};
use crate::run::Host;

/// The largest number of items that wait between the loop and the source.
const MOST_WAITING: usize = 1_024;

/// A stream that was started.
#[derive(Debug)]
pub(crate) struct Region {
    sender: Sender<Owned>,
    running: Running<Ended>,
}

impl Region {
    /// Starts the line on threads of its own.
    ///
    /// One worker waits in the source for items of the loop. So there is one worker more than can work in the
    /// stages.
    pub(crate) fn start(line: &Arc<Line>) -> std::io::Result<Self> {
        let workers = line.settings.workers.unwrap_or_else(|| line.useful_workers(default_workers()) + 1);
        // Half of the window is before the source. That is enough to let the loop and the workers run
        // independently.
        let window = line.settings.window;
        let waiting = window.map_or(MOST_WAITING, |window| (window / 2).clamp(1, MOST_WAITING));
        let window = window.map(|window| (window - waiting).max(1));
        let (sender, mut taker) = inbox(waiting);
        let stop = sender.stopper();
        let line = Arc::clone(line);
        let running = Running::start(workers, move |pool| {
            let host = Host { pool, workers, window, stop: &stop };
            line.run(|| Ok(taker.next()), Some(host))
        })?;
        Ok(Self { sender, running })
    }

    /// Sends an item.
    ///
    /// # Errors
    /// The item, if the stream has ended.
    pub(crate) fn send(&self, item: Owned) -> Result<(), Owned> {
        self.sender.send(item)
    }

    /// Waits until every item that was sent has passed the end.
    pub(crate) fn finish(self) -> std::thread::Result<Ended> {
        drop(self.sender);
        self.running.join()
    }
}

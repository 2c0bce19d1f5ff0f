//! A stream whose items are sent by a loop of the caller.

use std::sync::Arc;

use anabranch::default_workers;
use anabranch::posts::{self, Room, Sender};

use crate::border::Owned;
use crate::line::{Ended, Host, Line, Settings};
use crate::runners::Running;

/// The number of items for each worker that may be in the stages, if no window is set. A quarter as many may wait
/// between the loop and the stages.
const ITEMS_A_WORKER: usize = 16;
/// The number of items that are known to be quick that may be in the stages, for all workers together. As many may
/// wait.
const MOST_ITEMS: usize = 2_048;

/// A stream that was started.
#[derive(Debug)]
pub(crate) struct Region {
    sender: Ending,
    running: Running<Ended>,
}

/// A sender that ends the stream when it is dropped. The items that were sent before are finished.
#[derive(Debug)]
struct Ending(Sender<Owned>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Region {
    /// Starts the line on threads of its own.
    pub(crate) fn start(line: &Arc<Line>) -> std::io::Result<Self> {
        let workers = line.settings.workers.unwrap_or_else(|| line.useful_workers(default_workers()));
        // Half of the window is before the stages. That is enough to let the loop and the workers run independently.
        let of_window = |window: usize| (window / 2).max(1);
        let room = match line.settings {
            Settings { window, burst, ref weigher, .. } if burst.is_some() || weigher.is_some() => {
                Room::one_by_one(window.map_or(ITEMS_A_WORKER * workers, of_window))
            }
            Settings { window: Some(window), .. } => {
                let items = of_window(window);
                Room::between(workers, items, items)
            }
            Settings { window: None, .. } => {
                let least = ITEMS_A_WORKER * workers;
                Room::between(workers, least, least.max(MOST_ITEMS))
            }
        };
        let window = room.items();
        let line = Arc::clone(line);
        let bytes = line.settings.weigher.as_ref().map(|(bytes, _)| *bytes);
        let weighing = Arc::clone(&line);
        let weigh =
            move |item: &Owned| weighing.settings.weigher.as_ref().map_or(0, |(_, code)| code.weigh(item));
        let (sender, stream) =
            posts::fallible(workers, room, line.settings.source_name(), bytes.zip(Some(weigh)));
        let running =
            Running::start(workers, move |pool| line.run_posted(stream, Host { pool, workers, window }))?;
        Ok(Self { sender: Ending(sender), running })
    }

    /// Sends an item.
    ///
    /// # Errors
    /// The item, if the stream has ended.
    pub(crate) fn send(&self, item: Owned) -> Result<(), Owned> {
        self.sender.0.send(item)
    }

    /// Waits until every item that was sent has passed the end.
    pub(crate) fn finish(self) -> std::thread::Result<Ended> {
        drop(self.sender);
        self.running.join()
    }
}

//! A mailbox: a bounded queue from many posting threads to one source, with a place where posts wait for room.
//!
//! `channel.rs` takes its items one by one, and `posts/` takes them in batches.

use anabranch_record::EventCount;
use anabranch_record::backoff::{Backoff, Polling};
use anabranch_record::inbox::{Consumer, Inbox, PostError, inbox};

/// The most items that may wait in a mailbox. It takes memory only for those that did wait.
const MOST_ITEMS: usize = 1 << 48;

/// The posting side. The source has the [`Consumer`].
#[derive(Debug)]
pub(super) struct Mailbox<T> {
    pub(super) inbox: Inbox<T>,
    /// Posting threads wait here for room. The source notifies it when it has made room, and when it closes the inbox.
    pub(super) emptied: EventCount,
    /// How long a posting thread polls for room.
    backoff: Backoff,
}

impl<T> Mailbox<T> {
    /// Creates a mailbox in which up to `capacity` items may wait, or 1 if `capacity` is 0.
    pub(super) fn new(capacity: usize) -> (Self, Consumer<T>) {
        let (inbox, consumer) = inbox(capacity.clamp(1, MOST_ITEMS));
        (Self { inbox, emptied: EventCount::new(), backoff: Backoff::new() }, consumer)
    }

    /// Posts an item. It waits while there is no room. Returns the number of the item in the order of the posts.
    ///
    /// # Errors
    /// The item, if the mailbox is closed.
    #[inline]
    pub(super) fn post(&self, item: T) -> Result<u64, T> {
        match self.inbox.post(item) {
            Ok(number) => Ok(number),
            Err(PostError::Closed(item)) => Err(item),
            Err(PostError::Full(item)) => self.wait_and_post(item),
        }
    }

    #[cold]
    fn wait_and_post(&self, item: T) -> Result<u64, T> {
        let mut item = Some(item);
        self.emptied.wait_until(&self.backoff, Polling::Outside, || {
            if self.inbox.is_full() && !self.inbox.is_closed() {
                return None;
            }
            match self.inbox.post(item.take()?) {
                Ok(number) => Some(Ok(number)),
                Err(PostError::Closed(item)) => Some(Err(item)),
                Err(PostError::Full(back)) => {
                    item = Some(back);
                    None
                }
            }
        })
    }

    /// Closes the mailbox: threads that wait for room get their items back. Items that were posted can still be taken.
    pub(super) fn close(&self) {
        self.inbox.close();
        self.emptied.notify_all();
    }
}

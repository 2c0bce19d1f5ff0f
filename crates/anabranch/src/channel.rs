//! Posting items into a stream from outside.

use std::sync::mpsc::{Receiver, SendError, SyncSender, TrySendError};

use crate::serial::{Pull, Pulled};

/// Posts items into a stream: made by [`Stream::channel`](crate::Stream::channel). Clones post into the same
/// stream; it ends when all of them are dropped.
#[derive(Debug)]
pub struct Post<T> {
    sender: SyncSender<T>,
}

impl<T> Clone for Post<T> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone() }
    }
}

/// The stream has stopped: the item comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed<T>(pub T);

/// Why an item was not posted at once: it comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryPostError<T> {
    /// The stream has no room just now.
    Full(T),
    /// The stream has stopped.
    Closed(T),
}

impl<T> std::fmt::Display for Closed<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the stream has stopped and takes no more items")
    }
}

impl<T: std::fmt::Debug> std::error::Error for Closed<T> {}

impl<T> std::fmt::Display for TryPostError<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            TryPostError::Full(_) => "the stream has no room just now",
            TryPostError::Closed(_) => "the stream has stopped and takes no more items",
        })
    }
}

impl<T: std::fmt::Debug> std::error::Error for TryPostError<T> {}

impl<T> Post<T> {
    /// Posts an item; waits while the stream has no room.
    ///
    /// # Errors
    /// If the stream has stopped.
    pub fn post(&self, item: T) -> Result<(), Closed<T>> {
        self.sender.send(item).map_err(|SendError(item)| Closed(item))
    }

    /// Posts an item if the stream has room just now.
    ///
    /// # Errors
    /// If the stream has no room, or has stopped.
    pub fn try_post(&self, item: T) -> Result<(), TryPostError<T>> {
        self.sender.try_send(item).map_err(|error| match error {
            TrySendError::Full(item) => TryPostError::Full(item),
            TrySendError::Disconnected(item) => TryPostError::Closed(item),
        })
    }
}

/// A source made of what is posted.
#[derive(Debug)]
pub(crate) struct Posted<T>(Receiver<T>);

pub(crate) fn channel<T>(capacity: usize) -> (Post<T>, Posted<T>) {
    let (sender, receiver) = std::sync::mpsc::sync_channel(capacity);
    (Post { sender }, Posted(receiver))
}

impl<T: Send> Pull for Posted<T> {
    type Item = T;
    type Error = std::convert::Infallible;

    fn pull(&mut self) -> Pulled<T, Self::Error> {
        match self.0.recv() {
            Ok(item) => Pulled::Item(item),
            Err(_) => Pulled::End,
        }
    }

    fn upper(&self) -> Option<usize> {
        None
    }
}

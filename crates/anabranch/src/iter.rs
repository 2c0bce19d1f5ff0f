//! A stream's results as an iterator, while the stream runs.

use std::sync::mpsc::{Receiver, TryRecvError};
use std::thread::JoinHandle;

use crate::cancel::CancelToken;

/// What a stream gives, while it runs on threads of its own: made by the stream's `into_iter`.
///
/// Dropping it stops the stream: the source is not asked again, what is in flight is dropped, and the threads
/// have ended when the drop returns. (A `next` of the source that is already running is waited for, unless it
/// only waits for what is [posted](crate::Stream::channel).) A panic of the stream is resumed by the call of `next` that
/// would give what came after it.
#[derive(Debug)]
pub struct Items<T> {
    receiver: Option<Receiver<T>>,
    thread: Option<JoinHandle<()>>,
    /// Ends the stream.
    token: CancelToken,
}

impl<T> Items<T> {
    pub(crate) fn new(receiver: Receiver<T>, thread: JoinHandle<()>, token: CancelToken) -> Self {
        Self { receiver: Some(receiver), thread: Some(thread), token }
    }

    /// The next result, if it is there.
    pub(crate) fn try_next(&mut self) -> Result<T, TryRecvError> {
        match &self.receiver {
            Some(receiver) => receiver.try_recv(),
            None => Err(TryRecvError::Disconnected),
        }
    }

    fn join(&mut self) -> std::thread::Result<()> {
        self.receiver = None;
        self.thread.take().map_or(Ok(()), JoinHandle::join)
    }
}

impl<T> Iterator for Items<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let item = self.receiver.as_ref()?.recv().ok();
        if item.is_none()
            && let Err(payload) = self.join()
        {
            std::panic::resume_unwind(payload);
        }
        item
    }
}

impl<T> std::iter::FusedIterator for Items<T> {}

impl<T> Drop for Items<T> {
    fn drop(&mut self) {
        self.token.cancel();
        // A panic that nobody asked for is not resumed from a drop.
        let _ = self.join();
    }
}

/// What a stream gives, to the closure of [`Stream::with_iter`](crate::Stream::with_iter).
#[derive(Debug)]
pub struct ScopedItems<T> {
    pub(crate) receiver: Receiver<T>,
    /// Ends the stream.
    pub(crate) token: CancelToken,
}

impl<T> Drop for ScopedItems<T> {
    fn drop(&mut self) {
        self.token.cancel();
    }
}

impl<T> Iterator for ScopedItems<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

//! The results of a stream as an iterator, while the stream runs.

use std::sync::mpsc::{Receiver, TryRecvError};
use std::thread::JoinHandle;

use crate::cancel::CancelToken;

/// The results of a stream that runs on threads of its own. The stream's `into_iter` creates it.
///
/// Dropping it stops the stream. The source is not asked again, the items in flight are dropped, and all
/// threads have ended when the drop returns. A call of the source's `next` that is already running is waited
/// for, unless the source only waits for [posted](crate::Stream::channel) items.
///
/// If the stream panics, the iterator gives the results before the panic, and the next call of `next` resumes
/// the panic.
#[derive(Debug)]
pub struct Items<T> {
    receiver: Option<Receiver<T>>,
    thread: Option<JoinHandle<()>>,
    /// Stops the stream.
    token: CancelToken,
}

impl<T> Items<T> {
    pub(crate) fn new(receiver: Receiver<T>, thread: JoinHandle<()>, token: CancelToken) -> Self {
        Self { receiver: Some(receiver), thread: Some(thread), token }
    }

    /// Returns the next result if it is there.
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
        // A drop does not resume a panic of the stream: the caller did not ask for the results any more.
        let _ = self.join();
    }
}

/// The results of a stream, for the closure of [`Stream::with_iter`](crate::Stream::with_iter).
#[derive(Debug)]
pub struct ScopedItems<T> {
    pub(crate) receiver: Receiver<T>,
    /// Stops the stream.
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

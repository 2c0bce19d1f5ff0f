//! The results of a stream as an iterator, while the stream runs.

use std::sync::mpsc::{Receiver, TryRecvError};
use std::thread::JoinHandle;

use crate::cancel::CancelToken;
use crate::results::Reader;

/// The results of a stream that runs on threads of its own, or of a [shared pool](crate::Stream::pool). The stream's `into_iter`
/// creates it.
///
/// Dropping it stops the stream. The source is not asked again, the items in flight are dropped, and when the drop returns,
/// all threads have ended, except those of the pool. A call of the source's `next` that is already running is waited
/// for, unless the source only waits for [posted](crate::Stream::channel) items.
///
/// If the stream panics, the iterator gives the results before the panic, and the next call of `next` resumes
/// the panic.
#[derive(Debug)]
pub struct Items<T>(Behind<T>);

/// Where the results come from.
#[derive(Debug)]
enum Behind<T> {
    /// A stream with a thread of its own.
    Thread { receiver: Option<Receiver<T>>, thread: Option<JoinHandle<()>>, token: CancelToken },
    /// A stream that the threads of a pool run.
    Pool(Reader<T>),
}

impl<T> Items<T> {
    /// The results of a stream with a thread of its own, which `token` stops.
    pub(crate) fn of_thread(receiver: Receiver<T>, thread: JoinHandle<()>, token: CancelToken) -> Self {
        Self(Behind::Thread { receiver: Some(receiver), thread: Some(thread), token })
    }

    /// The results of a stream that the threads of a pool run.
    pub(crate) fn of_pool(reader: Reader<T>) -> Self {
        Self(Behind::Pool(reader))
    }

    /// Returns the next result if it is there.
    pub(crate) fn try_next(&mut self) -> Result<T, TryRecvError> {
        match &self.0 {
            Behind::Thread { receiver: Some(receiver), .. } => receiver.try_recv(),
            Behind::Thread { receiver: None, .. } => Err(TryRecvError::Disconnected),
            Behind::Pool(reader) => reader.try_next(),
        }
    }
}

impl<T> Iterator for Items<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let (receiver, thread) = match &mut self.0 {
            Behind::Thread { receiver, thread, .. } => (receiver, thread),
            Behind::Pool(reader) => return reader.next(),
        };
        let item = receiver.as_ref()?.recv().ok();
        if item.is_none() {
            *receiver = None;
            if let Some(Err(payload)) = thread.take().map(JoinHandle::join) {
                std::panic::resume_unwind(payload);
            }
        }
        item
    }
}

impl<T> std::iter::FusedIterator for Items<T> {}

impl<T> Drop for Items<T> {
    fn drop(&mut self) {
        match &mut self.0 {
            Behind::Thread { receiver, thread, token } => {
                token.cancel();
                *receiver = None;
                // A drop does not resume a panic of the stream: the caller did not ask for the results any more.
                let _ = thread.take().map(JoinHandle::join);
            }
            Behind::Pool(reader) => reader.stop(),
        }
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

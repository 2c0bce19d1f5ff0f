//! Waiting for what is polled.

use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Polls until there is a result. The thread sleeps while there is none.
pub(crate) fn block_on<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
    thread_local!(static WAKER: Waker = Unpark::waker());
    // A thread that ends has lost its waker.
    let waker = WAKER.try_with(Waker::clone).unwrap_or_else(|_| Unpark::waker());
    let mut context = Context::from_waker(&waker);
    loop {
        match poll(&mut context) {
            Poll::Ready(result) => return result,
            Poll::Pending => thread::park(),
        }
    }
}

/// Wakes a thread.
struct Unpark(Thread);

impl Unpark {
    /// The waker of this thread.
    fn waker() -> Waker {
        Waker::from(Arc::new(Unpark(thread::current())))
    }
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

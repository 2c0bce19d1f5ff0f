//! The runtime in which futures and asynchronous streams are polled.

#[cfg(feature = "tokio")]
use std::sync::{Arc, OnceLock};

/// The runtime in which a stream polls its futures. The stages of the stream share it, so it may be set behind them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Runtime {
    /// The runtime that was set last. It counts when the stream begins to run.
    #[cfg(feature = "tokio")]
    pub(crate) wanted: Option<tokio::runtime::Handle>,
    #[cfg(feature = "tokio")]
    handle: Arc<OnceLock<tokio::runtime::Handle>>,
}

impl Runtime {
    /// Lets the runtime that was set last count. To be called once, before the stream runs.
    pub(crate) fn settle(&mut self) {
        #[cfg(feature = "tokio")]
        if let Some(handle) = self.wanted.take() {
            let _ = self.handle.set(handle);
        }
    }

    /// Calls `poll` inside of the runtime, if one was set.
    #[inline]
    pub(crate) fn within<R>(&self, poll: impl FnOnce() -> R) -> R {
        #[cfg(feature = "tokio")]
        let _entered = self.handle.get().map(tokio::runtime::Handle::enter);
        poll()
    }
}

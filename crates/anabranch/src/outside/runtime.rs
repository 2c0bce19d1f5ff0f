//! The runtime of tokio in which a stream polls.

use crate::stream::{Mode, Stream};

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// Polls the futures and the asynchronous source of the stream inside of a runtime of tokio. The timers and sockets of
    /// tokio need this: they panic outside of a runtime.
    ///
    /// The threads of the stream poll them. The runtime only drives its timers and sockets, so it must be running: a runtime of
    /// one thread (`new_current_thread`) does this while a thread is inside of its `block_on`. A stream has one runtime for all
    /// of its futures, wherever in the chain of calls it is set. If several are set, the last one counts. Streams inside of the
    /// stream use it too, unless they have their own: see [`select_all`](Stream::select_all).
    ///
    /// ```
    /// use anabranch::Stream;
    /// use std::time::Duration;
    ///
    /// let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build()?;
    /// let late = Stream::from_iter(1..=3u64)
    ///     .map_async(8, |n| async move {
    ///         tokio::time::sleep(Duration::from_millis(10 / n)).await;
    ///         n
    ///     })
    ///     .on(runtime.handle());
    /// assert_eq!(late.collect::<Vec<_>>(), [1, 2, 3]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// Without a runtime, the panic of tokio comes through unchanged:
    ///
    /// ```should_panic
    /// use anabranch::Stream;
    /// use std::time::Duration;
    ///
    /// // there is no reactor running, must be called from the context of a Tokio 1.x runtime
    /// Stream::from_iter(0..3)
    ///     .map_async(8, |_| tokio::time::sleep(Duration::from_millis(1)))
    ///     .for_each(drop);
    /// ```
    pub fn on(mut self, runtime: &tokio::runtime::Handle) -> Self {
        self.draft.attached.runtime.wanted = Some(runtime.clone());
        self
    }
}

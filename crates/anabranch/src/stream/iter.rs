//! The ends that return an iterator of the results.

use std::ops::ControlFlow;
use std::sync::mpsc::{SyncSender, sync_channel};

use anabranch_plan::Node;
use anabranch_record::sync::named_thread;

use super::run::Ended;
use super::{Stream, TryStream};
use crate::cancel::CancelToken;
use crate::flow::Halt;
use crate::iter::{Items, ScopedItems};
use crate::mode::Mode;

/// The largest number of results that wait for the iterator.
const HANDED_ITEMS: usize = 64;

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// Divides the window between the stream and the results that wait for an iterator, so that its bound
    /// holds for both together. Returns how many results may wait. If the number is 0, the stream waits with
    /// each result until the iterator takes it.
    pub(super) fn share_window(&mut self) -> usize {
        let settings = self.plan().settings;
        // Results that wait are not weighed. So none may wait if the window is limited in bytes.
        let handed =
            if settings.window_bytes.is_some() { 0 } else { (settings.window / 2).min(HANDED_ITEMS) };
        self.draft.outline.plan.settings.window = settings.window - handed;
        self.draft.outline.unset.window = false;
        handed
    }

    /// Runs the stream, and sends its results to a channel until the receiver is dropped.
    fn send_to<V: Send>(self, sender: &SyncSender<V>, wrap: impl Fn(T) -> V + Send) -> Ended<M::Error> {
        let sender = sender.clone();
        self.run_into(Node::sink("iterator"), move |item| match sender.send(wrap(item)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(Halt::Break),
        })
    }

    /// Runs the stream on a thread of its own and its workers, and calls `f` on the calling thread with an
    /// iterator of the results. When `f` returns, the stream is stopped. If the stream has failed before, its
    /// first failure is returned instead of the value of `f`.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let words = ["never", "odd", "or", "even"];
    /// let lengths = Stream::from_iter(&words).map(|word| word.len());
    /// let first = lengths.with_iter(|lengths| lengths.take(2).sum::<usize>());
    /// assert_eq!(first, 8);
    /// ```
    pub fn with_iter<R>(mut self, f: impl FnOnce(&mut ScopedItems<T>) -> R) -> M::Output<R> {
        let (sender, receiver) = sync_channel(self.share_window());
        let token = CancelToken::new();
        self = self.cancel(&token);
        let name = self.draft.outline.plan.name.clone().unwrap_or_else(|| "anabranch".to_owned());
        let (ended, result) = std::thread::scope(|scope| {
            let run = move || self.send_to(&sender, |item| item);
            let thread = named_thread(&format!("{name}-iter"))
                .spawn_scoped(scope, run)
                .expect("the system has a thread for the stream behind an iterator");
            let mut items = ScopedItems { receiver, token };
            let result = f(&mut items);
            drop(items);
            (thread.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload)), result)
        });
        ended.output::<M, _>(result)
    }
}

/// Runs a stream on a thread of its own, and returns an iterator of its results.
fn spawn<T, M, V>(mut stream: Stream<'static, T, M>, wrap: fn(Result<T, M::Error>) -> V) -> Items<V>
where
    T: Send + 'static,
    M: Mode<Error: 'static> + 'static,
    V: Send + 'static,
{
    let handed = stream.share_window();
    let stream = match stream.detach(&Node::sink("iterator"), handed, wrap) {
        Ok(reader) => return Items::of_pool(reader),
        Err(stream) => stream,
    };
    let (sender, receiver) = sync_channel(handed);
    let token = CancelToken::new();
    let stream = stream.cancel(&token);
    let name = stream.draft.outline.plan.name.clone().unwrap_or_else(|| "anabranch".to_owned());
    let run = move || {
        let ended = stream.send_to(&sender, move |item| wrap(Ok(item)));
        if let Err(error) = ended.result {
            // The error is dropped if the iterator was dropped.
            let _ = sender.send(wrap(Err(error)));
        }
    };
    let thread = named_thread(&format!("{name}-iter")).spawn(run);
    let thread = thread.expect("the system has a thread for the stream behind an iterator");
    Items::of_thread(receiver, thread, token)
}

/// The results as an iterator. The stream runs on threads of its own while the iterator is used, or on those of a
/// [shared pool](Stream::pool) alone. It must own the data that it uses. If it borrows, use [`Stream::with_iter`].
///
/// ```
/// use anabranch::Stream;
///
/// let mut squares = Stream::from_iter(1u64..).map(|n| n * n).into_iter(); // endless
/// assert_eq!(squares.next(), Some(1));
/// assert_eq!(squares.find(|square| square % 10 == 6), Some(16));
/// drop(squares); // stops the stream
/// ```
impl<T: Send + 'static> IntoIterator for Stream<'static, T> {
    type Item = T;
    type IntoIter = Items<T>;

    fn into_iter(self) -> Items<T> {
        spawn(self, |item| match item {
            Ok(item) => item,
        })
    }
}

/// The results as an iterator of `Result`s. The iterator ends after the first error.
impl<T: Send + 'static, E: Send + 'static> IntoIterator for TryStream<'static, T, E> {
    type Item = Result<T, E>;
    type IntoIter = Items<Result<T, E>>;

    fn into_iter(self) -> Items<Result<T, E>> {
        spawn(self, |item| item)
    }
}

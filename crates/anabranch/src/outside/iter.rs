//! The results of a stream as an iterator, while the stream runs.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;

use anabranch_plan::Node;
use anabranch_record::sync::named_thread;

use super::results::Reader;
use crate::control::CancelToken;
use crate::engine::Halt;
use crate::stream::{Ended, Mode, Stream, TryStream};

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

/// The largest number of results that wait for the iterator.
const HANDED_ITEMS: usize = 64;

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// Divides the window between the stream and the results that wait for an iterator, so that its bound
    /// holds for both together. Returns how many results may wait. If the number is 0, the stream waits with
    /// each result until the iterator takes it.
    pub(crate) fn share_window(&mut self) -> usize {
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
    ///
    /// All that an `Iterator` has can so be an end: `last`, `nth`, `position`, `max_by_key`, `min_by`, `partition`, `unzip`, and the
    /// methods of crates such as itertools. The iterator is on another thread than the stream, which costs some time for each
    /// item. For small items, [`fold`](Self::fold) is faster.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let words = || Stream::from_iter(["odd", "or", "even"]).map(str::to_uppercase);
    /// assert_eq!(words().with_iter(|words| words.max_by_key(|word| word.len())), Some("EVEN".to_owned()));
    /// assert_eq!(words().with_iter(|words| words.nth(1)), Some("OR".to_owned())); // stops the stream
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

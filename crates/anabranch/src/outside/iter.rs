//! The results of a stream as an iterator, while the stream runs.

use std::iter::FusedIterator;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc as StdArc;
use std::sync::mpsc::TryRecvError;
#[cfg(feature = "futures")]
use std::task::{Context, Poll};

use anabranch_plan::Node;
use anabranch_record::fork::Birth;
use anabranch_record::sync::{Arc, named_thread};

use super::reader::{Reader, Runner};
use super::results::{Ending, Results};
use crate::control::CancelToken;
use crate::engine::Kept;
use crate::stream::{Mode, Stream, TryStream};

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
pub struct Items<T>(Reader<T>);

impl<T: Send + 'static> Items<T> {
    /// The results of a stream. `call` is what the user has written.
    #[track_caller]
    pub(crate) fn of(stream: Stream<'static, T>, call: &'static str) -> Self {
        stream.draft.outline.assert_whole(call);
        Items(stream.read("iterator", call, |item| match item {
            Ok(item) => item,
        }))
    }
}

impl<T> Items<T> {
    /// Returns the next result if it is there.
    pub(crate) fn try_next(&mut self) -> Result<T, TryRecvError> {
        self.0.try_next()
    }

    /// Returns the next result, or has the task of `context` woken when it is there.
    #[cfg(feature = "futures")]
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        self.0.poll(context)
    }
}

impl<T> Iterator for Items<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.next()
    }
}

impl<T> FusedIterator for Items<T> {}

impl<T> Drop for Items<T> {
    fn drop(&mut self) {
        // A drop does not resume a panic of the stream: the caller did not ask for the results any more.
        self.0.stop();
    }
}

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
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
    #[track_caller]
    pub fn with_iter<R>(mut self, f: impl FnOnce(&mut Items<T>) -> R) -> M::Output<R> {
        self.draft.outline.assert_whole("with_iter");
        let results = Results::new(self.share_window(), &Arc::default());
        let ending = Ending(StdArc::clone(&results));
        let token = CancelToken::new();
        let stream = self.cancel_by(&token);
        let name = stream.thread_name("iterator");
        stream.draft.attached.begin();
        let (ended, result) = std::thread::scope(|scope| {
            // If `f` panics, nobody takes the error or the panic of the stream.
            let birth = Birth::here();
            let run = move || {
                // The thread that reads is not in a process that this one has forked.
                let _guard = birth.guard();
                let run = || {
                    stream.run_into(Node::sink("iterator"), |item| {
                        birth.end_if_forked();
                        ending.0.send(item)
                    })
                };
                Kept::new(catch_unwind(AssertUnwindSafe(run)))
            };
            let thread = named_thread(&name)
                .spawn_scoped(scope, run)
                .unwrap_or_else(|error| panic!("the system cannot create a thread for `with_iter`: {error}"));
            let _guard = birth.guard();
            let reader = Reader {
                birth: Birth::here(),
                results: StdArc::clone(&results),
                token,
                runner: Runner::Scope,
            };
            let mut items = Items(reader);
            let result = f(&mut items);
            drop(items);
            results.close(); // `f` may have put other results into `items`
            let ended = thread.join().unwrap_or_else(|payload| resume_unwind(payload));
            (ended.into_inner().unwrap_or_else(|payload| resume_unwind(payload)), result)
        });
        M::output(ended.map(|()| result))
    }
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

    #[track_caller]
    fn into_iter(self) -> Items<T> {
        Items::of(self, "into_iter")
    }
}

/// The results as an iterator of `Result`s. The iterator ends after the first error.
impl<T: Send + 'static, E: Send + 'static> IntoIterator for TryStream<'static, T, E> {
    type Item = Result<T, E>;
    type IntoIter = Items<Result<T, E>>;

    #[track_caller]
    fn into_iter(self) -> Items<Result<T, E>> {
        self.draft.outline.assert_whole("into_iter");
        Items(self.read("iterator", "into_iter", |item| item))
    }
}

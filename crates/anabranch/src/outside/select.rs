//! Streams whose items come when they are ready: several as one, and one in chunks that wait for a time.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anabranch_plan::Node;
use anabranch_record::fork::{self, Birth};
use anabranch_record::sync::named_thread;

use crate::control::CancelToken;
use crate::engine::nodes::pull::{Pull, Pulled};
use crate::engine::{Halt, Kept, KeptPanic, discard};
use crate::outside::{Channel, Sender, channel};
use crate::stream::{Account, Handed, Inner, Joins, Mode, Sent as Counted, Stream};

/// How many items of one stream may wait before the source.
const WAITING_ITEMS: usize = 16;

/// A message of one of the streams.
enum Sent<T, E> {
    Item(T),
    Fail(Kept<E>),
    Panic(KeptPanic),
}

/// A source made of streams that run on threads of their own, once the stream around them runs.
struct Selected<T, E> {
    posted: Channel<Sent<T, E>>,
    /// Dropped after `posted`, so that no thread waits for room any more.
    _ending: EndStreams,
}

/// Threads, each with the process in which it is.
type Threads = Vec<(Birth, JoinHandle<()>)>;

/// The streams, which all stop with a token, and their threads.
#[derive(Clone, Default)]
struct Running {
    token: CancelToken,
    threads: Arc<Mutex<Threads>>,
}

/// Ends the streams when it is dropped, and waits for their threads.
struct EndStreams(Running);

impl Drop for EndStreams {
    fn drop(&mut self) {
        let Running { token, threads } = &self.0;
        token.cancel();
        let threads = std::mem::take(&mut *fork::lock(threads));
        for (birth, thread) in threads {
            // This runs as a part of the stream around, whose thread waits for nothing but these.
            birth.end_if_forked();
            // The thread has caught the panics of its stream.
            discard(thread.join());
        }
    }
}

impl<T, E> Sent<T, E> {
    /// Turns the message into an item of the source. Resumes a panic.
    fn pulled(pulled: Pulled<Self, Infallible>) -> Pulled<T, E> {
        match pulled {
            Pulled::Item(Sent::Item(item)) => Pulled::Item(item),
            Pulled::Item(Sent::Fail(error)) => Pulled::Fail(error.into_inner()),
            Pulled::Item(Sent::Panic(payload)) => resume_unwind(payload.into_inner()),
            Pulled::End => Pulled::End,
        }
    }
}

impl<T: Send, E: Send> Pull for Selected<T, E> {
    type Item = T;
    type Error = E;

    fn pull(&mut self) -> Pulled<T, E> {
        Sent::pulled(self.posted.pull())
    }

    fn upper(&self) -> Option<usize> {
        None
    }
}

impl<T, M> Stream<'static, T, M>
where
    T: Send + 'static,
    M: Mode + 'static,
    M::Error: Send + 'static,
{
    /// Creates a stream of the items of several streams, as they come. The items of one stream keep their order. Which of
    /// two streams is first depends on the moment, so the order of the items is outside of the promise that a stream gives
    /// [the same output](crate::contract) each time. [`interleave`](Stream::interleave) and
    /// [`Branches::merge`](crate::Branches::merge) have a defined order.
    ///
    /// The streams begin to run when this one does, each on threads of its own or of its [`pool`](Stream::pool), with its own
    /// settings. At most 16 results of each wait before the source. The first failure in time ends the stream and the
    /// others, and so does a panic. When the stream has ended, all threads are gone. The end panics if the system cannot
    /// create a thread for each stream.
    ///
    /// # Settings of the whole
    ///
    /// Some settings hold for the streams inside too, wherever in the chain of calls they are set. A [pool](Self::pool), a
    /// runtime (`on`) and a [monitor](Self::watch) hold for each inner stream that has none of its own. A
    /// [token](Self::cancel_by) stops all of them, besides their own tokens. Draining it loses nothing that they have accepted,
    /// and [`Stopped`](crate::Stopped) counts their items. A [report](Self::report_to) has
    /// [their reports](crate::Report::streams). The same holds for the streams before [`chunks_timeout`](Self::chunks_timeout),
    /// and for streams as arguments of [`from_iter`](Self::from_iter), [`chain`](Self::chain),
    /// [`interleave`](Self::interleave) and [`zip`](Self::zip).
    ///
    /// The name is that of the crate `futures`.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let (sender, requests) = Stream::channel(4);
    /// let timer = Stream::from_iter(1..=3u32);
    /// let events = Stream::select_all([requests, timer.map(|n| n * 100)]);
    /// sender.send(7).unwrap();
    /// drop(sender);
    /// let mut events: Vec<u32> = events.map(|event| event + 1).collect();
    /// events.sort();
    /// assert_eq!(events, [8, 101, 201, 301]);
    /// ```
    pub fn select_all(streams: impl IntoIterator<Item = Self>) -> Self {
        let streams: Vec<Self> = streams.into_iter().collect();
        streams.iter().for_each(|stream| stream.draft.outline.assert_whole("select_all"));
        let (selected, inner) = Self::selected(streams, "select_all");
        let waiter = selected.posted.waiter().clone();
        Self::pulled(selected, Node::source("select_all"), None)
            .woken_by(waiter, None)
            .fed_by_inner(vec![inner])
    }

    /// Returns the source of the items of the streams, and what lets them run. `call` is what the user has written.
    fn selected(streams: Vec<Self>, call: &'static str) -> (Selected<T, M::Error>, Inner<'static>) {
        let (sender, posted) = channel(WAITING_ITEMS * streams.len().max(1));
        let running = Running::default();
        let account = Arc::<Account>::default();
        let selected = Selected { posted, _ending: EndStreams(running.clone()) };
        let counted = Arc::clone(&account);
        let start = Box::new(move |handed: &Handed| {
            let count = streams.len();
            for (at, stream) in streams.into_iter().enumerate() {
                let stream = stream.inside(handed, &counted).cancel_by(&running.token);
                let name = stream.thread_name("select");
                let (sender, sent) = (sender.clone(), counted.sent());
                let birth = Birth::here();
                let run = move || {
                    // The thread of the stream around is not in a process that this one has forked.
                    let _guard = birth.guard();
                    stream.send(&sender, sent);
                };
                match named_thread(&name).spawn(run) {
                    Ok(thread) => fork::lock(&running.threads).push((birth, thread)),
                    // The source is dropped then, and ends the others.
                    Err(error) => {
                        let number = at + 1;
                        panic!(
                            "the system cannot create a thread for stream {number} of {count} in `{call}`: {error}"
                        );
                    }
                }
            }
        });
        (selected, Inner { joins: Joins::Source, account, start })
    }

    /// Runs the stream, and posts its results and its failure until nobody takes them.
    fn send(self, sender: &Sender<Sent<T, M::Error>>, mut sent: Counted) {
        let ended = catch_unwind(AssertUnwindSafe(|| {
            self.run_into(Node::sink("select"), move |item| match sender.send(Sent::Item(item)) {
                Ok(()) => {
                    sent.add();
                    ControlFlow::Continue(())
                }
                Err(_) => ControlFlow::Break(Halt::Break),
            })
        }));
        let failure = match ended {
            Ok(Ok(())) => return,
            Ok(Err(error)) => Sent::Fail(Kept::new(error)),
            Err(payload) => Sent::Panic(Kept::new(payload)),
        };
        // It is dropped if the stream of all has ended before.
        let _ = sender.send(failure);
    }
}

/// A source of chunks of the items of another.
struct Timed<T, E> {
    selected: Selected<T, E>,
    /// Is told the length of each chunk.
    account: Arc<Account>,
    most: usize,
    time: Duration,
    /// The cell after the last chunk.
    behind: Option<Pulled<Sent<T, E>, Infallible>>,
}

impl<T: Send, E: Send> Pull for Timed<T, E> {
    type Item = Vec<T>;
    type Error = E;

    fn pull(&mut self) -> Pulled<Vec<T>, E> {
        let posted = &mut self.selected.posted;
        let first = self.behind.take().unwrap_or_else(|| posted.pull());
        let first = match Sent::pulled(first) {
            Pulled::Item(item) => item,
            Pulled::Fail(error) => return Pulled::Fail(error),
            Pulled::End => return Pulled::End,
        };
        let deadline = Instant::now().checked_add(self.time);
        let mut chunk = vec![first];
        while chunk.len() < self.most {
            let next = match deadline {
                Some(deadline) => posted.pull_until(deadline),
                None => Some(posted.pull()),
            };
            match next {
                Some(Pulled::Item(Sent::Item(item))) => chunk.push(item),
                Some(end) => {
                    self.behind = Some(end);
                    break;
                }
                None => break,
            }
        }
        self.account.add_chunk(chunk.len());
        Pulled::Item(chunk)
    }

    fn upper(&self) -> Option<usize> {
        None
    }
}

impl<T: Send + 'static, M: Mode<Error: 'static> + 'static> Stream<'static, T, M> {
    /// Gathers items into vectors of `most` items, or of fewer if `time` has passed since the first of them came. So no item
    /// waits longer than `time`, and a busy stream has full vectors.
    ///
    /// It is for sources that wait, such as [`channel`](Stream::channel) and `from_async`. The end of a vector depends on the
    /// moment, so the stage is outside of the promise that a stream gives [the same output](crate::contract) each time. The
    /// items and their order are the same. [`chunks`](Self::chunks) does without the clock, and
    /// [`ready_chunks`](Self::ready_chunks) waits for no item at all.
    ///
    /// The stages before run on threads of their own with their own settings, as a stream in
    /// [`select_all`](Stream::select_all) does. At most 16 of their results wait before the vectors. The settings that hold for
    /// the whole, wherever they are set, are listed there.
    ///
    /// The name is that of the crate `tokio-stream`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use anabranch::Stream;
    ///
    /// let (sender, requests) = Stream::channel(16);
    /// let (answers, answered) = std::sync::mpsc::channel();
    /// let writer = std::thread::spawn(move || {
    ///     let chunks = requests.chunks_timeout(3, Duration::from_millis(5));
    ///     chunks.for_each(|chunk| answers.send(chunk).unwrap());
    /// });
    /// sender.send("one").unwrap();
    /// assert_eq!(answered.recv().unwrap(), ["one"]); // nothing else is posted
    /// drop(sender);
    /// writer.join().unwrap();
    /// ```
    ///
    /// # Panics
    /// If `most` is 0. The end panics if the system cannot create a thread.
    #[track_caller]
    pub fn chunks_timeout(self, most: usize, time: Duration) -> Stream<'static, Vec<T>, M> {
        assert!(most > 0, "`chunks_timeout(0, ..)`: a chunk holds 1 item or more");
        self.draft.outline.assert_whole("chunks_timeout");
        let (selected, inner) = Stream::selected(vec![self], "chunks_timeout");
        let waiter = selected.posted.waiter().clone();
        let Inner { joins, account, start } = inner;
        let counted = Arc::clone(&account);
        let start = Box::new(move |handed: &Handed| {
            counted.begin_chunks(handed.window);
            start(handed);
        });
        let timed = Timed { selected, account: Arc::clone(&account), most, time, behind: None };
        Stream::pulled(timed, Node::source("chunks_timeout"), None)
            .woken_by(waiter, None)
            .fed_by_inner(vec![Inner { joins, account, start }])
    }
}

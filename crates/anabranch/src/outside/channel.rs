//! The sending side of a stream whose items come from outside.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc as StdArc;
use std::time::Instant;

use anabranch_plan::Node;
use anabranch_record::backoff::{Backoff, Polling};
use anabranch_record::inbox::{Consumer, PostError};
use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{Arc, AtomicBool, AtomicUsize, Mutex, MutexGuard, Ordering, lock};
use anabranch_record::{EventCount, WaitKey};

use crate::control::waiter::Waiter;
use crate::engine::nodes::pull::{Pull, Pulled};
use crate::engine::{Feed, Supply};
use crate::outside::mailbox::Mailbox;
use crate::stream::{Source, Stream, Waits};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_NOTICE_OF_ROOM: Mutant = Mutant("no_notice_of_room");
const CLOSED_IS_READ_LAST: Mutant = Mutant("closed_is_read_last");

/// Posts items into a stream. [`Stream::channel`](crate::Stream::channel) creates it.
///
/// Clones post into the same stream. The stream ends when all of them are dropped, or when one of them is
/// [closed](Self::close). It handles the items that were accepted before. See
/// [`CancelToken`](crate::CancelToken) for a graceful shutdown with a deadline.
pub struct Sender<T> {
    shared: StdArc<ChannelState<T>>,
}

/// The stream has stopped. The error gives the item back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T);

/// The reason why an item was not posted at once. The error gives the item back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// The stream has no room at this moment.
    Full(T),
    /// The stream has stopped.
    Closed(T),
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the stream has stopped and takes no more items")
    }
}

impl<T: fmt::Debug> std::error::Error for SendError<T> {}

impl<T> fmt::Display for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrySendError::Full(_) => "the stream has no room at this moment",
            TrySendError::Closed(_) => "the stream has stopped and takes no more items",
        })
    }
}

impl<T: fmt::Debug> std::error::Error for TrySendError<T> {}

/// The state that the posts and the source share.
struct ChannelState<T> {
    mailbox: Mailbox<Posted<T>>,
    taker: Mutex<Taker<T>>,
    posts: AtomicUsize,
    /// Whether the channel is to close, and how many items it has accepted. If a thread waits in `send` until its item is
    /// taken, the item is accepted when it is taken.
    supply: StdArc<Supply>,
    /// Whether the source has found nothing and waits. Only if the capacity is 0: then `try_send` needs a source that waits.
    is_awaited: AtomicBool,
    /// Whether the source is gone.
    is_gone: AtomicBool,
    /// How many items may wait. If it is 0, a thread that posts an item waits until the source takes it.
    capacity: usize,
    waiter: Waiter,
}

struct Posted<T> {
    item: T,
    /// Whether the posting thread waits until the item is taken.
    is_in_person: bool,
}

/// The taking side. The source uses it, and the posts that take items back.
struct Taker<T> {
    consumer: Consumer<Posted<T>>,
    /// Whether the items that wait are kept for `take_back` when the stream stops early.
    keeps: bool,
}

impl<T> Taker<T> {
    /// Whether a thread waits in `send` until the waiting item is taken.
    fn is_in_person(&mut self) -> bool {
        self.consumer.front().is_some_and(|posted| posted.is_in_person)
    }

    /// Takes all items.
    fn take_all(&mut self) -> Vec<T> {
        let mut items = Vec::new();
        self.consumer.take(usize::MAX, |posted| items.push(posted.item));
        items
    }
}

impl<T> ChannelState<T> {
    fn taker(&self) -> MutexGuard<'_, Taker<T>> {
        lock(&self.taker)
    }

    /// Whether no more items can be posted.
    fn is_over(&self) -> bool {
        self.supply.is_closed() || self.mailbox.inbox.is_closed()
    }

    fn close(&self) {
        self.mailbox.close();
        self.waiter.notify();
    }

    /// Wakes threads that wait in `send`.
    fn wake(&self) {
        if NO_NOTICE_OF_ROOM.is_on() {
            return;
        }
        // If no item may wait, each posting thread waits for its own item, so all of them must look.
        let emptied = &self.mailbox.emptied;
        if self.capacity == 0 { emptied.notify_all() } else { emptied.notify() }
    }

    /// The next item of the source, or `None` if it has to wait.
    fn take(&self) -> Option<Pulled<T, Infallible>> {
        let inbox = &self.mailbox.inbox;
        if self.supply.is_closed() && !inbox.is_closed() {
            self.mailbox.close();
        }
        // Before the look for items, which finds all that were accepted then.
        let is_closed = inbox.is_closed();
        if inbox.waiting() == 0 && !is_closed && self.capacity > 0 {
            // Most looks find nothing, and these take no lock.
            return None;
        }
        let mut taken = None;
        let mut taker = self.taker();
        taker.consumer.take(1, |posted| taken = Some(posted.item));
        if self.capacity == 0 {
            self.is_awaited.store(taken.is_none(), Ordering::Release);
        }
        drop(taker);
        let is_closed = is_closed || CLOSED_IS_READ_LAST.is_on() && inbox.is_closed();
        let Some(item) = taken else { return is_closed.then_some(Pulled::End) };
        self.supply.accept(1);
        self.wake();
        Some(Pulled::Item(item))
    }
}

impl<T> Sender<T> {
    /// Posts an item. It waits while the stream has no room.
    ///
    /// # Errors
    /// [`SendError`] if the stream has stopped or the channel was closed. The error contains the item.
    ///
    /// # Panics
    /// In a process that was forked while the stream ran.
    #[track_caller]
    pub fn send(&self, item: T) -> Result<(), SendError<T>> {
        let shared = self.shared();
        if shared.is_over() {
            return Err(SendError(item));
        }
        let is_in_person = shared.capacity == 0;
        let posted = shared.mailbox.post(Posted { item, is_in_person });
        let number = posted.map_err(|back| SendError(back.item))?;
        shared.waiter.notify();
        if is_in_person { self.wait_in_person(number) } else { Ok(()) }
    }

    /// The state that posts and source share, for a post that wants something of the source.
    #[inline]
    #[track_caller]
    fn shared(&self) -> &ChannelState<T> {
        assert!(
            !self.shared.waiter.is_forked(),
            "this process was forked while the stream of this `Sender` ran, which has its threads in the parent process only: create \
             another channel and stream in this process"
        );
        &self.shared
    }

    /// Waits until the source has taken item `number`, or is gone.
    fn wait_in_person(&self, number: u64) -> Result<(), SendError<T>> {
        let ChannelState { mailbox, is_gone, .. } = &*self.shared;
        let is_taken = || mailbox.inbox.taken() > number;
        mailbox.emptied.wait_until(&Backoff::new(), Polling::Outside, || {
            (is_taken() || is_gone.load(Ordering::Acquire)).then_some(())
        });
        let mut taker = self.shared.taker();
        if is_taken() {
            return Ok(());
        }
        // The source is gone, and no other item can be there.
        taker.take_all().pop().map_or(Ok(()), |item| Err(SendError(item)))
    }

    /// Posts an item if the stream has room at this moment.
    ///
    /// # Errors
    /// [`TrySendError`] if the stream has no room, or has stopped, or the channel was closed. The error
    /// contains the item.
    ///
    /// # Panics
    /// As [`send`](Self::send).
    #[track_caller]
    pub fn try_send(&self, item: T) -> Result<(), TrySendError<T>> {
        let shared = self.shared();
        if shared.is_over() {
            return Err(TrySendError::Closed(item));
        }
        if shared.capacity == 0 && !shared.is_awaited.swap(false, Ordering::AcqRel) {
            return Err(TrySendError::Full(item));
        }
        let posted = shared.mailbox.inbox.post(Posted { item, is_in_person: false });
        shared.waiter.notify();
        match posted {
            Ok(_) => Ok(()),
            Err(PostError::Full(back)) => Err(TrySendError::Full(back.item)),
            Err(PostError::Closed(back)) => Err(TrySendError::Closed(back.item)),
        }
    }

    /// Closes the channel, for all clones: it accepts no more items. The stream handles the accepted items,
    /// and then ends.
    ///
    /// A thread that waits in `send` for room gets its item back.
    ///
    /// ```
    /// use anabranch::{SendError, Stream};
    ///
    /// let (sender, stream) = Stream::channel(16);
    /// (0..10).for_each(|n| sender.send(n).unwrap());
    /// sender.close();
    /// assert_eq!(sender.send(10), Err(SendError(10)));
    /// assert_eq!(stream.count(), 10); // `send` need not be dropped
    /// ```
    pub fn close(&self) {
        if !self.shared.waiter.is_forked() {
            self.shared.close();
        }
    }

    /// Whether no more items can be posted, because the channel was closed or the stream has stopped.
    pub fn is_closed(&self) -> bool {
        self.shared.is_over()
    }

    /// Removes the accepted items that have not entered the stream yet, and returns them in the order in
    /// which they were accepted.
    ///
    /// The stream goes on. [`Stopped`](crate::Stopped) counts these items as dropped. If the stream has
    /// stopped early, they are still there only if [`keep_unhandled`](Self::keep_unhandled) was called
    /// before.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let (sender, stream) = Stream::channel(16);
    /// (0..10).for_each(|n| sender.send(n).unwrap());
    /// assert_eq!(sender.take_back(), (0..10).collect::<Vec<_>>());
    /// drop(sender);
    /// assert_eq!(stream.count(), 0);
    /// ```
    ///
    /// # Panics
    /// As [`send`](Self::send).
    #[track_caller]
    pub fn take_back(&self) -> Vec<T> {
        let shared = self.shared();
        let mut taker = shared.taker();
        if taker.is_in_person() {
            // The posting thread waits until the source takes this item, or gets it back when the source is
            // dropped.
            return Vec::new();
        }
        let items = taker.take_all();
        if !shared.is_gone.load(Ordering::Acquire) {
            // The source has counted those that it has left.
            shared.supply.accept(items.len());
        }
        drop(taker);
        shared.mailbox.emptied.notify_all();
        items
    }

    /// Keeps the items that wait when the stream stops early, so that [`take_back`](Self::take_back) can
    /// return them. Without this call they are dropped with the stream.
    ///
    /// A stream stops early if it fails, if it is [cancelled](crate::CancelToken::cancel), or if its end
    /// needs no more items. Do not call this if a posting thread waits for an answer that its item gives when
    /// it is dropped.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let (sender, stream) = Stream::channel(16);
    /// sender.keep_unhandled();
    /// (0..10).for_each(|n| sender.send(n).unwrap());
    /// let result = stream.inline().try_for_each(|n| if n == 3 { Err("three") } else { Ok(()) });
    /// assert_eq!(result, Err("three"));
    /// assert_eq!(sender.take_back(), (4..10).collect::<Vec<_>>()); // the others were handled, and 3 was not
    /// ```
    pub fn keep_unhandled(&self) {
        self.shared.taker().keeps = true;
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.posts.fetch_add(1, Ordering::Relaxed);
        Self { shared: StdArc::clone(&self.shared) }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if self.shared.posts.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.close();
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

/// A source that gives the items that are posted.
pub struct Channel<T>(StdArc<ChannelState<T>>);

/// Creates the posts of a channel and its source. Up to `capacity` items wait.
pub fn channel<T>(capacity: usize) -> (Sender<T>, Channel<T>) {
    let (mailbox, consumer) = Mailbox::new(capacity);
    let shared = StdArc::new(ChannelState {
        mailbox,
        taker: Mutex::new(Taker { consumer, keeps: false }),
        posts: AtomicUsize::new(1),
        supply: StdArc::default(),
        is_awaited: AtomicBool::new(false),
        is_gone: AtomicBool::new(false),
        capacity,
        waiter: Waiter::default(),
    });
    (Sender { shared: StdArc::clone(&shared) }, Channel(shared))
}

impl<'env, T: Send + 'env> Channel<T> {
    /// The feed that tells a detached run whether there are items.
    pub(crate) fn feed(&self) -> StdArc<dyn Feed + 'env> {
        let shared: StdArc<ChannelState<T>> = StdArc::clone(&self.0);
        shared
    }
}

impl<T: Send> Feed for ChannelState<T> {
    fn is_ready(&self) -> bool {
        self.mailbox.inbox.waiting() > 0
            || self.is_over()
            // A post without room in the queue wants to know that the source has looked.
            || self.capacity == 0 && !self.is_awaited.load(Ordering::Relaxed)
    }

    fn is_enough(&self) -> bool {
        self.is_ready()
    }

    fn event(&self) -> &Arc<EventCount> {
        &self.waiter.event
    }

    fn wait(&self, key: WaitKey, _: &dyn Fn() -> bool, _: &dyn Fn() -> bool) {
        self.waiter.event.wait(key);
    }
}

impl<T> Channel<T> {
    /// The waiter that wakes the source's thread.
    pub(crate) fn waiter(&self) -> &Waiter {
        &self.0.waiter
    }

    /// Whether the channel is closed, and how many items it has accepted.
    pub(crate) fn supply(&self) -> &StdArc<Supply> {
        &self.0.supply
    }
}

impl<T> Channel<T> {
    /// The next item, or the end. `None` if there is neither before the deadline, or if the run stops.
    pub(crate) fn pull_until(&self, deadline: Instant) -> Option<Pulled<T, Infallible>> {
        self.0.waiter.wait_until(Some(deadline), || self.0.take())
    }
}

/// The items, for a thread that waits for them.
impl<T: Send> Iterator for Channel<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match self.pull() {
            Pulled::Item(item) => Some(item),
            Pulled::End => None,
        }
    }
}

impl<T> fmt::Debug for Channel<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").finish_non_exhaustive()
    }
}

impl<T: Send> Pull for Channel<T> {
    type Item = T;
    type Error = Infallible;

    fn pull(&mut self) -> Pulled<T, Self::Error> {
        self.0.waiter.wait(|| self.0.take()).unwrap_or(Pulled::End)
    }

    fn try_pull(&mut self) -> Option<Pulled<T, Self::Error>> {
        match self.0.take() {
            None if !self.0.waiter.is_detached() => Some(self.pull()),
            taken => taken,
        }
    }

    fn upper(&self) -> Option<usize> {
        None
    }
}

/// Drops the items that wait, unless [`Sender::keep_unhandled`] was called. A thread that waits in `send` until
/// its item is taken gets the item back.
impl<T> Drop for Channel<T> {
    fn drop(&mut self) {
        let shared = &*self.0;
        shared.mailbox.close();
        let mut taker = shared.taker();
        let mut left = Vec::new();
        if !taker.is_in_person() {
            shared.supply.accept(taker.consumer.waiting() as usize);
            if !taker.keeps {
                left = taker.take_all();
            }
        }
        shared.is_gone.store(true, Ordering::Release);
        drop(taker);
        shared.mailbox.emptied.notify_all();
        drop(left);
    }
}

impl<'env, T: Send + 'env> Source<'env, Waits<'env, T>, T> {
    /// Creates the source of a [`channel`](Stream::channel), with its first sender.
    pub fn channel(capacity: usize) -> (Sender<T>, Self) {
        let (sender, posted) = channel(capacity);
        (sender, Self::posted(posted))
    }

    pub(crate) fn posted(posted: Channel<T>) -> Self {
        let (waiter, supply) = (posted.waiter().clone(), std::sync::Arc::clone(posted.supply()));
        let feed = posted.feed();
        Self::waiting(Node::source("channel"), move |node, weigher| {
            Stream::pulled(posted, node, weigher).woken_by(waiter, Some(feed)).supplied(supply)
        })
    }
}

impl<'env, T: Send + 'env> Stream<'env, T> {
    /// Creates a stream of the items that threads post. It ends when every [`Sender`] is dropped, or when one
    /// of them is [closed](Sender::close).
    ///
    /// Up to `capacity` items wait before the source. If `capacity` is 0, [`Sender::send`] waits until the
    /// source takes the item. The items in the stream are bounded by the [window](Self::window), and not by
    /// `capacity`. The source has a thread of its own, or none with a
    /// [shared pool](Self::pool), so workers do not wait for items. The stream can stop
    /// early at any time, even while no item is posted. Posting fails afterwards.
    /// [`CancelToken`](crate::CancelToken) shows a graceful shutdown.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let (sender, stream) = Stream::channel(16);
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || {
    ///         for n in 0..100u32 {
    ///             sender.send(n).unwrap();
    ///         }
    ///     }); // the post is dropped here: the stream ends
    ///     assert_eq!(stream.map(|n| n + 1).fold(0, |sum, n| sum + n), 5_050);
    /// });
    /// ```
    pub fn channel(capacity: usize) -> (Sender<T>, Self) {
        let (sender, source) = Source::channel(capacity);
        (sender, source.into_stream())
    }
}

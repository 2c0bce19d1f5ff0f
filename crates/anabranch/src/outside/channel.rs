//! The sending side of a stream whose items come from outside.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc as StdArc;
use std::time::Instant;

use anabranch_plan::Node;
use anabranch_record::backoff::{Backoff, Polling};
use anabranch_record::sync::{Arc, AtomicBool, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, lock};
use anabranch_record::{EventCount, WaitKey};

use crate::control::waiter::Waiter;
use crate::engine::pull::{Pull, Pulled};
use crate::engine::{Feed, Supply};
use crate::stream::Stream;

/// Posts items into a stream. [`Stream::channel`](crate::Stream::channel) creates it.
///
/// Clones post into the same stream. The stream ends when all of them are dropped, or when one of them is
/// [closed](Self::close). It handles the items that were accepted before. See
/// [`CancelToken`](crate::CancelToken) for a graceful shutdown with a deadline.
pub struct Post<T> {
    shared: StdArc<Shared<T>>,
}

/// The stream has stopped. The error gives the item back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed<T>(pub T);

/// Why an item was not posted at once. The error gives the item back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryPostError<T> {
    /// The stream has no room at this moment.
    Full(T),
    /// The stream has stopped.
    Closed(T),
}

impl<T> fmt::Display for Closed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the stream has stopped and takes no more items")
    }
}

impl<T: fmt::Debug> std::error::Error for Closed<T> {}

impl<T> fmt::Display for TryPostError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryPostError::Full(_) => "the stream has no room at this moment",
            TryPostError::Closed(_) => "the stream has stopped and takes no more items",
        })
    }
}

impl<T: fmt::Debug> std::error::Error for TryPostError<T> {}

/// The state that the posts and the source share.
struct Shared<T> {
    state: Mutex<State<T>>,
    /// How many items wait. It is written under the lock.
    waiting: AtomicUsize,
    /// Whether every `Post` was dropped.
    has_ended: AtomicBool,
    /// Whether the channel is closed, and how many items it has accepted. If a thread waits in `post` until
    /// its item is taken, the item is accepted when it is taken.
    supply: StdArc<Supply>,
    /// Whether the source found nothing when it last looked. It is written under the lock.
    is_awaited: AtomicBool,
    /// Notified when the source has taken an item or is gone, and when the channel is closed.
    taken: Condvar,
    /// How many items may wait. If it is 0, a thread that posts an item waits until the source takes it.
    capacity: usize,
    waiter: Waiter,
    /// How long a posting thread polls for room.
    backoff: Backoff,
}

struct State<T> {
    items: VecDeque<T>,
    /// How many items were taken.
    taken: u64,
    posts: usize,
    /// Whether the items that wait are kept for `take_back` when the stream stops early.
    keeps: bool,
    /// Whether a thread waits in `post` until the waiting item is taken. Only if the capacity is 0.
    is_in_person: bool,
    /// How many posting threads wait on `taken`.
    sleepers: usize,
    /// Whether the source is gone.
    is_gone: bool,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        lock(&self.state)
    }

    fn has_room(&self, state: &State<T>) -> bool {
        state.items.len() < self.capacity.max(1)
    }

    /// Whether no more items can be posted.
    fn is_over(&self, state: &State<T>) -> bool {
        state.is_gone || self.supply.is_closed()
    }

    /// Puts an item into the queue. Returns how many items the source has taken once it has taken this one.
    fn put(&self, mut state: MutexGuard<'_, State<T>>, item: T, is_in_person: bool) -> u64 {
        state.items.push_back(item);
        state.is_in_person = is_in_person;
        self.supply.accept(!is_in_person);
        self.waiting.store(state.items.len(), Ordering::Release);
        let goes_by = state.taken + state.items.len() as u64;
        drop(state);
        self.waiter.notify();
        goes_by
    }

    /// Polls for room before the calling thread goes to sleep.
    fn linger(&self) {
        let has_room = || (self.waiting.load(Ordering::Relaxed) < self.capacity.max(1)).then_some(());
        let _ = self.backoff.poll(Polling::Outside, has_room);
    }

    /// Sleeps until the source has taken an item.
    fn wait<'s>(&self, mut state: MutexGuard<'s, State<T>>) -> MutexGuard<'s, State<T>> {
        state.sleepers += 1;
        state = self.taken.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        state.sleepers -= 1;
        state
    }

    fn wake(&self) {
        // If no item may wait, each posting thread waits for its own item, so all of them must look.
        if self.capacity == 0 { self.taken.notify_all() } else { self.taken.notify_one() }
    }

    /// What the source gets, or `None` if it has to wait.
    fn take(&self) -> Option<Pulled<T, Infallible>> {
        let is_empty = self.waiting.load(Ordering::Acquire) == 0 && !self.has_ended.load(Ordering::Acquire);
        if is_empty && self.capacity > 0 && !self.supply.is_closed() {
            // Most looks find nothing, and these take no lock.
            return None;
        }
        let mut state = self.lock();
        self.is_awaited.store(state.items.is_empty(), Ordering::Relaxed);
        let Some(item) = state.items.pop_front() else {
            return (state.posts == 0 || self.supply.is_closed()).then_some(Pulled::End);
        };
        state.taken += 1;
        self.supply.accept(std::mem::take(&mut state.is_in_person));
        self.waiting.store(state.items.len(), Ordering::Relaxed);
        let wakes = state.sleepers > 0;
        drop(state);
        if wakes {
            self.wake();
        }
        Some(Pulled::Item(item))
    }
}

impl<T> Post<T> {
    /// Posts an item. It waits while the stream has no room.
    ///
    /// # Errors
    /// [`Closed`] if the stream has stopped or the channel was closed. The error contains the item.
    pub fn post(&self, item: T) -> Result<(), Closed<T>> {
        let shared = &*self.shared;
        let mut state = shared.lock();
        if !shared.has_room(&state) && !shared.is_over(&state) {
            drop(state);
            shared.linger();
            state = shared.lock();
        }
        while !shared.has_room(&state) && !shared.is_over(&state) {
            state = shared.wait(state);
        }
        if shared.is_over(&state) {
            return Err(Closed(item));
        }
        let goes_by = shared.put(state, item, shared.capacity == 0);
        if shared.capacity > 0 {
            return Ok(());
        }
        let mut state = shared.lock();
        while state.taken < goes_by && !state.is_gone {
            state = shared.wait(state);
        }
        if state.taken >= goes_by {
            return Ok(());
        }
        // The capacity is 0, so no other item can be there.
        state.items.pop_front().map_or(Ok(()), |item| Err(Closed(item)))
    }

    /// Posts an item if the stream has room at this moment.
    ///
    /// # Errors
    /// [`TryPostError`] if the stream has no room, or has stopped, or the channel was closed. The error
    /// contains the item.
    pub fn try_post(&self, item: T) -> Result<(), TryPostError<T>> {
        let shared = &*self.shared;
        let state = shared.lock();
        if shared.is_over(&state) {
            return Err(TryPostError::Closed(item));
        }
        if !shared.has_room(&state) || (shared.capacity == 0 && !shared.is_awaited.load(Ordering::Relaxed)) {
            return Err(TryPostError::Full(item));
        }
        shared.put(state, item, false);
        Ok(())
    }

    /// Closes the channel, for all clones: it accepts no more items. The stream handles the accepted items,
    /// and then ends.
    ///
    /// A thread that waits in `post` for room gets its item back.
    ///
    /// ```
    /// use anabranch::{Closed, Stream};
    ///
    /// let (post, stream) = Stream::channel(16);
    /// (0..10).for_each(|n| post.post(n).unwrap());
    /// post.close();
    /// assert_eq!(post.post(10), Err(Closed(10)));
    /// assert_eq!(stream.count(), 10); // `post` need not be dropped
    /// ```
    pub fn close(&self) {
        let shared = &*self.shared;
        let state = shared.lock();
        shared.supply.close();
        drop(state);
        shared.waiter.notify();
        shared.taken.notify_all();
    }

    /// Whether no more items can be posted, because the channel was closed or the stream has stopped.
    pub fn is_closed(&self) -> bool {
        self.shared.is_over(&self.shared.lock())
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
    /// let (post, stream) = Stream::channel(16);
    /// (0..10).for_each(|n| post.post(n).unwrap());
    /// assert_eq!(post.take_back(), (0..10).collect::<Vec<_>>());
    /// drop(post);
    /// assert_eq!(stream.count(), 0);
    /// ```
    pub fn take_back(&self) -> Vec<T> {
        let shared = &*self.shared;
        let mut state = shared.lock();
        if state.is_in_person {
            // The posting thread waits until the source takes this item, or gets it back when the source is
            // dropped.
            return Vec::new();
        }
        let items = std::mem::take(&mut state.items);
        shared.waiting.store(0, Ordering::Relaxed);
        drop(state);
        shared.taken.notify_all();
        items.into()
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
    /// let (post, stream) = Stream::channel(16);
    /// post.keep_unhandled();
    /// (0..10).for_each(|n| post.post(n).unwrap());
    /// let result = stream.inline().try_for_each(|n| if n == 3 { Err("three") } else { Ok(()) });
    /// assert_eq!(result, Err("three"));
    /// assert_eq!(post.take_back(), (4..10).collect::<Vec<_>>()); // the others were handled, and 3 was not
    /// ```
    pub fn keep_unhandled(&self) {
        self.shared.lock().keeps = true;
    }
}

impl<T> Clone for Post<T> {
    fn clone(&self) -> Self {
        self.shared.lock().posts += 1;
        Self { shared: StdArc::clone(&self.shared) }
    }
}

impl<T> Drop for Post<T> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.posts -= 1;
        self.shared.has_ended.store(state.posts == 0, Ordering::Release);
        drop(state);
        self.shared.waiter.notify();
    }
}

impl<T> fmt::Debug for Post<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Post").finish_non_exhaustive()
    }
}

/// A source that gives the items that are posted.
pub(crate) struct Posted<T>(StdArc<Shared<T>>);

pub(crate) fn channel<T>(capacity: usize) -> (Post<T>, Posted<T>) {
    let state = State {
        items: VecDeque::new(),
        taken: 0,
        posts: 1,
        keeps: false,
        is_in_person: false,
        sleepers: 0,
        is_gone: false,
    };
    let shared = Shared {
        state: Mutex::new(state),
        waiting: AtomicUsize::new(0),
        has_ended: AtomicBool::new(false),
        supply: StdArc::default(),
        is_awaited: AtomicBool::new(false),
        taken: Condvar::new(),
        capacity,
        waiter: Waiter::default(),
        backoff: Backoff::new(),
    };
    let shared = StdArc::new(shared);
    (Post { shared: StdArc::clone(&shared) }, Posted(shared))
}

impl<'env, T: Send + 'env> Posted<T> {
    /// What tells a detached run whether there are items.
    pub(crate) fn feed(&self) -> StdArc<dyn Feed + 'env> {
        let shared: StdArc<Shared<T>> = StdArc::clone(&self.0);
        shared
    }
}

impl<T: Send> Feed for Shared<T> {
    fn is_ready(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
            || self.has_ended.load(Ordering::Acquire)
            || self.supply.is_closed()
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

impl<T> Posted<T> {
    /// The waiter that wakes the source's thread.
    pub(crate) fn waiter(&self) -> &Waiter {
        &self.0.waiter
    }

    /// Whether the channel is closed, and how many items it has accepted.
    pub(crate) fn supply(&self) -> &StdArc<Supply> {
        &self.0.supply
    }
}

impl<T> Posted<T> {
    /// The next item, or the end. `None` if there is neither before the deadline, or if the run stops.
    pub(crate) fn pull_until(&self, deadline: Instant) -> Option<Pulled<T, Infallible>> {
        self.0.waiter.wait_until(Some(deadline), || self.0.take())
    }
}

impl<T: Send> Pull for Posted<T> {
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

/// Drops the items that wait, unless [`Post::keep_unhandled`] was called. A thread that waits in `post` until
/// its item is taken gets the item back.
impl<T> Drop for Posted<T> {
    fn drop(&mut self) {
        let shared = &*self.0;
        let mut state = shared.lock();
        state.is_gone = true;
        let stays = state.keeps || state.is_in_person;
        let left = if stays { VecDeque::new() } else { std::mem::take(&mut state.items) };
        drop(state);
        shared.taken.notify_all();
        drop(left);
    }
}

impl<'env, T: Send + 'env> Stream<'env, T> {
    /// Creates a stream of the items that threads post. It ends when every [`Post`] is dropped, or when one
    /// of them is [closed](Post::close).
    ///
    /// Up to `capacity` items wait before the source. If `capacity` is 0, [`Post::post`] waits until the
    /// source takes the item. The items in the stream are bounded by the [window](Self::window), and not by
    /// `capacity`. The source has a thread of its own, or none with a
    /// [shared pool](Self::pool), so workers do not wait for items. The stream can stop
    /// early at any time, even while no item is posted. Posting fails afterwards.
    /// [`CancelToken`](crate::CancelToken) shows a graceful shutdown.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let (post, stream) = Stream::channel(16);
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || {
    ///         for n in 0..100u32 {
    ///             post.post(n).unwrap();
    ///         }
    ///     }); // the post is dropped here: the stream ends
    ///     assert_eq!(stream.map(|n| n + 1).fold(0, |sum, n| sum + n), 5_050);
    /// });
    /// ```
    pub fn channel(capacity: usize) -> (Post<T>, Self) {
        let (post, posted) = channel(capacity);
        (post, Self::posted(posted))
    }

    pub(crate) fn posted(posted: Posted<T>) -> Self {
        let (waiter, supply) = (posted.waiter().clone(), std::sync::Arc::clone(posted.supply()));
        let feed = posted.feed();
        let mut stream = Self::pulled(posted, Node::source("channel")).woken_by(waiter, Some(feed));
        stream.draft.attached.supply = Some(supply);
        stream
    }
}
